/*
 * The forms a comparison is written in; one source file each.
 */
#ifndef OUTPUT_COMPARISON_RENDER_H
#define OUTPUT_COMPARISON_RENDER_H

#include "analyze/comparison.h"
#include "base/str.h"

/* A comparison on its way out. `values` has space for one value a session. */
struct comparison_report {
    const struct gput_comparison *comparison;
    struct gput_comparison_options options;
    struct comparison_value *values;
};

/* Each appends the whole comparison; without memory `text` turns failed. */
void comparison_write_text(const struct comparison_report *report, struct str *text);
void comparison_write_json(const struct comparison_report *report, struct str *text);
void comparison_write_pickle(const struct comparison_report *report, struct str *text);

/* Fills the report's values for a measurement (NULL: compute time) of a code block or, with
 * COMPARISON_OVERALL, the session, sorted ascending. */
void comparison_report_values(
    const struct comparison_report *report, const char *measurement, size_t block);

#endif
