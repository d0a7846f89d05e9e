/*
 * The summary of a session that people read; see gputracker/summary.h.
 */
#ifndef OUTPUT_RESULTS_SUMMARY_H
#define OUTPUT_RESULTS_SUMMARY_H

#include "base/str.h"

#include <gputracker/summary.h>

/* Appends the summary. */
void results_summary_write(const struct gput_results *results,
    const struct gput_summary_options *options, struct str *text);

#endif
