/*
 * What another thread sees of the GPU between start and stop: memory every 2 ms, the energy counter
 * every 10 ms, the rest every 20 ms.
 */
#pragma once

#include "nvml_reference.h"

#include <pthread.h>

/* One reading; NaN: the driver did not say, or it was not yet time to read that again. */
struct nvml_reading {
    double time_s; /* CLOCK_REALTIME, as tracking files have it */
    double utilization_percent, process_percent, watts, joules; /* process: the busiest */
};

struct nvml_watch {
    struct nvml_reference *nvml;
    pthread_t thread;
    _Atomic bool is_stopping;
    double max_used_bytes, max_process_bytes; /* that of processes: without bytes_before */
    double min_watts, max_watts, max_percent, max_process_percent;
    size_t n_readings, capacity;
    struct nvml_reading *readings;
};

bool nvml_watch_start(struct nvml_watch *watch, struct nvml_reference *nvml);
void nvml_watch_stop(struct nvml_watch *watch);
void nvml_watch_finish(struct nvml_watch *watch);

/* Means over a span, in which each value holds until the next one; NaN: there is none. */
double nvml_watch_mean_utilization(const struct nvml_watch *watch, double from_s, double to_s);
double nvml_watch_mean_process(const struct nvml_watch *watch, double from_s, double to_s);
double nvml_watch_mean_watts(const struct nvml_watch *watch, double from_s, double to_s);

/* What the energy counter rose by in a span, between readings as if it rose evenly. */
double nvml_watch_joules(const struct nvml_watch *watch, double from_s, double to_s);
/* The median time between two changes of the counter, in seconds; NaN: fewer than three were seen.
 */
double nvml_watch_renewal_s(const struct nvml_watch *watch);
/* The longest time without a reading of power in a span. */
double nvml_watch_longest_gap_s(const struct nvml_watch *watch, double from_s, double to_s);
/* The time between the readings around a moment. */
double nvml_watch_gap_s(const struct nvml_watch *watch, double time_s);
