/*
 * Benchmarks: run commands repeatedly, each run a session in memory, and compare their figures,
 * which have confidence intervals.
 *
 *     struct gput_bench *bench;
 *     char *text = NULL;
 *     if (gput_bench_create(NULL, &bench, &error) == GPUT_OK &&
 *         gput_bench_add_command(bench, "old", "./simulate old.in", &error) == GPUT_OK &&
 *         gput_bench_add_command(bench, "new", "./simulate new.in", &error) == GPUT_OK &&
 *         gput_bench_run(bench, &error) == GPUT_OK &&
 *         gput_bench_render(bench, NULL, GPUT_FORMAT_TEXT, &text, NULL, &error) == GPUT_OK)
 *         fputs(text, stdout);
 *     free(text);
 *     gput_bench_destroy(bench);
 *
 * The other variants are compared with the first one. In each block every variant runs once, in
 * random order; the ratio of two variants is taken over their runs in the same blocks.
 * docs/bench.md has the method.
 */
#ifndef GPUTRACKER_BENCH_H
#define GPUTRACKER_BENCH_H

#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/results.h>
#include <gputracker/session.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Progress of a benchmark. Shared: see gputracker/sized.h. Valid during the call. */
struct gput_bench_progress {
    const char *variant;       /**< the variant that is running, or has just run */
    unsigned run;              /**< number of the next run, from 1; 0 for warm-ups */
    unsigned n_runs;           /**< number of runs; 0: not known, the benchmark ends by itself */
    double mean_seconds;       /**< mean wall time of this variant so far; NaN: none yet */
    double mean_ram_bytes;     /**< mean RAM peak of this variant so far; NaN: none yet */
    double half_width_percent; /**< half-width of the interval of wall time, of the least exact
                                  variant so far; NaN: none yet */
};

/** Options of a benchmark. Sized: see gputracker/sized.h. */
struct gput_bench_options {
    size_t size;              /**< set by gput_bench_options_default() */
    unsigned n_runs;          /**< runs of each variant; 0: as many as the precision below needs */
    double precision_percent; /**< wanted half-width of the 95 % intervals of wall time and RAM;
                                 default 1 */
    double min_seconds;       /**< minimum time of the whole benchmark; default 3 */
    double max_seconds;       /**< maximum time, after which no further block starts; default 60 */
    unsigned n_warmups;       /**< runs of each variant before the measured ones, which are not
                                 counted */
    double timeout_seconds;   /**< maximum time of a run, which is then killed and counts as failed;
                                 0: none */
    uint64_t seed;            /**< seed of the random order; 0: a different one each time */
    bool in_order;            /**< run the variants of a block in the order in which they were
                                 added */
    bool shell;               /**< run commands by `sh -c`, whose own cost is measured and
                                 subtracted */
    bool ignore_failure;      /**< count runs that fail */
    bool show_output;         /**< let commands write to the standard output and error */
    bool pair;                /**< change the parameters in step; default: all combinations */
    const char *input;        /**< file for the standard input; NULL: /dev/null */
    const char *setup;        /**< command that `sh -c` runs once for each variant, before all of
                                 its runs; NULL: none */
    const char *prepare;      /**< likewise before each run */
    const char *conclude;     /**< likewise after each run */
    const char *cleanup;      /**< likewise once for each variant, after all */
    const char *work;         /**< extended regular expression for the output, whose first group is
                                 a number: the units of work. NULL: none */
    const char *keep_folder;  /**< folder in which each run leaves its tracking file; NULL: none */
    const struct gput_session_options *session; /**< options of each run; NULL: 10 samples a second.
                                                   They are copied; their texts must stay valid
                                                   until gput_bench_destroy() */
    /** Called before each run, from the thread that called gput_bench_run(). NULL: none. */
    void (*progress)(void *user, const struct gput_bench_progress *progress);
    /** Called some times a second; true ends the benchmark. The command is killed, and the runs
     * until then are the result. NULL: never. */
    bool (*is_to_stop)(void *user);
    /** Called with one line (no newline) for each warning. NULL: none. */
    void (*warn)(void *user, const char *message);
    void *user; /**< passed to the callbacks */
};

/** Sets the defaults in a struct of that size; for gput_bench_options_default(). */
GPUT_API void gput_bench_options_init(struct gput_bench_options *options, size_t size);

/** The defaults above. */
static inline struct gput_bench_options gput_bench_options_default(void)
{
    struct gput_bench_options options;
    gput_bench_options_init(&options, sizeof options);
    return options;
}

struct gput_bench; /**< made by gput_bench_create() */

/**
 * Checks the options and copies what it needs of them. `options` may be NULL.
 *
 * On success the caller frees `*bench` by gput_bench_destroy(); on failure it is NULL. Errors:
 * GPUT_ERROR_INVALID (an option), GPUT_ERROR_NOT_FOUND or GPUT_ERROR_PERMISSION (the input or the
 * folder), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_bench_create(
    const struct gput_bench_options *options, struct gput_bench **bench, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_bench_destroy(struct gput_bench *bench);

/**
 * Adds a parameter, before the commands that have its name in braces, as in "./simulate -t
 * {threads}". `values` is a list (1,2,4) or a range (1..8, 0..1..0.25). Errors: GPUT_ERROR_INVALID,
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_bench_add_parameter(
    struct gput_bench *bench, const char *name, const char *values, struct gput_error *error);

/**
 * Adds a command, and a variant for each combination of the parameters. It is split into words as
 * by a shell, without expansions; leading words like NAME=value are its environment. With
 * gput_bench_options.shell it is run by `sh -c`. `name` NULL: the command. Errors:
 * GPUT_ERROR_INVALID (an empty command, a quote that is not closed), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_bench_add_command(
    struct gput_bench *bench, const char *name, const char *command, struct gput_error *error);

/** The same for a command that is already split into words, NULL at the end. */
GPUT_API int gput_bench_add_argv(
    struct gput_bench *bench, const char *name, char *const argv[], struct gput_error *error);

/** Adds a variant that is no command: the caller runs it and adds each run. Its index is the number
 * of variants before it. Errors: GPUT_ERROR_MEMORY. */
GPUT_API int gput_bench_add_variant(
    struct gput_bench *bench, const char *name, struct gput_error *error);

/** The number of variants, and the name of one; NULL: no such index. The name belongs to
 * `bench`. */
GPUT_API size_t gput_bench_variant_count(const struct gput_bench *bench);
GPUT_API const char *gput_bench_variant_name(const struct gput_bench *bench, size_t index);

/**
 * Runs the commands. Whatever this returns, the runs that ended can be rendered. Errors:
 * GPUT_ERROR_INVALID (no command), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION (a command that
 * cannot start, which is checked before the first run), GPUT_ERROR_STATE: a run failed; the message
 * has its exit status and the end of its standard error.
 */
GPUT_API int gput_bench_run(struct gput_bench *bench, struct gput_error *error);

/**
 * The variant to run next, for callers that run it themselves. False: the options ask for no more
 * runs. Call gput_bench_add_run() after each call.
 */
GPUT_API bool gput_bench_next(struct gput_bench *bench, size_t *variant);

/**
 * Say when the code of that run begins and when it is over, in the thread that it runs in: then it
 * is known how long that thread waited for a CPU meanwhile, and the run has wall time without that.
 * They are short, but are best called outside of what is timed.
 */
GPUT_API void gput_bench_begin_run(struct gput_bench *bench);
GPUT_API void gput_bench_end_run(struct gput_bench *bench);

/** Adds a run of the variant that gput_bench_next() gave: the results of its session, its wall time
 * (NaN: that of the session), and its units of work, such as calls of a function (NaN: none).
 * Errors: GPUT_ERROR_STATE (no variant is due), GPUT_ERROR_MEMORY. */
GPUT_API int gput_bench_add_run(struct gput_bench *bench, const struct gput_results *results,
    double wall_seconds, double work, struct gput_error *error);

/** Also compares with the runs of an earlier benchmark: a file that was rendered as
 * GPUT_FORMAT_JSON. Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY. */
GPUT_API int gput_bench_load_baseline(
    struct gput_bench *bench, const char *path, struct gput_error *error);

/**
 * Checks a rule: FIGURE >|>=|<|<= LIMIT. A limit with a percent sign is a change from the baseline
 * or, without one, from the first variant ("ram > +5%"); without one it is a value of any variant,
 * in seconds, bytes or joules ("wall > 2.5"). Figures are those of the JSON ("ram_bytes") or wall,
 * cpu, user, system, ram, gpu_ram, gpu, energy.
 *
 * A rule about a change holds only where the verdict is less or more. `*holds`: whether the rule is
 * true for some variant; `message`, of `size` bytes, then names the variant and its figures.
 * Errors: GPUT_ERROR_INVALID (an invalid rule; a change without anything to compare with, or of
 * fewer than three runs; known before the first run), GPUT_ERROR_STATE (no run has the figure, or
 * the runs vary too much to say whether a change is beyond the limit).
 */
GPUT_API int gput_bench_check(const struct gput_bench *bench, const char *rule, bool *holds,
    char *message, size_t size, struct gput_error *error);

/** How results are shown. Sized: see gputracker/sized.h. */
struct gput_bench_render_options {
    size_t size;    /**< set by gput_bench_render_options_default() */
    bool details;   /**< text: all figures, not only those that differ */
    unsigned width; /**< text: maximum width in columns; 0: not cut */
};

/** Sets the defaults, all zero, in a struct of that size; for gput_bench_render_options_default().
 */
GPUT_API void gput_bench_render_options_init(
    struct gput_bench_render_options *options, size_t size);

/** The defaults above. */
static inline struct gput_bench_render_options gput_bench_render_options_default(void)
{
    struct gput_bench_render_options options;
    gput_bench_render_options_init(&options, sizeof options);
    return options;
}

/**
 * The results: GPUT_FORMAT_TEXT, JSON, CSV (a line a run), MARKDOWN, ASCIIDOC, HTML, HYPERFINE (its
 * JSON) and BENCHER (Bencher Metric Format). `options` may be NULL. Result and errors: see
 * gputracker/format.h; GPUT_ERROR_STATE: nothing has run.
 */
GPUT_API int gput_bench_render(const struct gput_bench *bench,
    const struct gput_bench_render_options *options, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
