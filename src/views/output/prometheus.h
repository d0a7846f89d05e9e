/*
 * Results as metrics for Prometheus: its text format, and OpenMetrics, which differs in few lines.
 * A pure function of the results, as every report is.
 */
#pragma once

#include "base/str.h"

#include "model/owners.h"
#include "model/results.h"

/* Appends what is known; a figure that is not known is omitted. All have the labels of the list
 * (views/output/labels.h; NULL: none). */
void prometheus_write(const struct gput_results *results, const char *label_list,
    enum gput_format format, struct str *text);

/* The same in the text format, without what is the machine's: many sessions have it at once. */
void prometheus_write_command(
    const struct gput_results *results, const char *label_list, struct str *text);

/* A page with what users and jobs of the machine use. */
void prometheus_write_owners(const struct gput_results *results, const char *label_list,
    enum gput_format format, const struct owner_figures *owners, size_t count, struct str *text);
