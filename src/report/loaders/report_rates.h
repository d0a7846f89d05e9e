/*
 * Tables of totals since the start of a session, energy_data and io_data of tracking files, as
 * curves of what came between their rows: watts, bytes per second. A rate is that of the time up to
 * its row, so the area under a curve is the total.
 *
 * The first reading of a session and the last one can follow another at once. A rate of such a
 * moment says nothing: it becomes one with the time next to it, and nothing that was counted is
 * lost.
 */
#pragma once

#include "base/error.h"
#include "report/document/report_session.h"

#include <stddef.h>

/* A column, and its curve. */
struct report_rate {
    const char *column, *id, *label, *scope;
};

/* A table: its name, and its curves with what they share. */
struct report_rates_table {
    const char *name, *group, *unit;
    double step;        /* that values are kept to */
    double min_seconds; /* of a rate: half of the time that is usually between rows */
    const struct report_rate *rates;
    size_t count;
};

#define REPORT_RATES_MAX 10

extern const struct report_rates_table report_power_of_energy, report_io;

/* A row of the table. */
struct report_totals {
    double time; /* NaN: there is none */
    double values[REPORT_RATES_MAX];
};

struct report_rates {
    const struct report_rates_table *table;
    struct report_session *session;
    bool without_gpus; /* their curve is there already */
    struct report_column time;
    struct report_column values[REPORT_RATES_MAX];
    struct report_totals begin; /* of the interval whose rate is next */
    struct report_totals end;   /* its end, if it is long enough */
    struct report_totals after; /* the latest row, too soon after that one or `begin` for a rate */
};

void report_rates_init(struct report_rates *rates, const struct report_rates_table *table,
    struct report_session *session);

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_rates_add(
    struct report_rates *rates, const struct gput_table *part, struct gput_error *error);

/* Adds the curves to the session. */
int report_rates_end(struct report_rates *rates, struct gput_error *error);
void report_rates_finish(struct report_rates *rates);
