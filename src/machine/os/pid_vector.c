#include "machine/os/pid_vector.h"

#include "base/array.h"
#include "base/order.h"

#include <stdlib.h>

int pid_vector_append(struct pid_vector *vector, pid_t pid)
{
    if (!ARRAY_RESERVE(vector->pids, vector->count, vector->capacity))
        return GPUT_ERROR_MEMORY;
    vector->pids[vector->count++] = pid;
    return GPUT_OK;
}

void pid_vector_finish(struct pid_vector *vector)
{
    free(vector->pids);
    *vector = (struct pid_vector){0};
}

int pid_compare(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return ORDER(a, b);
}
