#include "nvml_watch.h"

#include "monotonic.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define WATCH_NS (2 * NS_PER_MS)
enum { ENERGY_READS = 5, SLOW_READS = 10 }; /* each so many readings of memory */

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void keep_max(double *max, double value)
{
    if (!isnan(value) && !(*max >= value))
        *max = value;
}

static void add_reading(struct nvml_watch *watch, struct nvml_reading reading)
{
    if (watch->n_readings == watch->capacity) {
        size_t capacity = watch->capacity ? watch->capacity * 2 : 1024;
        void *readings = realloc(watch->readings, capacity * sizeof reading);
        if (!readings)
            return;
        watch->readings = readings;
        watch->capacity = capacity;
    }
    watch->readings[watch->n_readings++] = reading;
}

/* The time of the energy counter's value is the middle of its call. */
static void read_figures(struct nvml_watch *watch, unsigned number)
{
    struct nvml_reading reading = {0, NAN, NAN, NAN, NAN};
    double before_s = wall_s();
    reading.joules = nvml_reference_read(watch->nvml, NVML_ENERGY);
    reading.time_s = (before_s + wall_s()) / 2;
    if (number % SLOW_READS == 0) {
        keep_max(&watch->max_process_bytes,
            nvml_reference_read(watch->nvml, NVML_PROCESSES) - watch->nvml->bytes_before);
        reading.utilization_percent = nvml_reference_read(watch->nvml, NVML_UTILIZATION);
        reading.watts = nvml_reference_read(watch->nvml, NVML_POWER);
        keep_max(&watch->max_watts, reading.watts);
        watch->min_watts = fmin(watch->min_watts, reading.watts);
        reading.process_percent = nvml_reference_read(watch->nvml, NVML_PROCESS_UTILIZATION);
        keep_max(&watch->max_percent, reading.utilization_percent);
        keep_max(&watch->max_process_percent, reading.process_percent);
    }
    add_reading(watch, reading);
}

static void *watch_run(void *argument)
{
    struct nvml_watch *watch = argument;
    unsigned number = 0;
    for (uint64_t next = monotonic_now_ns(); !watch->is_stopping; number++) {
        keep_max(&watch->max_used_bytes, nvml_reference_read(watch->nvml, NVML_MEMORY));
        if (number % ENERGY_READS == 0)
            read_figures(watch, number);
        next += WATCH_NS;
        if (next < monotonic_now_ns())
            next = monotonic_now_ns(); /* no burst after a delay */
        monotonic_sleep_until(next);
    }
    read_figures(watch, 0);
    return NULL;
}

bool nvml_watch_start(struct nvml_watch *watch, struct nvml_reference *nvml)
{
    *watch = (struct nvml_watch){.nvml = nvml,
        .max_used_bytes = NAN,
        .max_process_bytes = NAN,
        .min_watts = NAN,
        .max_watts = NAN,
        .max_percent = NAN,
        .max_process_percent = NAN};
    return pthread_create(&watch->thread, NULL, watch_run, watch) == 0;
}

void nvml_watch_stop(struct nvml_watch *watch)
{
    watch->is_stopping = true;
    pthread_join(watch->thread, NULL);
}

void nvml_watch_finish(struct nvml_watch *watch)
{
    free(watch->readings);
    watch->readings = NULL;
    watch->n_readings = watch->capacity = 0;
}

static double overlap(double from_s, double to_s, double start_s, double end_s)
{
    double start = fmax(from_s, start_s), end = fmin(to_s, end_s);
    return end > start ? end - start : 0;
}

static double mean(
    const struct nvml_watch *watch, double from_s, double to_s, size_t offset_of_figure)
{
    double sum = 0, seconds = 0, value = NAN, start_s = 0;
    for (size_t i = 0; i <= watch->n_readings; i++) {
        bool is_end = i == watch->n_readings;
        const struct nvml_reading *reading = is_end ? NULL : &watch->readings[i];
        double next = is_end ? NAN : *(const double *)((const char *)reading + offset_of_figure);
        if (!is_end && isnan(next))
            continue;
        if (!isnan(value)) {
            double end_s = watch->readings[is_end ? i - 1 : i].time_s;
            double held_s = overlap(from_s, to_s, start_s, end_s);
            sum += value * held_s;
            seconds += held_s;
        }
        value = next;
        start_s = is_end ? 0 : reading->time_s;
    }
    return seconds > 0 ? sum / seconds : NAN;
}

double nvml_watch_mean_utilization(const struct nvml_watch *watch, double from_s, double to_s)
{
    return mean(watch, from_s, to_s, offsetof(struct nvml_reading, utilization_percent));
}

double nvml_watch_mean_process(const struct nvml_watch *watch, double from_s, double to_s)
{
    return mean(watch, from_s, to_s, offsetof(struct nvml_reading, process_percent));
}

double nvml_watch_mean_watts(const struct nvml_watch *watch, double from_s, double to_s)
{
    return mean(watch, from_s, to_s, offsetof(struct nvml_reading, watts));
}

static double joules_at(const struct nvml_watch *watch, double time_s)
{
    const struct nvml_reading *before = NULL;
    for (size_t i = 0; i < watch->n_readings; i++) {
        const struct nvml_reading *reading = &watch->readings[i];
        if (isnan(reading->joules))
            continue;
        if (reading->time_s >= time_s) {
            if (!before)
                return reading->joules;
            double share = (time_s - before->time_s) / (reading->time_s - before->time_s);
            return before->joules + share * (reading->joules - before->joules);
        }
        before = reading;
    }
    return before ? before->joules : NAN;
}

double nvml_watch_joules(const struct nvml_watch *watch, double from_s, double to_s)
{
    return joules_at(watch, to_s) - joules_at(watch, from_s);
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double nvml_watch_renewal_s(const struct nvml_watch *watch)
{
    double *intervals = malloc((watch->n_readings + 1) * sizeof *intervals);
    double changed_s = NAN, value = NAN, median;
    size_t count = 0;
    for (size_t i = 0; intervals && i < watch->n_readings; i++) {
        const struct nvml_reading *reading = &watch->readings[i];
        if (isnan(reading->joules) || reading->joules == value)
            continue;
        if (!isnan(changed_s))
            intervals[count++] = reading->time_s - changed_s;
        changed_s = isnan(value) ? NAN : reading->time_s;
        value = reading->joules;
    }
    if (intervals)
        qsort(intervals, count, sizeof *intervals, compare_doubles);
    median = count ? intervals[count / 2] : NAN;
    free(intervals);
    return median;
}

double nvml_watch_gap_s(const struct nvml_watch *watch, double time_s)
{
    for (size_t i = 1; i < watch->n_readings; i++)
        if (watch->readings[i].time_s >= time_s)
            return watch->readings[i].time_s - watch->readings[i - 1].time_s;
    return NAN;
}

double nvml_watch_longest_gap_s(const struct nvml_watch *watch, double from_s, double to_s)
{
    double longest_s = 0, before_s = from_s;
    for (size_t i = 0; i < watch->n_readings; i++) {
        const struct nvml_reading *reading = &watch->readings[i];
        if (isnan(reading->watts) || reading->time_s < from_s || reading->time_s > to_s)
            continue;
        longest_s = fmax(longest_s, reading->time_s - before_s);
        before_s = reading->time_s;
    }
    return fmax(longest_s, to_s - before_s);
}
