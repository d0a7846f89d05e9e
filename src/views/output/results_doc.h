/*
 * The results of a session as a document, which every format of a report walks.
 */
#pragma once

#include "base/doc.h"
#include "model/results.h"

/* `only_older`: only what the report of the older gpu_tracker has. Figures are numbers in the units
 * of the session, or texts ("31.4 MB") where `options` (may be NULL) say that units fit. The caller
 * destroys it; NULL without memory. */
struct doc *results_doc(const struct gput_results *results, bool only_older,
    const struct gput_results_render_options *options);
