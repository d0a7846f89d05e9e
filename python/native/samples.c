/* Keeps samples of a session in a limited amount of memory, for charts. */
#include "native.h"

#include <math.h>
#include <stdlib.h>

void native_samples_init(struct native_samples *samples)
{
    *samples = (struct native_samples){.merged = 1};
    pthread_mutex_init(&samples->lock, NULL);
}

void native_samples_finish(struct native_samples *samples)
{
    free(samples->items);
    pthread_mutex_destroy(&samples->lock);
}

/* Gives an item the higher figures of both. */
static void merge(struct native_sample *into, const struct native_sample *other)
{
    into->ram_bytes = fmax(into->ram_bytes, other->ram_bytes);
    into->gpu_ram_bytes = fmax(into->gpu_ram_bytes, other->gpu_ram_bytes);
    into->cpu_percent = fmax(into->cpu_percent, other->cpu_percent);
    into->gpu_percent = fmax(into->gpu_percent, other->gpu_percent);
    into->device_ram_bytes = fmax(into->device_ram_bytes, other->device_ram_bytes);
}

/* Makes each two neighbours one item, so that there is space for as many again. */
static void halve(struct native_samples *samples)
{
    for (size_t i = 0; i < samples->count / 2; i++) {
        struct native_sample item = samples->items[2 * i];
        merge(&item, &samples->items[2 * i + 1]);
        samples->items[i] = item;
    }
    samples->count /= 2;
    samples->merged *= 2;
    samples->pending = samples->merged;
}

/* Adds a sample to the last item while that stands for fewer samples than it may, else as a new
 * item. */
static void add_item(struct native_samples *samples, const struct native_sample *item)
{
    if (!samples->items)
        samples->items = malloc(samples->capacity * sizeof *samples->items);
    if (!samples->items)
        return;
    if (samples->count > 0 && samples->pending < samples->merged) {
        merge(&samples->items[samples->count - 1], item);
        samples->pending++;
        return;
    }
    if (samples->count == samples->capacity)
        halve(samples);
    samples->items[samples->count++] = *item;
    samples->pending = 1;
}

/* Called by the sampling thread. The first and the last sample are kept apart from the items, and a
 * sample becomes an item when the next one comes. */
void native_samples_add(struct native_samples *samples, const struct gput_sample *sample)
{
    struct native_sample item = {
        .seconds = (double)sample->time_ns / 1e9,
        .ram_bytes = sample->values[GPUT_COMBINED_RAM],
        .gpu_ram_bytes = sample->values[GPUT_COMBINED_GPU_RAM],
        .cpu_percent = sample->values[GPUT_CPU_COMBINED_SUM],
        .gpu_percent = sample->values[GPUT_GPU_SUM_UTILIZATION],
        .device_ram_bytes = sample->values[GPUT_SYSTEM_GPU_RAM],
    };
    pthread_mutex_lock(&samples->lock);
    if (samples->added == 0)
        samples->first = item;
    else if (samples->added > 1)
        add_item(samples, &samples->last);
    samples->last = item;
    samples->added++;
    pthread_mutex_unlock(&samples->lock);
}

/* Copies all samples at one moment, so that the sampling thread never waits for Python. Returns how
 * many there are. */
static size_t copy_all(struct native_samples *samples, struct native_sample *copy)
{
    size_t count = 0;
    pthread_mutex_lock(&samples->lock);
    if (samples->added > 0)
        copy[count++] = samples->first;
    for (size_t i = 0; i < samples->count; i++)
        copy[count++] = samples->items[i];
    if (samples->added > 1)
        copy[count++] = samples->last;
    pthread_mutex_unlock(&samples->lock);
    return count;
}

/* Makes Python objects of a copy, so the lock is not held meanwhile. */
PyObject *native_samples_list(struct native_samples *samples)
{
    struct native_sample *copy = malloc((samples->capacity + 2) * sizeof *copy);
    if (!copy)
        return PyErr_NoMemory();
    size_t count = copy_all(samples, copy);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < count && list; i++) {
        const struct native_sample *sample = &copy[i];
        PyObject *item =
            Py_BuildValue("dddddd", sample->seconds, sample->ram_bytes, sample->gpu_ram_bytes,
                sample->cpu_percent, sample->gpu_percent, sample->device_ram_bytes);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    free(copy);
    return list;
}
