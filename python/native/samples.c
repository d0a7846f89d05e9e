/* Samples that are kept for a chart. */
#include "native.h"

#include <math.h>
#include <stdlib.h>

#define CAPACITY 4096

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

static void merge(struct native_sample *into, const struct native_sample *other)
{
    into->ram_bytes = fmax(into->ram_bytes, other->ram_bytes);
    into->gpu_ram_bytes = fmax(into->gpu_ram_bytes, other->gpu_ram_bytes);
}

/* Room for as many again. */
static void halve(struct native_samples *samples)
{
    for (size_t i = 0; i < CAPACITY / 2; i++) {
        struct native_sample item = samples->items[2 * i];
        merge(&item, &samples->items[2 * i + 1]);
        samples->items[i] = item;
    }
    samples->count = CAPACITY / 2;
    samples->merged *= 2;
    samples->pending = samples->merged;
}

void native_samples_add(struct native_samples *samples, const struct gput_sample *sample)
{
    struct native_sample item = {
        .seconds = (double)sample->time_ns / 1e9,
        .ram_bytes = sample->values[GPUT_COMBINED_RAM],
        .gpu_ram_bytes = sample->values[GPUT_COMBINED_GPU_RAM],
    };
    pthread_mutex_lock(&samples->lock);
    if (!samples->items)
        samples->items = malloc(CAPACITY * sizeof *samples->items);
    if (samples->items && samples->count > 0 && samples->pending < samples->merged) {
        merge(&samples->items[samples->count - 1], &item);
        samples->pending++;
    } else if (samples->items) {
        if (samples->count == CAPACITY)
            halve(samples);
        samples->items[samples->count++] = item;
        samples->pending = 1;
    }
    pthread_mutex_unlock(&samples->lock);
}

PyObject *native_samples_list(struct native_samples *samples)
{
    PyObject *list = PyList_New(0);
    if (!list)
        return NULL;
    struct native_sample *copy = malloc(CAPACITY * sizeof *copy);
    if (!copy) {
        Py_DECREF(list);
        return PyErr_NoMemory();
    }
    pthread_mutex_lock(&samples->lock);
    size_t count = samples->items ? samples->count : 0;
    for (size_t i = 0; i < count; i++)
        copy[i] = samples->items[i];
    pthread_mutex_unlock(&samples->lock);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *item = Py_BuildValue("ddd", copy[i].seconds, copy[i].ram_bytes, copy[i].gpu_ram_bytes);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    free(copy);
    return list;
}
