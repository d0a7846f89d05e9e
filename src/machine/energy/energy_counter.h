/*
 * One energy counter, polled: the increase since the last reading, with wraps undone and
 * implausible readings detected.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct energy_counter {
    double last_joules;
    int64_t last_ns;     /* of the last reading; before any, when it first failed */
    int64_t moved_ns;    /* when it last changed */
    int64_t unknown_ns;  /* how long it was late, jumped or did not change */
    int64_t late_ns;     /* how long it failed before its first reading */
    double range_joules; /* where it wraps; 0: it does not, or not known */
    bool has_last;
    bool has_moved;   /* until then it is not usable: one that never changes is stuck */
    bool went_back;   /* at least once, by more than a wrap */
    bool went_ahead;  /* at least once, by more than any device can have used */
    bool stood_still; /* for longer than a running device can; at least once */
    bool failed;      /* the last reading failed */
};

/* Stores the counter's first reading. `range_joules` 0: it does not wrap. */
void energy_counter_start(
    struct energy_counter *counter, double joules, double range_joules, int64_t now_ns);

/*
 * Joules since the last reading. NaN: the counter decreased (it was reset, or the machine slept) or
 * jumped, so this interval is not known; the next one starts here.
 */
double energy_counter_advance(struct energy_counter *counter, double joules, int64_t now_ns);

/* A reading failed. The increase until the next one is counted then, except before the first
 * reading. */
void energy_counter_fail(struct energy_counter *counter, int64_t now_ns);

/* For how much of the time since `since_ns` its joules are not known. */
int64_t energy_counter_unknown_ns(
    const struct energy_counter *counter, int64_t since_ns, int64_t now_ns);

/* Whether it has not changed for longer than is possible for a running device. */
bool energy_counter_stands_still(const struct energy_counter *counter);
