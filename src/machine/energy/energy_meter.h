/*
 * Joules of the machine by domain, and the tracked processes' share of them.
 *
 * It has intervals of its own, of at least 100 ms: shorter ones are too coarse for the energy
 * counters (1 ms). Energy and shares are always of the same interval.
 */
#pragma once

#include "machine/energy/energy_counters.h"
#include "machine/energy/gpu_energy.h"
#include "machine/gpu/gpu.h"
#include "model/energy.h"

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Power: the mean of each figure of energy over the last second or so, and the highest mean over
 * about a second. Shorter intervals would show when devices update their counters, which they do at
 * times of their own.
 */

struct energy_power {
    double watts[GPUT_ENERGY_FIGURE_COUNT]; /* NaN: not known */

    int64_t since_ns;                        /* start of the interval being measured; 0: none yet */
    double joules[GPUT_ENERGY_FIGURE_COUNT]; /* then */
    bool known[GPUT_ENERGY_FIGURE_COUNT];    /* known at some time so far */
};

void energy_power_init(struct energy_power *power);

/* Sets the joules so far (NaN: not known; none before it is first known). Power is known after 100
 * ms, and then updated at most every second. */
void energy_power_add(
    struct energy_power *power, const double joules[GPUT_ENERGY_FIGURE_COUNT], int64_t now_ns);

/* ---- The maximum ---- */

/* Intervals of 0.1 s or more in a second, and a few more. */
#define ENERGY_PEAK_INTERVALS 16

struct energy_peak {
    double watts; /* NaN: none yet. Until an interval is long enough, the mean so far */

    bool has_stretch; /* some interval was long enough */
    size_t count;     /* of the intervals up to now */
    double joules[ENERGY_PEAK_INTERVALS], seconds[ENERGY_PEAK_INTERVALS];
};

void energy_peak_init(struct energy_peak *peak);

/* Adds the interval that follows the last one. */
void energy_peak_add(struct energy_peak *peak, double joules, double seconds);

/* The next interval does not follow: between them joules are not known. */
void energy_peak_break(struct energy_peak *peak);

/* Figures of one moment from which shares are computed. CPU times are since the start of the
 * session; others are current. */
struct energy_shares {
    double main_cpu_seconds, descendants_cpu_seconds; /* by their CPU clocks */
    double other_cpu_seconds;                         /* of all others: struct other_cpu */
    double machine_busy_seconds;                      /* of all, in the kernel's clock ticks */
    double machine_cpu_seconds;                       /* busy and idle */
    double main_ram_bytes, combined_ram_bytes;        /* each page once */
    double machine_ram_bytes;                         /* in use */
    const struct gpu_sample *gpus;                    /* NULL: none */
    const struct gpu_device *gpu_devices;             /* as many as gpus->n_devices */
    bool is_last;                                     /* no later ones follow */
};

struct energy_meter {
    const char *sysfs_root;
    struct energy_counters cpu;
    struct gpu_energy gpus[GPU_MAX_DEVICES];
    bool shares_out; /* there are processes to attribute energy to; true unless set otherwise */
    bool skips_cpu;  /* to another tracker: its counters and batteries are not read */
    bool has_battery;
    int64_t start_ns; /* of the session, set before the first reading; 0: that first reading */

    int64_t since_ns; /* start of the interval being measured; 0: none yet */
    struct energy_shares since;

    struct gput_energy energy; /* so far; `unit` and `co2e_grams` are the caller's */
    /* The tracked processes' share of those joules; NaN: not known. */
    double package_share, dram_share, gpu_share;
    double gpu_main_share;                /* that of main alone */
    double main_share, descendants_share; /* the same sums of main, descendants and others */
    struct energy_peak peak;
    bool was_partial;         /* the last interval's total was known only in part */
    bool gpu_is_lost;         /* the joules of some GPU are not known any more */
    bool gpu_by_use;          /* some GPU was shared out by SM use */
    bool gpu_by_memory;       /* some GPU, by memory in use */
    double unshared_joules;   /* of GPUs, unattributed: their users were not known */
    char why_no_battery[256]; /* why it is not known whether there is a battery; "" */
};

/* Finds the counters. `sysfs_root` must live as long as the meter. The caller calls
 * energy_meter_finish(). */
void energy_meter_init(struct energy_meter *meter, const char *sysfs_root);
void energy_meter_finish(struct energy_meter *meter);

/* Whether anything can be metered on this machine: if false, updates cost nothing. */
bool energy_meter_has_any(const struct energy_meter *meter);

/*
 * Ends the interval that the call before has begun, if any, and begins the next. The figures are
 * then in `energy`. Those of GPUs and the total can be less at the last call, where a driver was
 * late and more power was extrapolated than its counter has.
 */
void energy_meter_read(struct energy_meter *meter, const struct energy_shares *now, int64_t now_ns);

/* An upper bound of the seconds for which some package, DRAM or GPU gave no joules while others of
 * its kind did: they are missing in the sums. */
double energy_meter_unknown_seconds(const struct energy_meter *meter);

/*
 * The joules so far, in the order of enum gput_energy_figure. Unlike in `energy`, which keeps what
 * was counted, a figure becomes NaN when it is not known any more: that is not the same as 0.
 */
void energy_meter_figures(
    const struct energy_meter *meter, double joules[GPUT_ENERGY_FIGURE_COUNT]);
double energy_meter_gpu_joules(const struct energy_meter *meter, size_t i);

/* Whether the total is only known up to some moment. */
bool energy_meter_is_partial(const struct energy_meter *meter);

/* Writes all faults of GPU figures, as far as there is space; "" when nothing is. */
void energy_meter_explain_gpus(const struct energy_meter *meter, char *text, size_t size);

/* Whether some GPU has no counter, so that its power was integrated. */
bool energy_meter_integrates_power(const struct energy_meter *meter);

/*
 * When energy_meter_update_counters() must read the counters even if no interval ends, so that none
 * wraps unnoticed; INT64_MAX: never. A 65 kJ counter wraps every 3.6 minutes at 300 W.
 */
int64_t energy_meter_due_ns(const struct energy_meter *meter);

/* Before the first energy_meter_read(), too: joules of the CPU then count from there. */
void energy_meter_update_counters(struct energy_meter *meter, int64_t now_ns);

/*
 * CPU time of the processes that are not tracked: that of the machine minus that of the tracked
 * ones.
 *
 * The kernel counts the machine's CPU time in clock ticks, mostly for the process that runs at the
 * moment of a tick, and that of a tracked process in nanoseconds. So in a short interval the CPU
 * time of tracked processes is known but not that of others: one tick is many times what a quiet
 * process uses. Theirs is the mean rate over an interval up to now that has enough ticks. It is
 * weighted by the CPU time of tracked processes, which makes it right also for processes that run
 * in step with these, or alternate with them.
 */

/* CPU time of the machine with which that of the others is known to about 10 %: 100 ticks. */
#define OTHER_CPU_ENOUGH_SECONDS 1.0
/* Readings of 10 s at intervals of 0.1 s. */
#define OTHER_CPU_READINGS 101

struct other_cpu_reading {
    int64_t time_ns;
    double busy_seconds;    /* of the machine since the beginning */
    double tracked_seconds; /* of the tracked processes */
    /* Sums over the intervals since the beginning, each by what the tracked ones used in it. */
    double weighted_use, weighted_time;
};

struct other_cpu {
    double seconds; /* used by the others since the beginning, while the tracked ones ran */
    /* A ring buffer; from the start of the interval to the last reading. */
    struct other_cpu_reading readings[OTHER_CPU_READINGS];
    size_t first, count;
};

/* The beginning: nothing was used yet. */
void other_cpu_begin(struct other_cpu *others, int64_t now_ns);

/* Adds what was used since the last reading. */
void other_cpu_read(
    struct other_cpu *others, int64_t now_ns, double busy_seconds, double tracked_seconds);
