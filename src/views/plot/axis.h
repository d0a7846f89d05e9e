/*
 * Axes: a range that ends at round numbers, where their ticks are, in a unit that fits.
 */
#pragma once

#include <stddef.h>

#define AXIS_TEXT_SIZE 48
#define AXIS_MAX_TICKS 24

struct axis {
    double low, high;             /* ends of the axis, in base units */
    double scale;                 /* the unit of labels in base units: 1e9 for GB */
    char unit[AXIS_TEXT_SIZE];    /* unit of the labels: "GB", "%", "min"; "" for none */
    size_t count;                 /* number of ticks */
    double ticks[AXIS_MAX_TICKS]; /* in order, in base units */
    int decimals;                 /* decimals that labels need to differ */
};

/*
 * Makes an axis for values from `low` to `high`, both finite, with at most `max_ticks` steps
 * between its ends or one more. The unit is "bytes", "bytes_per_second", "watts", "percent",
 * "count", "joules", "" or another name. The axis always includes 0, so that heights can be
 * compared.
 */
void axis_make(struct axis *axis, double low, double high, const char *unit, size_t max_ticks);

/* Makes an axis of time, in seconds, that ends where the times end and has ticks at round times
 * inside. */
void axis_make_time(struct axis *axis, double start, double end, size_t max_ticks);

/* Writes the label of a tick, at most AXIS_TEXT_SIZE bytes. Returns `text`. */
const char *axis_label(const struct axis *axis, double value, char *text);

/* Writes a value with its unit, to three digits, for a note: "64 GB", "400 %". Returns `text`.
 * */
const char *axis_value(double value, const char *unit, char *text);

/* Returns the place of a value on the axis: 0 at the lower end, 1 at the upper. */
double axis_place(const struct axis *axis, double value);
