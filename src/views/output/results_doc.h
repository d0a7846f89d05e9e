/*
 * The results of a session as a document, which every format of a report walks.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"
#include "model/results.h"

/* `only_older`: only what the report of the older gpu_tracker has. Figures are numbers in the units
 * of the session, or texts ("31.4 MB") where `options` (may be NULL) say that units fit. The caller
 * destroys it; NULL without memory. */
struct doc *results_doc(const struct gput_results *results, bool only_older,
    const struct gput_results_render_options *options);

/*
 * What regions of a command used, in its report.
 */

/* Adds an object "regions" with "code_blocks" and "notes", where `options` has either. Returns the
 * items of "code_blocks", which are still to be made. */
struct doc_items regions_report_add(
    struct doc *root, const struct gput_results_render_options *options);

/* Appends a table of those that took longest, and the notes. */
void regions_report_write(const struct gput_results_render_options *options, struct str *text);
