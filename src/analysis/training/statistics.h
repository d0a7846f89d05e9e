/*
 * Mean, extremes and percentiles of figures.
 */
#pragma once

#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>

/* A summary of figures; NaN without figures. Percentiles are interpolated between neighbours. */
struct figure_summary {
    double mean, min, max, p50, p95, p99;
};

/* Summarizes sorted figures one by one, without keeping them. Their number must be known at the
 * start. */
struct sorted_figures {
    struct figure_summary summary; /* complete after the last figure */
    size_t count;
    size_t next;
    double sum;
};

struct sorted_figures sorted_figures_of(size_t count);
void sorted_figures_next(struct sorted_figures *figures, double value);

/* Keeps figures in any order, to summarize them at the end. */
struct figure_set {
    double *values;
    size_t count;
};

/* An empty set is all zeroes. */
bool figure_set_add(struct figure_set *figures, double value); /* false without memory */
void figure_set_finish(struct figure_set *figures);

/* Sorts and summarizes the figures. */
struct figure_summary figure_set_summarize(struct figure_set *figures);

/* The columns PREFIX_mean…, _min…, _max…, _p50…, _p95…, _p99… with `suffix` at their ends. */
void figure_summary_add_columns(
    struct gput_table *table, const char *prefix, const char *suffix, const char *unit);

/* Writes the cells of these columns. */
void figure_summary_put(struct gput_table *table, const struct figure_summary *summary);
