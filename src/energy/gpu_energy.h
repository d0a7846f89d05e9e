/*
 * Joules of one GPU: by its energy counter, else by its power, integrated over time.
 *
 * A driver answers when it likes, so every figure is of the moment at which it was read. Joules are
 * summed up on that clock, and those at any other moment are read off the line between two
 * readings; past the last one, the power of then is taken on until the next reading tells.
 */
#ifndef ENERGY_GPU_ENERGY_H
#define ENERGY_GPU_ENERGY_H

#include "energy/energy_counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a driver said. */
struct gpu_energy_reading {
    int64_t read_ns;      /* when; 0: it says nothing */
    double power_watts;   /* NaN: not told, or made of the counter */
    double energy_joules; /* NaN: not told */
};

struct gpu_energy {
    double joules;    /* from the start on, as of the last call; never goes back; NaN: not known */
    bool is_lost;     /* joules were known, and do not go on */
    bool has_counter; /* its counter was read; else the power is integrated */
    bool counter_failed; /* and later it could not be, at least once */
    bool power_stood_in; /* for a counter at fault, at least once */

    int64_t since_ns;    /* what was used before does not count */
    int64_t now_ns;      /* moment of the last call */
    int64_t read_ns;     /* of the last reading; 0: none yet */
    double power_watts;  /* then */
    double mean_watts;   /* between the last two readings */
    double read_joules;  /* up to the last reading; NaN: not known */
    double ahead_joules; /* of those, taken from the power and still to come from the counter */

    struct energy_counter counter;
    double counted_joules, integrated_joules, seconds; /* over the stretches that have both */
    double unknown_seconds;                            /* of which nothing told the joules */
};

/* Joules count from `since_ns` on. */
void gpu_energy_init(struct gpu_energy *gpu, int64_t since_ns);

/* Takes what the driver said last, which may be what it said before. Returns the joules since the
 * call before; NaN: not known. */
double gpu_energy_advance(
    struct gpu_energy *gpu, const struct gpu_energy_reading *reading, int64_t now_ns);

/* Of the time so far, how much nothing told the joules of; 0 where no call was made for it. */
double gpu_energy_unknown_seconds(const struct gpu_energy *gpu);

/* Writes what is wrong with the figure of the `index`th GPU ("that of GPU 0 stood still; …"); false
 * when nothing is. */
bool gpu_energy_explain(const struct gpu_energy *gpu, size_t index, char *text, size_t size);

#endif
