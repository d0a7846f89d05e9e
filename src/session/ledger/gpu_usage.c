#include "session/ledger/gpu_usage.h"

#include "base/array.h"
#include "base/number.h"
#include "machine/gpu/unlisted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gpu_usage_finish(struct gpu_usage *usage)
{
    free(usage->devices);
    *usage = (struct gpu_usage){0};
}

static void reserve(struct gpu_usage *usage, size_t count)
{
    if (count > usage->capacity) {
        if (!ARRAY_RESIZE(usage->devices, count))
            return;
        usage->capacity = count;
    }
    if (count > usage->n_devices) {
        size_t more = count - usage->n_devices;
        memset(&usage->devices[usage->n_devices], 0, more * sizeof *usage->devices);
        usage->n_devices = count;
    }
}

static void add_untracked(struct gpu_usage_device *usage, const struct gpu_device_sample *device)
{
    usage->may_have_others |= device->may_have_others;
    if (isnan(device->untracked_ram_bytes))
        return;
    if (!usage->has_untracked || device->untracked_ram_bytes < usage->min_untracked_bytes)
        usage->min_untracked_bytes = device->untracked_ram_bytes;
    usage->has_untracked = true;
}

static void add(struct gpu_usage_value *value, double figure, double seconds)
{
    value->last = figure;
    if (isnan(figure))
        return;
    if (!value->has)
        value->first = value->max = figure;
    value->has = true;
    if (figure > value->max)
        value->max = figure;
    value->weighted += figure * seconds;
    value->seconds += seconds;
    if (seconds > 0) {
        value->sum += figure;
        value->count++;
    }
}

/* A driver answers within this time, if it is not late. */
#define LATE_SECONDS 0.25

static void add_list_age(struct gpu_usage *usage, const struct gpu_sample *sample)
{
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        bool has_changed = device->bounds_ram && device->is_ram_changed;
        double seconds = has_changed ? sample->process_age_seconds : 0;
        if (seconds > LATE_SECONDS && seconds > usage->late_list_seconds)
            usage->late_list_seconds = seconds;
    }
}

/* A sample may have a reading that one before it had, too. */
static void add_reading_time(struct gpu_usage_device *usage, int64_t read_ns)
{
    if (read_ns == 0)
        return;
    if (usage->first_read_ns == 0)
        usage->first_read_ns = read_ns;
    usage->last_read_ns = read_ns;
}

void gpu_usage_add(struct gpu_usage *usage, const struct gpu_sample *sample, double seconds)
{
    reserve(usage, sample->n_devices);
    for (size_t i = 0; i < usage->n_devices && i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        const double figures[GPU_USAGE_FIGURES] = {
            [GPU_USAGE_RAM] = device->ram_used_bytes,
            [GPU_USAGE_MAIN_RAM] = device->main_ram_bytes,
            [GPU_USAGE_DESCENDANTS_RAM] = device->descendants_ram_bytes,
            [GPU_USAGE_COMBINED_RAM] = device->combined_ram_bytes,
            [GPU_USAGE_UTILIZATION] = device->utilization_percent,
            [GPU_USAGE_MAIN_SM] = device->main_sm_percent,
            [GPU_USAGE_DESCENDANTS_SM] = device->descendants_sm_percent,
            [GPU_USAGE_POWER] = device->power_watts,
        };
        for (int figure = 0; figure < GPU_USAGE_FIGURES; figure++)
            add(&usage->devices[i].values[figure], figures[figure], seconds);
        add_untracked(&usage->devices[i], device);
        add_reading_time(&usage->devices[i], device->read_ns);
    }
    add_list_age(usage, sample);
}

void gpu_usage_add_card(struct gpu_usage *usage, size_t device, const struct card_reading *reading)
{
    if (device < usage->n_devices)
        card_usage_add(&usage->devices[device].card, reading, usage->devices[device].last_read_ns);
}

const struct card_usage *gpu_usage_card(const struct gpu_usage *usage, size_t device)
{
    return device < usage->n_devices ? &usage->devices[device].card : NULL;
}

double gpu_usage_max(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure)
{
    if (device >= usage->n_devices || !usage->devices[device].values[figure].has)
        return NAN;
    return usage->devices[device].values[figure].max;
}

double gpu_usage_last(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure)
{
    return device < usage->n_devices ? usage->devices[device].values[figure].last : NAN;
}

static bool is_of_interval(enum gpu_usage_figure figure)
{
    return figure == GPU_USAGE_POWER || figure == GPU_USAGE_MAIN_SM ||
           figure == GPU_USAGE_DESCENDANTS_SM;
}

double gpu_usage_mean(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure)
{
    if (device >= usage->n_devices || !usage->devices[device].values[figure].has)
        return NAN;
    const struct gpu_usage_value *value = &usage->devices[device].values[figure];
    if (value->count == 0)
        return value->first;
    if (is_of_interval(figure))
        return value->weighted / value->seconds;
    return value->sum / (double)value->count;
}

double gpu_usage_combined_ram_at_most(const struct gpu_usage *usage, size_t device)
{
    if (device >= usage->n_devices)
        return NAN;
    const struct gpu_usage_device *of = &usage->devices[device];
    /* Drivers can hide processes from a container. Each would use more than that. */
    bool is_alone = of->has_untracked && of->min_untracked_bytes < GPU_MIN_CONTEXT_BYTES;
    if (of->may_have_others || !is_alone)
        return NAN;
    double at_most = of->values[GPU_USAGE_RAM].max - of->min_untracked_bytes;
    double listed = gpu_usage_max(usage, device, GPU_USAGE_COMBINED_RAM);
    return at_most < listed ? NAN : at_most;
}

double gpu_usage_sum(const struct gpu_usage *usage, enum gpu_usage_figure figure)
{
    double sum = NAN;
    for (size_t i = 0; i < usage->n_devices; i++) {
        const struct gpu_usage_value *value = &usage->devices[i].values[figure];
        if (isnan(value->last) && value->has)
            return NAN;
        if (value->has)
            number_add_known(&sum, value->last);
    }
    return sum;
}
