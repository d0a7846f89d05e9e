/*
 * Mean, extremes and percentiles of figures that are kept.
 */
#ifndef PROFILE_STATISTICS_H
#define PROFILE_STATISTICS_H

#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>

struct figures {
    double *values;
    size_t count;
    size_t capacity;
};

/* An empty set is all zeroes. */
bool figures_add(struct figures *figures, double value); /* false without memory */
void figures_finish(struct figures *figures);

/* Sorts them; the percentile functions want that. */
void figures_sort(struct figures *figures);

double figures_mean(const struct figures *figures); /* NaN of none */

/* The p-th percentile (0 to 100) of sorted figures, interpolated between neighbours; NaN of none.
 */
double figures_percentile(const struct figures *figures, double p);

/* The columns PREFIX_mean…, _min…, _max…, _p50…, _p95…, _p99… with `suffix` at their ends. */
void figures_add_columns(struct gput_table *table, const char *prefix, const char *suffix);

/* Their cells. Sorts the figures. */
void figures_put(struct gput_table *table, struct figures *figures);

#endif
