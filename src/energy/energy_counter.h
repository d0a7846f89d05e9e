/*
 * One counter of energy, read again and again: how much was added since the last reading, with
 * wraps undone and readings that cannot be right distinguished.
 */
#ifndef ENERGY_ENERGY_COUNTER_H
#define ENERGY_ENERGY_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct energy_counter {
    double last_joules;
    int64_t last_ns;     /* of the last reading; before any, since when it fails */
    int64_t moved_ns;    /* when it last moved */
    int64_t unknown_ns;  /* it came late, jumped or stood still so long */
    int64_t late_ns;     /* it failed so long before its first reading */
    double range_joules; /* where it wraps; 0: it does not, or nobody knows */
    bool has_last;
    bool has_moved;   /* until then it tells nothing: one that never does is stuck */
    bool went_back;   /* at least once, by more than a wrap explains */
    bool went_ahead;  /* at least once, by more than any device can have used */
    bool stood_still; /* for longer than a running device can; at least once */
    bool failed;      /* it could not be read, last */
};

/* Keeps the counter's first reading. `range_joules` 0: it does not wrap. */
void energy_counter_start(
    struct energy_counter *counter, double joules, double range_joules, int64_t now_ns);

/*
 * Joules since the last reading. NaN: the counter went back (it was reset, or the machine slept)
 * or too far ahead, so nothing is known about this interval; the next one starts from here.
 */
double energy_counter_advance(struct energy_counter *counter, double joules, int64_t now_ns);

/* It could not be read. What it moves by until it can be is counted then, but for what came before
 * its first reading. */
void energy_counter_fail(struct energy_counter *counter, int64_t now_ns);

/* How long, of the time from `since_ns` on, its joules are not known. */
int64_t energy_counter_unknown_ns(
    const struct energy_counter *counter, int64_t since_ns, int64_t now_ns);

/* Whether it has not moved for longer than a running device can. */
bool energy_counter_stands_still(const struct energy_counter *counter);

#endif
