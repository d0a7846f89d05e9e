/*
 * A trace as PyTorch's profiler writes it on demand: it does not say which rank it is of.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>

/*
 * Copies a trace to a new file with its rank, as a `distributedInfo` that readers of traces know;
 * one that is there already stays. `rank` -1: as it is. Errors: GPUT_ERROR_FORMAT (no JSON object),
 * GPUT_ERROR_IO.
 */
int torch_file_copy(
    const char *from, const char *to, long rank, long world_size, struct gput_error *error);

/* Whether a trace has an operator. One that cannot be read has none. */
bool torch_file_has_operators(const char *path);
