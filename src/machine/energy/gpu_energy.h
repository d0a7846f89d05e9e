/*
 * Joules of one GPU: by its energy counter, else by its power, integrated over time. And its use by
 * tracked and other processes, by which its joules are shared out.
 *
 * A driver may answer at any time, so every figure is of the moment at which it was read. Joules at
 * other moments are interpolated between two readings; after the last one, its power is
 * extrapolated until the next reading.
 */
#pragma once

#include "machine/energy/energy_counters.h"
#include "machine/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reading of a driver. */
struct gpu_energy_reading {
    int64_t read_ns;      /* time of the reading; 0: there is none */
    double power_watts;   /* NaN: not available, or computed from the counter */
    double energy_joules; /* NaN: not available */
    int64_t energy_ns;    /* when that was read, if earlier; else 0 */
};

struct gpu_energy {
    double joules;       /* since the start, as of the last call; NaN: not known. Only
                            gpu_energy_take_back() makes it less */
    bool is_lost;        /* joules were known, but are not any more */
    bool has_counter;    /* its counter was read; else the power is integrated */
    bool counter_failed; /* and later it could not be, at least once */
    bool power_stood_in; /* for a faulty counter, at least once */

    int64_t since_ns;    /* what was used before does not count */
    int64_t now_ns;      /* moment of the last call */
    int64_t read_ns;     /* of the last reading; 0: none yet */
    double power_watts;  /* then */
    double mean_watts;   /* between the last two readings */
    double read_joules;  /* up to the last reading; NaN: not known */
    double ahead_joules; /* of those, taken from the power and still to come from the counter */

    struct energy_counter counter;
    double counted_joules, integrated_joules, seconds; /* over the intervals that have both */
    double unknown_seconds;                            /* of which the joules are not known */
};

/* Joules count from `since_ns` on. */
void gpu_energy_init(struct gpu_energy *gpu, int64_t since_ns);

/* Adds the driver's last reading, which may be the same as before. Returns the joules since the
 * last call; NaN: not known. */
double gpu_energy_advance(
    struct gpu_energy *gpu, const struct gpu_energy_reading *reading, int64_t now_ns);

/* At the end: makes the joules those of the readings, where power that was extrapolated came to
 * more and nothing follows that uses it up. Returns how much less they are. */
double gpu_energy_take_back(struct gpu_energy *gpu);

/* For how much of the time so far the joules are not known; 0 before the first call. */
double gpu_energy_unknown_seconds(const struct gpu_energy *gpu);

/* Writes faults with the figure of the `index`th GPU ("the counter of GPU 0 did not advance; …");
 * false when nothing is. */
bool gpu_energy_explain(const struct gpu_energy *gpu, size_t index, char *text, size_t size);

/* ---- Users ---- */

enum gpu_users_basis {
    GPU_USERS_UNKNOWN, /* some may be tracked, but how much they use is not known */
    GPU_USERS_BY_USE,  /* of its processors, in percent */
    GPU_USERS_BY_MEMORY,
};

struct gpu_users {
    enum gpu_users_basis basis;
    double main, descendants, all; /* parts and the whole, in that unit; not set when unknown */
};

/* Finds how much is used of the device at `index` of the sample, as far as its driver says it; for
 * the first MIG instance of a card, of all instances together. */
struct gpu_users gpu_users_find(
    const struct gpu_sample *sample, const struct gpu_device *devices, size_t index);
