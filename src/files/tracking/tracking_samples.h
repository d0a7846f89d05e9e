/*
 * The samples of a tracking file in a few sums, read as a stream.
 */
#pragma once

#include "files/tracking/tracking_reader.h"

#include <stdbool.h>
#include <stdint.h>

/* Without gaps: it is hashed. */
struct tracking_samples {
    double jump; /* between two times, where the clock was set; 0: none */
    double first, last, cpu_seconds, gpu_sum, system_sum;
    double count, cpu_count, gpu_count, system_count; /* rows, and those with a value */
    double max_ram, max_gpu_ram;                      /* in the units of the file */
    double first_cpu_percent; /* of the time before the first row; not in cpu_seconds */
    uint64_t first_row;       /* a hash of it; 0: there is none */
};

/* Reads all that is left. Errors: those of tracking_reader_next(). */
int tracking_samples_read(
    struct tracking_reader *reader, struct tracking_samples *samples, struct gput_error *error);

/* Whether a file is the beginning of another, in CSV: a copy that was made while that was written.
 * What follows its last line end does not count. */
bool tracking_samples_begin(const char *path, const char *other);

/* Equal for the copies of a file, which may have no identity next to them. 0: it has no samples. */
uint64_t tracking_samples_hash(const struct tracking_samples *samples);
