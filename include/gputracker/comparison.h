/*
 * Comparison: one statistic of the analyses of several sessions, for the whole session and for each
 * code block.
 *
 *     const struct gput_comparison_session sessions[] = {{"A", "a.json"}, {"B", "b.json"}};
 *     struct gput_comparison *comparison;
 *     char *text = NULL;
 *     if (gput_comparison_create(sessions, 2, NULL, &comparison, &error) == GPUT_OK)
 *         gput_comparison_render(comparison, NULL, GPUT_FORMAT_TEXT, &text, NULL, &error);
 *     if (text)
 *         fputs(text, stdout);
 *     free(text);
 *     gput_comparison_destroy(comparison);
 *
 * A session may have several runs: files with the same session name. It is then compared by their
 * mean, and a difference within the spread of the runs counts as noise.
 */
#ifndef GPUTRACKER_COMPARISON_H
#define GPUTRACKER_COMPARISON_H

#include <gputracker/analysis.h>
#include <gputracker/error.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The compared statistic of each measurement: see struct gput_statistics. */
enum gput_statistic {
    GPUT_STATISTIC_MIN,
    GPUT_STATISTIC_MAX,
    GPUT_STATISTIC_MEAN,
    GPUT_STATISTIC_STD
};

/** "min", "max", "mean", "std". Static text. */
GPUT_API const char *gput_statistic_name(enum gput_statistic statistic);

/** Reads the name of a statistic. Errors: GPUT_ERROR_INVALID (`Invalid summary statistic 'x'. Valid
 * values are …`). */
GPUT_API int gput_statistic_parse(
    const char *word, enum gput_statistic *statistic, struct gput_error *error);

/** A file of results (see gput_analysis_load()) and its session. Final. */
struct gput_comparison_session {
    const char *name;
    const char *path;
};

/** Options of a comparison and its report. Sized: see gputracker/sized.h. */
struct gput_comparison_options {
    size_t size;                   /**< set by gput_comparison_options_default() */
    enum gput_statistic statistic; /**< default: GPUT_STATISTIC_MEAN */
    bool relative; /**< also the change in percent from the first session; default: false */
    /** Called with one line (no newline) for each warning, while sessions are loaded. NULL: none.
     */
    void (*warn)(void *user, const char *message);
    void *user;     /**< passed to it */
    bool is_inline; /**< make a small picture without a background; default: false */
};

/** Sets the defaults in a struct of that size; for gput_comparison_options_default(). */
GPUT_API void gput_comparison_options_init(struct gput_comparison_options *options, size_t size);

/** The defaults above. */
static inline struct gput_comparison_options gput_comparison_options_default(void)
{
    struct gput_comparison_options options;
    gput_comparison_options_init(&options, sizeof options);
    return options;
}

struct gput_comparison; /**< made by gput_comparison_create() */

/**
 * Loads results and matches their code blocks. Blocks match in the order of their names, in which
 * line numbers count as numbers; names that differ only in their line number match with a warning.
 * `options` may be NULL.
 *
 * On success the caller frees `*comparison` by gput_comparison_destroy(); on failure it is NULL.
 * Errors: those of gput_analysis_load(); GPUT_ERROR_INVALID (no sessions; code blocks that do not
 * match; a measurement that a file lacks), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_comparison_create(const struct gput_comparison_session *sessions, size_t count,
    const struct gput_comparison_options *options, struct gput_comparison **comparison,
    struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_comparison_destroy(struct gput_comparison *comparison);

/**
 * Renders the comparison: every figure as text, JSON or CSV, or a picture of its main figures as
 * GPUT_FORMAT_SVG, GPUT_FORMAT_PDF, GPUT_FORMAT_PNG (see gput_plot_render()). Sessions are in
 * ascending order of their values. Sessions of several runs (95 % intervals, noise) and `relative`
 * add further keys and lines.
 *
 * Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_comparison_render(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error);

/**
 * The same for other programs, as two tables. Values are in the units of the analyses, times in
 * seconds, energy in joules.
 *
 *     comparison
 *         code_block      missing: the whole session
 *         measurement     "compute_time" is one of code blocks
 *         statistic, session, value
 *         percent_change  from the first session
 *         runs            how many the value is the mean of
 *         low, high       the 95 % interval of several runs
 *         within_noise    1: the difference is within their spread
 *     whole_numbers
 *         measurement     those of the whole session that every file has as integers
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_comparison_tables(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, struct gput_tables **tables,
    struct gput_error *error);

struct gput_comparison_config; /**< contents of a config file */

/**
 * Reads a JSON object with the members file_path_map (an object of session names and file paths; an
 * array of paths for several runs) and statistic ("min", "max", "mean" or "std"). Both are
 * optional.
 *
 * On success the caller frees `*config` by gput_comparison_config_destroy(); on failure it is NULL.
 * Errors, which name the file: GPUT_ERROR_NOT_FOUND or another when it cannot be read,
 * GPUT_ERROR_FORMAT, GPUT_ERROR_INVALID (the statistic), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_comparison_config_load(
    const char *path, struct gput_comparison_config **config, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_comparison_config_destroy(struct gput_comparison_config *config);

/** The sessions of the config in the order of the file, and their number. They belong to the
 * config. */
GPUT_API const struct gput_comparison_session *gput_comparison_config_sessions(
    const struct gput_comparison_config *config, size_t *count);

/** GPUT_STATISTIC_MEAN when the file has none. */
GPUT_API enum gput_statistic gput_comparison_config_statistic(
    const struct gput_comparison_config *config);

/**
 * Checks a rule against every session but the first:
 *
 *     STATISTIC MEASUREMENT [in CODE BLOCK] >|>=|<|<= LIMIT
 *
 * A limit with a percent sign is a change from the first session ("max main_ram > +5%"); without
 * one it is a value ("mean main_ram > 2.5"). The measurement compute_time is that of the code
 * block, or of each one when none is named. A code block may be named as in any of the sessions.
 * Any increase from 0 exceeds every limit in percent. A change within the noise of several runs
 * breaks no rule.
 *
 * `*holds`: whether the rule is true for some session; then `message`, of `size` bytes, names it
 * and its figures. Errors: GPUT_ERROR_INVALID (an invalid rule), GPUT_ERROR_STATE (it cannot be
 * checked: a session lacks the figure, or there is one session alone).
 */
GPUT_API int gput_comparison_check(const struct gput_comparison *comparison, const char *rule,
    bool *holds, char *message, size_t size, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
