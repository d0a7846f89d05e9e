/*
 * Tables of totals since the start of a session, energy_data and io_data of tracking files, as
 * curves of what came between their rows: watts, bytes per second.
 */
#pragma once

#include "base/error.h"
#include "report/report_session.h"

#include <stddef.h>

/* A column, and its curve. */
struct report_rate {
    const char *column, *id, *label, *scope;
};

/* A table: its name, and its curves with what they share. */
struct report_rates_table {
    const char *name, *group, *unit;
    double step; /* that values are kept to */
    const struct report_rate *rates;
    size_t count;
};

#define REPORT_RATES_MAX 10

extern const struct report_rates_table report_power_of_energy, report_io;

struct report_rates {
    const struct report_rates_table *table;
    struct report_session *session;
    struct report_column time;
    struct report_column values[REPORT_RATES_MAX];
    double last_time; /* of the row before; NaN: there was none */
    double last[REPORT_RATES_MAX];
};

void report_rates_init(struct report_rates *rates, const struct report_rates_table *table,
    struct report_session *session);

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_rates_add(
    struct report_rates *rates, const struct gput_table *part, struct gput_error *error);

/* Adds the curves to the session. */
int report_rates_end(struct report_rates *rates, struct gput_error *error);
void report_rates_finish(struct report_rates *rates);
