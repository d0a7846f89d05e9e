/*
 * Results out of a report as JSON, which `gpu-tracker run -f json` writes and the older gpu_tracker
 * wrote.
 */
#pragma once

#include "base/error.h"
#include "base/json_scan.h"
#include "base/str.h"
#include "model/results_lines.h"

/* The lines of a report by section, found once for any number of reports. */
struct results_line_table {
    struct results_line *lines;
    size_t first[RESULTS_SECTION_COUNT + 1]; /* of each section, and the end of the last one */
};

/* The caller frees it by results_line_table_finish(), also after a failure. Errors:
 * GPUT_ERROR_MEMORY. */
int results_line_table_init(struct results_line_table *table, struct gput_error *error);
void results_line_table_finish(struct results_line_table *table);

/*
 * Reads a report into results that are all zero; what it lacks is not known. JSON_PADDING bytes
 * after the text can be read, and the first is NUL. `is_identity_only`: the sections up to "files",
 * which say whose results they are; the text may end after those. Errors: GPUT_ERROR_UNSUPPORTED
 * (it is JSON, but no report), GPUT_ERROR_FORMAT (it is no JSON, which the caller has to explain:
 * the message is empty), GPUT_ERROR_INVALID (a unit, or more sources than there are),
 * GPUT_ERROR_MEMORY.
 */
int results_read_json(const struct results_line_table *table, const char *text, size_t length,
    bool is_identity_only, struct gput_results *results, struct gput_error *error);
