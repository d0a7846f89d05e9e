/*
 * Code blocks of the loaded sessions as rows of a plot.
 */
#pragma once

#include "views/plot/chart.h"
#include "views/report/document/report_payload.h"

#include <gputracker/plot.h>

/* Widens *start and *end, NaN at first, to the calls. Errors: those of
 * report_column_reader_next(). */
int plot_blocks_find_times(
    const struct report_payload *payload, double *start, double *end, struct gput_error *error);

/* Adds a row for each of the code blocks that took the most time. Bands are of a single session.
 * Errors: also GPUT_ERROR_MEMORY. */
int plot_blocks_add(const struct report_payload *payload, const struct gput_plot_options *options,
    struct chart *chart, struct gput_error *error);
