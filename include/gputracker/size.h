/*
 * How much to ask a scheduler for: RAM, time, cores and GPUs that a stated share of future runs of
 * a command does not exceed, from runs of it in the history.
 *
 *     struct gput_size *size;
 *     char *text;
 *     if (gput_size_create(NULL, &size, &error) == GPUT_OK &&
 *         gput_size_add(size, gput_tables_get(tables, 0), &error) == GPUT_OK &&
 *         gput_size_compute(size, &error) == GPUT_OK &&
 *         gput_size_render(size, GPUT_SIZE_FORMAT_SLURM, &text, NULL, &error) == GPUT_OK) {
 *         fputs(text, stdout);
 *         free(text);
 *     }
 *     gput_size_destroy(size);
 *
 * Runs that ended well count as they are. A run that was killed because memory or time ran out
 * needed more than it had, and counts so. Runs that failed otherwise may have ended early: they are
 * left out. docs/size.md has the method.
 */
#ifndef GPUTRACKER_SIZE_H
#define GPUTRACKER_SIZE_H

#include <gputracker/error.h>
#include <gputracker/table.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_size; /**< made by gput_size_create() */

/** The form of a request. */
enum gput_size_format {
    GPUT_SIZE_FORMAT_SLURM,      /**< options of sbatch, srun and salloc, in one line */
    GPUT_SIZE_FORMAT_PBS,        /**< options of qsub, in one line */
    GPUT_SIZE_FORMAT_KUBERNETES, /**< `resources:` of a container, as YAML */
    GPUT_SIZE_FORMAT_JSON,       /**< all figures, in bytes and seconds, with their evidence */
    GPUT_SIZE_FORMAT_TEXT,       /**< for people */
};

/** Sized: see gputracker/sized.h. */
struct gput_size_options {
    size_t size;  /**< set by gput_size_options_default() */
    double share; /**< share of future runs that the request must suffice for; default 0.95 */
    /** Size of the next run's inputs, if the history has input sizes; NaN: that of the largest. */
    double input_bytes;
    /** Ranks of the next job, if no run has input sizes; NaN: the most that were seen. */
    double ranks;
};

/** Sets the defaults in a struct of that size; for gput_size_options_default(). */
GPUT_API void gput_size_options_init(struct gput_size_options *options, size_t size);

/** 95 % of runs, with inputs as large as the largest. */
static inline struct gput_size_options gput_size_options_default(void)
{
    struct gput_size_options options;
    gput_size_options_init(&options, sizeof options);
    return options;
}

/**
 * Begins a request. `options` may be NULL. On success the caller frees `*size` by
 * gput_size_destroy(); on failure it is NULL. Errors: GPUT_ERROR_INVALID (an invalid share),
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_size_create(
    const struct gput_size_options *options, struct gput_size **size, struct gput_error *error);

/** Adds sessions of one command, the latest last: a table as gput_history_read() gives it. The
 * columns are found by name. Errors: GPUT_ERROR_MEMORY. */
GPUT_API int gput_size_add(
    struct gput_size *size, const struct gput_table *sessions, struct gput_error *error);

/** Computes the request, after all sessions were added. Errors: GPUT_ERROR_NOT_FOUND (no session
 * says how much a run takes), GPUT_ERROR_MEMORY. */
GPUT_API int gput_size_compute(struct gput_size *size, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_size_destroy(struct gput_size *size);

/** The basis of the request, a line each: how many runs and how old, what was assumed, and what is
 * needed to know more. Valid as long as `size`; "" before it was computed. */
GPUT_API const char *gput_size_evidence(const struct gput_size *size);

/** Renders the computed request. Unknown figures are omitted. Result and errors: see
 * gputracker/format.h. */
GPUT_API int gput_size_render(const struct gput_size *size, enum gput_size_format format,
    char **bytes, size_t *length, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
