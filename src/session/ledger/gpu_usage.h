/*
 * Usage so far of each GPU: maximum and mean of its figures, and bounds of the RAM of the tracked
 * processes. Samples are not kept.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "model/card.h"

#include <stdbool.h>
#include <stdint.h>

/* Figures of a graphics card during a session: extremes and means of its clocks and
 * temperatures, its counters, and what changed from the first reading to the last. */

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
/* Returns what a counter counted. NaN with fewer than two readings, or where the last one lacks
 * it. A lower bound after a reset, and for a CARD_SHORT_COUNTER. */
double card_usage_counted(const struct card_usage *usage, enum card_figure figure);

/* True where counters of slowed time are lower bounds, because one was reset or replaced. */
bool card_usage_is_partial(const struct card_usage *usage);

/* True where the driver gave a reason in several readings while its counter of that reason did
 * not increase. */
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

/* The figures of a device that are kept. */
enum gpu_usage_figure {
    GPU_USAGE_RAM,
    GPU_USAGE_MAIN_RAM,
    GPU_USAGE_DESCENDANTS_RAM,
    GPU_USAGE_COMBINED_RAM,
    GPU_USAGE_UTILIZATION,
    GPU_USAGE_MAIN_SM,
    GPU_USAGE_DESCENDANTS_SM,
    GPU_USAGE_POWER,
    GPU_USAGE_FIGURES,
};

/* Maximum and mean of one figure. All zeroes: never read. */
struct gpu_usage_value {
    bool has;
    double max;
    double first;    /* the mean while no time has passed */
    double sum;      /* of the figures of all samples with an interval */
    uint64_t count;  /* of those samples */
    double last;     /* NaN: not in the last sample */
    double weighted; /* sum of figure x seconds */
    double seconds;  /* sum of those seconds */
};

struct gpu_usage {
    size_t n_devices, capacity;
    struct gpu_usage_device {
        struct gpu_usage_value values[GPU_USAGE_FIGURES];
        bool may_have_others; /* in some sample */
        bool has_untracked;   /* the figure below is known */
        double min_untracked_bytes;
        struct card_usage card;
        int64_t first_read_ns, last_read_ns; /* when the driver was read; 0: never */
    } * devices;                             /* owned */
    double late_list_seconds; /* age of the oldest list of processes at a sample at which the memory
                                 in use had changed since; 0: lists came in time */
};

/* An empty usage is all zeroes. */
void gpu_usage_finish(struct gpu_usage *usage);

/* Adds a sample that stands for the `seconds` since the one before it. Devices that appear later
 * are added, unless there is no memory for them. */
void gpu_usage_add(struct gpu_usage *usage, const struct gpu_sample *sample, double seconds);

/* After gpu_usage_add(): adds what the card itself says. */
void gpu_usage_add_card(struct gpu_usage *usage, size_t device, const struct card_reading *reading);

/* NULL: it was in no sample. */
const struct card_usage *gpu_usage_card(const struct gpu_usage *usage, size_t device);

/* NaN when it was never read. */
double gpu_usage_max(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure);
/* Power and the SM percents of processes are of the time since the sample before, and weighted by
 * it; RAM and utilization are of the moment of a sample: all rows of the tracking file
 * count alike (struct usage).
 * NaN when it was never read. */
double gpu_usage_mean(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure);
/* NaN when the last sample did not have it. */
double gpu_usage_last(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure);

/*
 * An upper bound of the RAM of the tracked processes on a device: its highest reading, minus what
 * was in use there besides theirs. NaN: not known. Other processes, possibly hidden by the driver,
 * may have used it, and freed as much as the tracked ones allocated; or a list gave more, which the
 * readings missed.
 */
double gpu_usage_combined_ram_at_most(const struct gpu_usage *usage, size_t device);

/* Sum over all devices in the last sample. NaN when none had it, and when one lacks it that had it
 * before. */
double gpu_usage_sum(const struct gpu_usage *usage, enum gpu_usage_figure figure);
