/*
 * Records the calls of a program to its MPI library. This library is preloaded. Its MPI_ functions
 * measure, and call the library's functions under the names with PMPI_, which MPI provides for
 * that.
 *
 * No header of an MPI library is needed, so one build works with all of them: the arguments are
 * integers and pointers, which are passed on as they came in registers and on the stack. Functions
 * with fewer arguments do not read the rest.
 */
#include "region_thread.h"
#include "region_value.h"

#include <dlfcn.h>

#define EXPORTED __attribute__((visibility("default")))

typedef long (*mpi_function)(
    long, long, long, long, long, long, long, long, long, long, long, long);

static struct regions mpi;

/* The libraries to search, which a program may have opened locally (RTLD_LOCAL). */
static const char *const libraries[] = {
    "libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.0", "libmpi.so"};

/* Finds a function of the program's MPI library; NULL: there is none. */
static mpi_function find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library) {
            found = dlsym(library, name);
            dlclose(library); /* the program keeps it open */
        }
    }
    mpi_function result;
    *(void **)&result = found;
    return result;
}

static void open_once(void)
{
    regions_open(&mpi, "mpi");
}

/* Returns the domain of a kind of calls, opening the log at the first call; NULL: nothing can be
 * recorded. */
static struct region_domain *domain_of(const char *kind)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return mpi.path ? regions_domain(&mpi, kind) : NULL;
}

/* Returns MPI_ERR_OTHER, for a library that has no such function. */
static long missing(void)
{
    return 16;
}

struct wrapped {
    const char *name; /* with PMPI_ */
    const char *kind;
    _Atomic(mpi_function) next;
    _Atomic(struct region_domain *) domain;
};

/* Begins the range of a call. Returns the library's function; NULL: it has none. */
static mpi_function begin(struct wrapped *wrapped)
{
    mpi_function next = atomic_load_explicit(&wrapped->next, memory_order_acquire);
    if (!next) {
        atomic_store(&wrapped->domain, domain_of(wrapped->kind));
        next = find(wrapped->name);
        atomic_store_explicit(&wrapped->next, next, memory_order_release);
    }
    struct region_domain *domain = atomic_load(&wrapped->domain);
    if (domain)
        region_push(&mpi, domain, wrapped->name + 1);
    return next;
}

/* Adds the bytes that a call sends: `count` elements of a type, whose size its MPI library
 * tells. */
static void add_bytes(struct wrapped *wrapped, long count, long type)
{
    static _Atomic(mpi_function) type_size;
    struct region_domain *domain = atomic_load(&wrapped->domain);
    mpi_function size_of = atomic_load_explicit(&type_size, memory_order_acquire);
    int size = 0;
    if (!domain)
        return;
    if (!size_of) {
        size_of = find("PMPI_Type_size");
        atomic_store_explicit(&type_size, size_of, memory_order_release);
    }
    if (!size_of || (int)count < 0)
        return;
    size_of(type, (long)(intptr_t)&size, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    if (size > 0)
        region_value_add(&mpi, regions_name(&mpi, domain, wrapped->name + 1), "bytes",
            (double)(int)count * size);
}

static void end(struct wrapped *wrapped)
{
    struct region_domain *domain = atomic_load(&wrapped->domain);
    if (domain)
        region_pop(&mpi, domain);
}

/* Defines a function of MPI that measures the library's own. `bytes`: code that adds the bytes of
 * the call, or nothing. */
#define WRAP_WITH(function, of_kind, bytes)                                                        \
    EXPORTED int function(long a, long b, long c, long d, long e, long f, long g, long h, long i,  \
        long j, long k, long l);                                                                   \
    int function(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,   \
        long k, long l)                                                                            \
    {                                                                                              \
        static struct wrapped wrapped = {.name = "P" #function, .kind = of_kind};                  \
        mpi_function next = begin(&wrapped);                                                       \
        bytes;                                                                                     \
        long result = next ? next(a, b, c, d, e, f, g, h, i, j, k, l) : missing();                 \
        end(&wrapped);                                                                             \
        return (int)result;                                                                        \
    }

#define WRAP(function, of_kind) WRAP_WITH(function, of_kind, (void)0)

/* Calls with (buffer, count, type, ...), and those with (buffer, buffer, count, type, ...). */
#define WRAP_SEND(function, of_kind) WRAP_WITH(function, of_kind, add_bytes(&wrapped, b, c))
#define WRAP_REDUCE(function, of_kind) WRAP_WITH(function, of_kind, add_bytes(&wrapped, c, d))

/* ---- Process ---- */

WRAP(MPI_Init, "process")
WRAP(MPI_Init_thread, "process")
WRAP(MPI_Finalize, "process")

/* ---- Point-to-point ---- */

WRAP_SEND(MPI_Send, "point-to-point")
WRAP(MPI_Recv, "point-to-point")
WRAP_SEND(MPI_Bsend, "point-to-point")
WRAP_SEND(MPI_Ssend, "point-to-point")
WRAP_SEND(MPI_Rsend, "point-to-point")
WRAP_SEND(MPI_Isend, "point-to-point")
WRAP_SEND(MPI_Ibsend, "point-to-point")
WRAP_SEND(MPI_Issend, "point-to-point")
WRAP_SEND(MPI_Irsend, "point-to-point")
WRAP(MPI_Irecv, "point-to-point")
WRAP_SEND(MPI_Sendrecv, "point-to-point")
WRAP_SEND(MPI_Sendrecv_replace, "point-to-point")
WRAP(MPI_Mprobe, "point-to-point")
WRAP(MPI_Mrecv, "point-to-point")
WRAP(MPI_Imrecv, "point-to-point")
WRAP(MPI_Probe, "point-to-point")
WRAP(MPI_Iprobe, "point-to-point")
WRAP(MPI_Start, "point-to-point")
WRAP(MPI_Startall, "point-to-point")

/* ---- Wait ---- */

WRAP(MPI_Wait, "wait")
WRAP(MPI_Waitall, "wait")
WRAP(MPI_Waitany, "wait")
WRAP(MPI_Waitsome, "wait")
WRAP(MPI_Test, "wait")
WRAP(MPI_Testall, "wait")
WRAP(MPI_Testany, "wait")
WRAP(MPI_Testsome, "wait")

/* ---- Collective ---- */

WRAP(MPI_Barrier, "collective")
WRAP_SEND(MPI_Bcast, "collective")
WRAP_SEND(MPI_Gather, "collective")
WRAP_SEND(MPI_Gatherv, "collective")
WRAP_SEND(MPI_Scatter, "collective")
WRAP(MPI_Scatterv, "collective")
WRAP_SEND(MPI_Allgather, "collective")
WRAP_SEND(MPI_Allgatherv, "collective")
WRAP_SEND(MPI_Alltoall, "collective")
WRAP(MPI_Alltoallv, "collective")
WRAP(MPI_Alltoallw, "collective")
WRAP_REDUCE(MPI_Reduce, "collective")
WRAP_REDUCE(MPI_Allreduce, "collective")
WRAP(MPI_Reduce_scatter, "collective")
WRAP_REDUCE(MPI_Reduce_scatter_block, "collective")
WRAP_REDUCE(MPI_Scan, "collective")
WRAP_REDUCE(MPI_Exscan, "collective")
WRAP(MPI_Ibarrier, "collective")
WRAP_SEND(MPI_Ibcast, "collective")
WRAP_SEND(MPI_Igather, "collective")
WRAP_SEND(MPI_Igatherv, "collective")
WRAP_SEND(MPI_Iscatter, "collective")
WRAP(MPI_Iscatterv, "collective")
WRAP_SEND(MPI_Iallgather, "collective")
WRAP_SEND(MPI_Iallgatherv, "collective")
WRAP_SEND(MPI_Ialltoall, "collective")
WRAP(MPI_Ialltoallv, "collective")
WRAP(MPI_Ialltoallw, "collective")
WRAP_REDUCE(MPI_Ireduce, "collective")
WRAP_REDUCE(MPI_Iallreduce, "collective")
WRAP(MPI_Ireduce_scatter, "collective")
WRAP_REDUCE(MPI_Iscan, "collective")
WRAP_REDUCE(MPI_Iexscan, "collective")
WRAP_SEND(MPI_Neighbor_allgather, "collective")
WRAP_SEND(MPI_Neighbor_alltoall, "collective")

/* ---- One-sided ---- */

WRAP_SEND(MPI_Put, "one-sided")
WRAP(MPI_Get, "one-sided")
WRAP_SEND(MPI_Accumulate, "one-sided")
WRAP(MPI_Get_accumulate, "one-sided")
WRAP(MPI_Fetch_and_op, "one-sided")
WRAP(MPI_Compare_and_swap, "one-sided")
WRAP(MPI_Win_fence, "one-sided")
WRAP(MPI_Win_lock, "one-sided")
WRAP(MPI_Win_lock_all, "one-sided")
WRAP(MPI_Win_unlock, "one-sided")
WRAP(MPI_Win_unlock_all, "one-sided")
WRAP(MPI_Win_flush, "one-sided")
WRAP(MPI_Win_flush_all, "one-sided")
WRAP(MPI_Win_start, "one-sided")
WRAP(MPI_Win_complete, "one-sided")
WRAP(MPI_Win_post, "one-sided")
WRAP(MPI_Win_wait, "one-sided")

/* ---- File ---- */

WRAP(MPI_File_open, "file")
WRAP(MPI_File_close, "file")
WRAP(MPI_File_read, "file")
WRAP(MPI_File_write, "file")
WRAP(MPI_File_read_all, "file")
WRAP(MPI_File_write_all, "file")
WRAP(MPI_File_read_at, "file")
WRAP(MPI_File_write_at, "file")
WRAP(MPI_File_read_at_all, "file")
WRAP(MPI_File_write_at_all, "file")
WRAP(MPI_File_sync, "file")

/* ---- Communicator ---- */

WRAP(MPI_Comm_dup, "communicator")
WRAP(MPI_Comm_split, "communicator")
WRAP(MPI_Comm_create, "communicator")
WRAP(MPI_Comm_free, "communicator")
WRAP(MPI_Comm_spawn, "communicator")
