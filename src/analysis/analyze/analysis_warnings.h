/*
 * What the user of an analysis is warned of, when all of it is known.
 */
#pragma once

#include "analysis/analyze/analysis.h"
#include "analysis/analyze/call_table.h"

/* Of calls outside of the samples, calls that did not end, samples whose time goes back, and values
 * that are missing. `n_backward_rows` is the number of samples before the one before them. A
 * warning that could not be made for lack of memory is skipped. */
void analysis_warn_of_gaps(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, const struct call_table *calls,
    uint64_t n_backward_rows);
