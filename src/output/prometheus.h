/*
 * Results as metrics for Prometheus: its text format, and OpenMetrics, which differs in few lines.
 * A pure function of the results, as every report is.
 */
#pragma once

#include "base/str.h"

#include "model/results.h"

/* Appends what is known; a figure that is not known is left out. */
void prometheus_write(
    const struct gput_results *results, enum gput_format format, struct str *text);
