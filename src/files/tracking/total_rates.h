/*
 * Tables of totals since the start of a session, energy_data and io_data of tracking files, as
 * rates of what came between their rows: watts, bytes per second.
 *
 * The first reading of a session and the last one can follow another at once. A rate of such a
 * moment says nothing: it becomes one with the time next to it, and nothing that was counted is
 * lost.
 */
#pragma once

#include "base/error.h"

#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>

#define TOTAL_RATES_MAX 16

/* Minimum time of a rate: half of the usual time between rows. */
#define MIN_ENERGY_SECONDS 0.05
#define MIN_IO_SECONDS 0.2

/* A row of the table. */
struct total_row {
    double time; /* seconds since the epoch; NaN: there is none */
    double values[TOTAL_RATES_MAX];
};

/*
 * Takes the rates from a row to one after it. They are NaN where they are not known, which all are
 * up to the first row, and up to one whose clock was set back. `end` NULL: nothing is known of the
 * time after `begin`, up to which there were rates.
 */
typedef int total_rates_take(void *user, const struct total_row *begin, const struct total_row *end,
    const double *rates, struct gput_error *error);

struct total_rates {
    size_t count;       /* of columns */
    double min_seconds; /* of a rate */
    total_rates_take *take;
    void *user;
    bool has_interval;      /* a row followed another one */
    struct total_row begin; /* of the interval whose rates are next */
    struct total_row end;   /* its end, if it is long enough */
    struct total_row after; /* the latest row, too soon after that one or `begin` for a rate */
};

struct total_rates total_rates_of(
    size_t count, double min_seconds, total_rates_take *take, void *user);

/* Adds rows of the table: its times, and those of its columns. Rows without a time are
 * skipped. Errors: those of `take`. */
int total_rates_add(struct total_rates *rates, const struct gput_table *part, size_t time,
    const size_t *columns, struct gput_error *error);

/* After the last row. */
int total_rates_end(struct total_rates *rates, struct gput_error *error);
