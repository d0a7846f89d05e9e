/*
 * What a graphics card said of itself during a session: extremes and means of its clocks and
 * temperatures, what its counters counted, and what changed from the first reading to the last.
 */
#pragma once

#include "model/card.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeroes: nothing was read. */
struct card_usage {
    bool has;
    struct card_value {
        uint64_t count; /* of readings that had it */
        double first, last, min, max, sum;
        double counted;  /* of counters: since the first reading, over resets */
        int64_t last_ns; /* when the last reading that had it was taken */
        bool began_anew; /* a counter that was lower than before */
        bool is_missing; /* the last reading lacks it: a counter that is not believed any more */
    } values[CARD_FIGURE_COUNT];
    unsigned reasons;           /* all that were given */
    unsigned n_counter_changes; /* see struct card_reading */
    uint64_t n_with_reasons;    /* readings that gave them */
    uint64_t n_throttled[CARD_REASON_COUNT];
    /* Lanes of the PCIe link: the most, and as of the last reading in which the card had worked
     * for some time. 0: there is none. */
    double widest_link, working_link;
    int64_t rested_ns; /* the last reading in which the card did not work */
};

/* Adds a reading that was taken then (monotonic clock). */
void card_usage_add(struct card_usage *usage, const struct card_reading *reading, int64_t read_ns);

/* NaN when it was never read. */
double card_usage_max(const struct card_usage *usage, enum card_figure figure);
double card_usage_min(const struct card_usage *usage, enum card_figure figure);
double card_usage_mean(const struct card_usage *usage, enum card_figure figure);
double card_usage_last(const struct card_usage *usage, enum card_figure figure);
/* What a counter counted; NaN with fewer than two readings, and where the last one lacks it. After
 * a reset, and of a CARD_SHORT_COUNTER, it is at least that. */
double card_usage_counted(const struct card_usage *usage, enum card_figure figure);

/* Whether counters of slowed time are less than what there was: one began anew, or was exchanged.
 */
bool card_usage_is_partial(const struct card_usage *usage);

/* Whether the driver gave a reason in several readings while its counter of that reason stood
 * still. */
bool card_usage_is_contradicted(const struct card_usage *usage);

/*
 * Writes what slowed the card although it had work, each reason with its time, the longest first:
 * "power_cap 12.3 s, thermal 0.5 s". Where the driver does not count: with the share of readings
 * that gave the reason, "power_cap in 3 of 40 readings". "nothing" where the driver says so; "": it
 * is not known.
 */
void card_usage_describe_slowdowns(const struct card_usage *usage, char *text, size_t size);

/* Writes what changed for the worse: "2 new memory errors that could not be corrected; PCIe link
 * from x16 to x8", which a link of a card that rests may be. "": nothing did, or it is not known.
 */
void card_usage_describe_health(const struct card_usage *usage, char *text, size_t size);
