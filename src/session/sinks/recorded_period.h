/*
 * A measurement period of a recording of power: what was known at its start, and what was counted
 * since. It becomes two lines of the recording, in AIPowerMeter's terms.
 */
#pragma once

#include "base/doc.h"
#include "machine/gpu/gpu.h"
#include "session/ledger/gpu_usage.h"
#include "session/sampler/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

/* The state at one moment: memory, and use of the GPUs. It becomes a line of the recording when the
 * powers of its period are added. All zeroes: none. */
struct recorded_states {
    struct doc *metrics;          /* owned; parts of it: */
    struct doc *cpu, *gpu;        /* gpu NULL: there was no GPU */
    struct doc *memories, *rates; /* by GPU */
    int64_t date_ns;              /* since the epoch */
};

/* A process as of the last line. */
struct recorded_process {
    pid_t pid;
    uint64_t start_time_ticks;
    int64_t cpu_ns;
};

struct recorded_period {
    const struct snapshot *snapshot; /* of the tick that is being recorded */
    struct gpu_usage gpu_usage;      /* of the session so far */
    int64_t since_ns;                /* 0: none has begun */
    int64_t since_time_ns;           /* since the epoch, by the wall clock as the segment began */
    struct recorded_states start;
    double other_seconds; /* CPU time of processes that are not tracked */
    int64_t tree_cpu_ns;
    /* Joules as of the start, as tracking files have them; NaN: they were known before, but do not
     * continue. */
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    double gpu_joules[GPU_MAX_DEVICES];
    double package_share, dram_share;   /* joules of the tree, from the energy meter */
    struct recorded_process *processes; /* owned */
    size_t n_processes;
};

/* How long it was, and its mean powers in watts. */
struct period_powers {
    double seconds;
    double other_seconds; /* CPU time of processes that are not tracked */
    double watts[GPUT_ENERGY_FIGURE_COUNT];
    double tree_package, tree_dram; /* the part of these that the tracked processes used */
};

/* Replaces the states by those of the snapshot. Without memory the document has failed. */
void recorded_states_take(
    const struct recorded_period *period, int64_t date_ns, struct recorded_states *states);

void recorded_states_finish(struct recorded_states *states);

/* Begins with the snapshot; the first period with the session, at `start_ns`. */
void recorded_period_begin(struct recorded_period *period);
void recorded_period_begin_first(struct recorded_period *period, int64_t start_ns);
void recorded_period_finish(struct recorded_period *period);

/* Whether the same figures are known as at its start. */
bool recorded_period_goes_on(const struct recorded_period *period);

/* Whether some process has not ended. */
bool recorded_period_has_memory(const struct recorded_period *period);

/* The date of the sample, counted from the start of the period by the monotonic clock. So dates
 * count the seconds that powers were divided by, also where the machine was suspended. */
int64_t recorded_period_date_ns(const struct recorded_period *period);

/* Whether the machine was suspended in it: what follows is dated anew. */
bool recorded_period_was_suspended(const struct recorded_period *period);

/* Returns what was counted in the period, with what is lost at its end and without what was
 * there at its start. */
struct period_powers recorded_period_measure(const struct recorded_period *period);

/* The states with the powers of the period, as a document of the caller's. NULL without memory. */
struct doc *recorded_period_line(const struct recorded_period *period,
    const struct period_powers *powers, struct recorded_states *states);
