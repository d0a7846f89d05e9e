/*
 * A growing list of process ids.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct pid_vector {
    pid_t *pids; /* owned; NULL while nothing was appended */
    size_t count;
    size_t capacity;
};

/* An empty vector is all zeroes: `struct pid_vector pids = {0};`. To reuse its memory, set `count`
 * to 0. */

/* Errors: GPUT_ERROR_MEMORY; the vector is then unchanged. */
int pid_vector_append(struct pid_vector *vector, pid_t pid);

/* Frees what the vector holds and makes it empty again. */
void pid_vector_finish(struct pid_vector *vector);

/* The order of two pid_t, for qsort() and bsearch(). */
int pid_compare(const void *left, const void *right);
