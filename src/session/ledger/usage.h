/*
 * Usage so far: maximum and mean of every measurement. Samples are not kept.
 */
#pragma once

#include <gputracker/measurement.h>

#include <stdint.h>

struct usage {
    double max[GPUT_MEASUREMENT_COUNT];      /* NaN: never read */
    double weighted[GPUT_MEASUREMENT_COUNT]; /* sum of figure x seconds */
    double seconds[GPUT_MEASUREMENT_COUNT];  /* sum of those seconds */
    double sum[GPUT_MEASUREMENT_COUNT];      /* of the figures of all samples with an interval */
    uint64_t count[GPUT_MEASUREMENT_COUNT];  /* of those samples */
    double first[GPUT_MEASUREMENT_COUNT];    /* first figure: the mean while no time has passed */
    double last[GPUT_MEASUREMENT_COUNT];     /* of the last sample */
};

void usage_init(struct usage *usage);

/* Adds a sample with the `seconds` since the previous one as its weight. 0: the baseline, taken
 * at the start, which is no row of the tracking file and counts for the maximum only. */
void usage_add(struct usage *usage, const struct gput_sample *sample, double seconds);

/*
 * CPU percents cover the time since the sample before, and are weighted by it; those of what is
 * tracked are known better by its CPU time (ledger.c). Everything else is of the moment of
 * its sample: all rows of the tracking file count alike, as in an analysis of it. NaN when it was
 * never read.
 */
double usage_mean(const struct usage *usage, enum gput_measurement_id id);
