/*
 * What the Python gpu_tracker keeps of a session while it runs: a pickle of its ResourceUsage,
 * which remains when tracking is interrupted.
 */
#pragma once

#include "base/error.h"

#include "model/results.h"

#include <stddef.h>

/* Whether a file's content begins as a pickle does. */
bool results_is_pickle(const char *bytes, size_t length);

/*
 * Reads one of versions 3 to 5, as data: nothing in it is ever called. Sizes and times become bytes
 * and seconds; what the file does not have is unknown, and a source says so. `name` is used in
 * messages.
 * Errors: GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY.
 */
int results_read_pickle(const char *bytes, size_t length, const char *name,
    struct gput_results *results, struct gput_error *error);
