/*
 * Totals of energy and I/O of a tracking file as curves of rates. A rate is that of the time up to
 * its row, so the area under a curve is the total.
 */
#pragma once

#include "base/error.h"
#include "files/tracking/total_rates.h"
#include "views/report/document/report_session.h"

#include <stddef.h>

/* A column, and its curve. */
struct report_rate {
    const char *column, *id, *label, *scope;
};

/* A table: its name, and its curves with what they share. */
struct report_rates_table {
    const char *name, *group, *unit;
    double step; /* that values are kept to */
    double min_seconds;
    const struct report_rate *rates;
    size_t count;
};

extern const struct report_rates_table report_power_of_energy, report_io;

struct report_rates {
    const struct report_rates_table *table;
    struct report_session *session;
    bool without_gpus; /* their curve is there already */
    struct report_column time;
    struct report_column values[TOTAL_RATES_MAX];
    struct total_rates totals;
};

void report_rates_init(struct report_rates *rates, const struct report_rates_table *table,
    struct report_session *session);

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_rates_add(
    struct report_rates *rates, const struct gput_table *part, struct gput_error *error);

/* Adds the curves to the session. */
int report_rates_end(struct report_rates *rates, struct gput_error *error);
void report_rates_finish(struct report_rates *rates);
