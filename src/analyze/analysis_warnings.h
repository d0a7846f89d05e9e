/*
 * What the user of an analysis is warned of, when all of it is known.
 */
#pragma once

#include "analyze/analysis.h"

/* Of calls outside of the samples, samples whose time goes back, and values that are missing.
 * `n_calls` is the number of all calls, `n_backward_rows` that of the samples before the one
 * before them. A warning that could not be made for lack of memory is left out. */
void analysis_warn_of_gaps(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, size_t n_calls, uint64_t n_backward_rows);
