/*
 * A summary of a session for people, in about ten lines: what it needed, whether it was near a
 * limit, what was wasted, and what could not be measured.
 */
#pragma once

#include "base/str.h"

#include "model/results.h"

/* Appends the summary. */
void results_summary_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text);
