/*
 * Analyses and comparisons as tables that people read: figures in suitable units (1 GB is 1e9
 * bytes), numbers first, then the name.
 *
 *     char *text;
 *     if (gput_analysis_summarize(analysis, NULL, &text, NULL, &error) == GPUT_OK) {
 *         fputs(text, stdout);
 *         free(text);
 *     }
 */
#ifndef GPUTRACKER_SUMMARY_H
#define GPUTRACKER_SUMMARY_H

#include <gputracker/error.h>
#include <gputracker/sized.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_analysis;           /**< see gputracker/analysis.h */
struct gput_comparison;         /**< see gputracker/comparison.h */
struct gput_comparison_options; /**< see gputracker/comparison.h */

/** Layout of a table. Sized: see gputracker/sized.h. */
struct gput_summary_options {
    size_t size;    /**< set by gput_summary_options_default() */
    bool all;       /**< show rows that are 0 or unknown throughout, too */
    unsigned width; /**< columns of the terminal, to which names are cut; 0: not cut */
};

/** Sets the defaults, all zero, in a struct of that size; for gput_summary_options_default(). */
GPUT_API void gput_summary_options_init(struct gput_summary_options *options, size_t size);

/** Rows that are known, names in full. */
static inline struct gput_summary_options gput_summary_options_default(void)
{
    struct gput_summary_options options;
    gput_summary_options_init(&options, sizeof options);
    return options;
}

/**
 * An analysis as two tables: the session, and a row a code block, the longest first. `options` may
 * be NULL. Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_analysis_summarize(const struct gput_analysis *analysis,
    const struct gput_summary_options *options, char **bytes, size_t *length,
    struct gput_error *error);

/**
 * A comparison as one table: a row a figure of the session or of a code block, with the change from
 * the first session, the largest change first. `comparison_options` and `options` may be NULL.
 * Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_comparison_summarize(const struct gput_comparison *comparison,
    const struct gput_comparison_options *comparison_options,
    const struct gput_summary_options *options, char **bytes, size_t *length,
    struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
