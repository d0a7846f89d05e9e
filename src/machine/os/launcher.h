/*
 * What launchers of parallel jobs say in the environment of each process that they start: mpirun,
 * srun, torchrun and others.
 */
#pragma once

#include "base/bounded_calls.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Space for the name of a node, with its final 0. */
#define LAUNCHER_NODE_SIZE 65

/* The texts are those of the environment, but for `node`; NULL: not known. */
struct launcher {
    const char *name; /* of who started the process: "torchrun", "Open MPI", "Slurm" …; NULL: none
                         is known */
    int depth;        /* the higher, the more inner: torchrun runs in jobs of MPI, MPI in those of
                         Slurm; 0: none is known */
    long rank, world_size, local_rank,
        local_size;             /* -1: not known; Ray, Spark and Dask have no ranks */
    long restarts;              /* of the same job; -1: not known */
    long node_rank, node_count; /* -1: not known */
    const char *job;        /* the scheduler's id, or the launcher's own; NULL: there is no job */
    const char *array_task; /* of a job that is one element of an array, whose id `job` is */
    const char *element;    /* the same, also where `job` says which one it is */
    const char *sequence;   /* which of GNU parallel's jobs it is */
    const char *step;       /* of the job */
    const char *job_name;   /* as a rule that of its batch script; NULL: not known */
    double time_limit_seconds; /* of the job; NaN: there is none, or it is not known */
    const char
        *run; /* what the launcher calls its run: a job may have several; NULL: it does not */
    char node[LAUNCHER_NODE_SIZE]; /* as the launcher names it; "": it does not */
};

/* The value of a variable; NULL: it is not set. */
typedef const char *launcher_variable(void *user, const char *name);

/*
 * Reads who and where a process is. The innermost launcher gives the rank: torchrun, then those of
 * MPI, what PyTorch reads, Slurm last, whose variables are those of its own daemon where mpirun
 * runs in its job.
 */
void launcher_parse(launcher_variable *variable, void *user, struct launcher *launcher);

/* Slurm's allocation on this machine, by the environment. Without control groups nothing
 * enforces it. */

/* NaN: not known. */
struct slurm_allocation {
    double cores;     /* that a task may use; in a batch script, all of the job on this machine */
    double ram_bytes; /* of the job on this machine */
};

void slurm_parse(launcher_variable *variable, void *user, struct slurm_allocation *allocation);

/*
 * Hydra, the launcher of MPICH, gives its runs no id. On each machine a proxy of it starts the
 * ranks, and the command lines of all proxies of a run have the same address: that of its mpiexec.
 */

/*
 * Reads the command line of a proxy, as procfs has it: words, each with a NUL at its end. Writes
 * "HOST:PORT". False: it is of another program.
 */
bool hydra_parse(const char *line, size_t length, char *address, size_t size);

/*
 * Reads the address of the proxy that started a process or one of its parents. Errors: see
 * machine/os/procfs.h; GPUT_ERROR_NOT_FOUND: there is no proxy, or it cannot be seen, as from a
 * container.
 */
int hydra_read(struct bounded_calls *calls, const char *root, pid_t pid, char *address, size_t size,
    struct gput_error *error);
