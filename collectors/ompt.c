/*
 * OMPT: what OpenMP programs do, as their runtime says. LLVM's and Intel's runtime load what
 * OMP_TOOL_LIBRARIES names, and call ompt_start_tool(). Regions have the name of the function that
 * contains them.
 */
#include "region_symbol.h"
#include "region_thread.h"

#include <stdio.h>
#include <string.h>

/* ---- What OpenMP defines (omp-tools.h) ---- */

enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };
enum {
    CALLBACK_PARALLEL_BEGIN = 3,
    CALLBACK_PARALLEL_END = 4,
    CALLBACK_IMPLICIT_TASK = 7,
    CALLBACK_WORK = 20,
    CALLBACK_SYNC_REGION = 23,
};

union ompt_data {
    uint64_t value;
    void *pointer;
};

typedef void (*function)(void);
typedef function (*lookup_function)(const char *name);

struct start_result {
    int (*initialize)(lookup_function lookup, int device, union ompt_data *data);
    void (*finalize)(union ompt_data *data);
    union ompt_data data;
};

/* ---- Names ---- */

#define PLACES 4096

static struct regions ompt;
static struct region_domain *parallel, *task, *work, *sync_domain;

/* The function at each address that was asked for; never freed. */
static struct place {
    _Atomic(const void *) address;
    _Atomic(const char *) name;
} places[PLACES];

static const char *make_name(const void *address)
{
    char name[512];
    return strdup(region_symbol(address, name, sizeof name));
}

/* Threads that ask at once both look it up; one name stays unused. */
static const char *name_of(const void *address)
{
    size_t first = ((uintptr_t)address ^ (uintptr_t)address >> 12) % PLACES;
    if (!address)
        return "unknown";
    for (size_t i = 0; i < 16; i++) {
        struct place *place = &places[(first + i) % PLACES];
        const void *there = NULL;
        if (atomic_load(&place->address) != address &&
            !atomic_compare_exchange_strong(&place->address, &there, address) && there != address)
            continue;
        const char *name = atomic_load(&place->name);
        if (!name) {
            name = make_name(address);
            atomic_store(&place->name, name);
        }
        return name;
    }
    return "other functions";
}

/* ---- Callbacks ---- */

static void parallel_begin(union ompt_data *encountering, const void *frame, union ompt_data *data,
    unsigned threads, int flags, const void *code)
{
    (void)encountering, (void)frame, (void)threads, (void)flags;
    const char *name = name_of(code);
    if (data)
        data->pointer = (void *)name;
    region_push(&ompt, parallel, name);
}

static void parallel_end(
    union ompt_data *data, union ompt_data *encountering, int flags, const void *code)
{
    (void)data, (void)encountering, (void)flags, (void)code;
    region_pop(&ompt, parallel);
}

/* What each thread of a parallel region does. The initial task is the program itself. */
static void implicit_task(int endpoint, union ompt_data *of_parallel, union ompt_data *of_task,
    unsigned threads, unsigned index, int flags)
{
    enum { IS_INITIAL = 1 };
    (void)of_task, (void)threads, (void)index;
    if (flags & IS_INITIAL)
        return;
    if (endpoint == SCOPE_BEGIN)
        region_push(&ompt, task, of_parallel ? of_parallel->pointer : NULL);
    else if (endpoint == SCOPE_END)
        region_pop(&ompt, task);
}

static void mark_scope(
    struct region_domain *domain, int endpoint, const char *kind, const void *code)
{
    char name[600];
    if (endpoint == SCOPE_END)
        region_pop(&ompt, domain);
    if (endpoint != SCOPE_BEGIN)
        return;
    snprintf(name, sizeof name, "%s in %s", kind, name_of(code));
    region_push(&ompt, domain, name);
}

static void on_work(int kind, int endpoint, union ompt_data *of_parallel, union ompt_data *of_task,
    uint64_t count, const void *code)
{
    static const char *const kinds[] = {"work", "loop", "sections", "single", "single (others)",
        "workshare", "distribute", "taskloop", "scope"};
    (void)of_parallel, (void)of_task, (void)count;
    bool is_known = kind > 0 && (size_t)kind < sizeof kinds / sizeof *kinds;
    mark_scope(work, endpoint, kinds[is_known ? kind : 0], code);
}

static void on_sync(int kind, int endpoint, union ompt_data *of_parallel, union ompt_data *of_task,
    const void *code)
{
    static const char *const kinds[] = {"wait", "barrier", "implicit barrier", "explicit barrier",
        "barrier of the runtime", "taskwait", "taskgroup", "reduction"};
    (void)of_parallel, (void)of_task;
    bool is_known = kind > 0 && (size_t)kind < sizeof kinds / sizeof *kinds;
    mark_scope(sync_domain, endpoint, kinds[is_known ? kind : 0], code);
}

/* ---- Attaching ---- */

static int initialize(lookup_function lookup, int device, union ompt_data *data)
{
    static const struct {
        int id;
        function function;
    } callbacks[] = {
        {CALLBACK_PARALLEL_BEGIN, (function)parallel_begin},
        {CALLBACK_PARALLEL_END, (function)parallel_end},
        {CALLBACK_IMPLICIT_TASK, (function)implicit_task},
        {CALLBACK_WORK, (function)on_work},
        {CALLBACK_SYNC_REGION, (function)on_sync},
    };
    (void)device, (void)data;
    int (*set_callback)(int, function) = (int (*)(int, function))lookup("ompt_set_callback");
    if (!set_callback)
        return 0;
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        set_callback(callbacks[i].id, callbacks[i].function);
    return 1;
}

static void finalize(union ompt_data *data)
{
    (void)data;
}

static void open_once(void)
{
    if (!regions_open(&ompt, "ompt"))
        return;
    task = regions_domain(&ompt, "task");
    work = regions_domain(&ompt, "work");
    sync_domain = regions_domain(&ompt, "sync");
    parallel = regions_domain(&ompt, "parallel");
}

__attribute__((visibility("default"))) struct start_result *ompt_start_tool(
    unsigned version, const char *runtime);

/* Called by each runtime in the process. */
struct start_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct start_result result = {initialize, finalize, {0}};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)version, (void)runtime;
    pthread_once(&once, open_once);
    return parallel && task && work && sync_domain ? &result : NULL;
}
