/*
 * The samples of a tracking file in a few sums, read as a stream.
 */
#pragma once

#include "formats/tracking/tracking_reader.h"

/* All doubles, without gaps: it is hashed. */
struct tracking_samples {
    double jump; /* between two times, where the clock was set; 0: none */
    double first, last, cpu_seconds, gpu_sum, count, gpu_count, system_sum, system_count;
    double max_ram, max_gpu_ram; /* in the units of the file */
};

/* Reads all that is left. Errors: those of tracking_reader_next(). */
int tracking_samples_read(
    struct tracking_reader *reader, struct tracking_samples *samples, struct gput_error *error);

/* Equal for the copies of a file, which may have no identity next to them. 0: it has no samples. */
uint64_t tracking_samples_hash(const struct tracking_samples *samples);
