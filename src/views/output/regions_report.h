/*
 * What regions of a command used, in its report.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"
#include "model/results.h"

/* Adds an object "regions" with "code_blocks" and "notes", where `options` has either. Returns the
 * items of "code_blocks", which are still to be made. */
struct doc_items regions_report_add(
    struct doc *root, const struct gput_results_render_options *options);

/* Appends a table of those that took longest, and the notes. */
void regions_report_write(const struct gput_results_render_options *options, struct str *text);
