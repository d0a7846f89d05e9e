/*
 * A process as one rank of a parallel job: its launcher, rank and job, and file names that differ
 * from rank to rank.
 *
 *     struct gput_rank *rank;
 *     if (gput_rank_create(NULL, &rank, &error) == GPUT_OK) {
 *         char *path;
 *         if (gput_rank_path(rank, "samples.csv", &path, &error) == GPUT_OK)
 *             free(path); // "samples.r3.csv" in rank 3 of 8, "samples.csv" without a launcher
 *         gput_rank_destroy(rank);
 *     }
 */
#ifndef GPUTRACKER_RANK_H
#define GPUTRACKER_RANK_H

#include <gputracker/error.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_rank; /**< position of a process in its job */

/** Reads the rank of this process from an environment: NAME=VALUE strings, NULL at the end. NULL:
 * its own, as of the call. A given environment must outlive the rank. Known launchers are torchrun,
 * Open MPI, MPICH and Intel MPI, MVAPICH, PALS, jsrun, Flux, LSF, Slurm, PMIx, Kubernetes' indexed
 * jobs, SageMaker, and RANK, WORLD_SIZE and MASTER_ADDR of PyTorch. The innermost launcher gives
 * the rank. Ray and Dask have jobs, but no ranks. To be freed by gput_rank_destroy(). Errors:
 * GPUT_ERROR_MEMORY. */
GPUT_API int gput_rank_create(
    const char *const *environment, struct gput_rank **rank, struct gput_error *error);
/**
 * The same for another process on this machine, from the environment that its program was started
 * with (/proc/PID/environ). The rank holds a copy of it. Errors: GPUT_ERROR_GONE (the process has
 * ended), GPUT_ERROR_PERMISSION (it is another user's), GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_rank_of_process(pid_t pid, struct gput_rank **rank, struct gput_error *error);
/** NULL is fine. */
GPUT_API void gput_rank_destroy(struct gput_rank *rank);

/** The launcher that started the process: "torchrun", "Open MPI", "Slurm" …; NULL: no known
 * launcher. Valid as long as `rank`. */
GPUT_API const char *gput_rank_launcher(const struct gput_rank *rank);
/** The job's id as its scheduler has it, with the element of an array: "4711_3"; NULL: there is
 * none. Valid as long as `rank`. */
GPUT_API const char *gput_rank_job_id(const struct gput_rank *rank);
/** "3": this is element 3 of an array of jobs (Slurm, LSF, PBS, Grid Engine, AWS Batch), or GNU
 * parallel's third job. "3_7" is GNU parallel's seventh job in element 3. NULL: neither. Valid as
 * long as `rank`. */
GPUT_API const char *gput_rank_element(const struct gput_rank *rank);
/** The name of this machine. Valid as long as `rank`. */
GPUT_API const char *gput_rank_host(const struct gput_rank *rank);

/** The rank, from 0; -1: no launcher gave one. */
GPUT_API long gput_rank_number(const struct gput_rank *rank);
/** The local rank on this machine, from 0; -1: unknown. */
GPUT_API long gput_rank_local_number(const struct gput_rank *rank);
/** Number of ranks on this machine; -1: unknown. */
GPUT_API long gput_rank_local_size(const struct gput_rank *rank);
/** Number of ranks of the job; -1: unknown. */
GPUT_API long gput_rank_world_size(const struct gput_rank *rank);
/** Number of earlier restarts of the job; -1: unknown. */
GPUT_API long gput_rank_restarts(const struct gput_rank *rank);

/**
 * The name of a file for this process:
 *
 *     %h  host                  %r  rank, 0 without a launcher
 *     %p  process id            %l  local rank, 0 without a launcher, "none" if not known
 *     %j  job, "none" without   %n  the lowest number from 0 on for which there is no file yet
 *     %t  time of gput_rank_create(), UTC: 20260131T235959Z
 *     %q{NAME}  an environment variable, "" if it is not set
 *     %%  a percent sign
 *
 * Another text after "%" stays as it is; a slash in a value becomes "_". A name that would be the
 * same for several processes gets what distinguishes them, before the extension:
 *
 * - of several ranks, ".r" and the rank: "r.r1.json". Omitted where the name has %r, %l that is
 * known,
 *   %p, %n or %q;
 * - of an element of an array, or a job of GNU parallel, ".t" and its number: "r.t3.json", or
 *   "r.t3.r1.json" in rank 1. Omitted where the name has %p, %n, %q, or %j of an array.
 *
 * "-" and names in /dev stay as they are. `*path` is the caller's, to be freed by free(). Errors:
 * GPUT_ERROR_INVALID (%q without its end, an empty name), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_rank_path(
    const struct gput_rank *rank, const char *name, char **path, struct gput_error *error);

/** The same without the numbers of ranks and elements: the placeholders alone. Errors: the same. */
GPUT_API int gput_rank_expand(
    const struct gput_rank *rank, const char *name, char **path, struct gput_error *error);

/**
 * `path` with a number before its extension: "run.2.csv". The number of a rank or element
 * ("run.r0") does not count as an extension. `*numbered` is the caller's, to be freed by free().
 * Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_rank_numbered_path(
    const char *path, long number, char **numbered, struct gput_error *error);

/**
 * A name for a file whose own name is taken: `path` with ".1", ".2" … before its extension, the
 * first for which there is no file.
 * `*free_path` is the caller's, to be freed by free(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_rank_free_path(const char *path, char **free_path, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
