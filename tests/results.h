/*
 * Results by value, for tests that read and set their members. GPUs of all of them are in one
 * place.
 */
#pragma once

#include "model/results.h"
#include "testing.h"

#include <assert.h>
#include <string.h>

static struct gput_gpu test_gpus[8];

/* Of results that the library made, which are destroyed. */
static inline struct gput_results results_by_value(struct gput_results *made)
{
    struct gput_results results = *made;
    assert(made->n_gpus <= sizeof test_gpus / sizeof test_gpus[0]);
    if (made->n_gpus > 0)
        memcpy(test_gpus, made->gpus, made->n_gpus * sizeof *made->gpus);
    results.gpus = test_gpus;
    results.gpu_capacity = 0;
    gput_results_destroy(made);
    return results;
}

static inline int results_load_by_value(
    const char *path, struct gput_results *results, struct gput_error *error)
{
    struct gput_results *loaded;
    int code = gput_results_load(path, &loaded, error);
    if (code == GPUT_OK)
        *results = results_by_value(loaded);
    return code;
}

/* The source of that name; the test fails where there is none. */
static inline const struct gput_source *source_of(
    const struct gput_results *results, const char *name)
{
    for (uint32_t i = 0; i < results->n_sources; i++) {
        if (strcmp(results->sources[i].name, name) == 0)
            return &results->sources[i];
    }
    fail_msg("no source %s", name);
    return NULL;
}
