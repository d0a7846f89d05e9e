#include "os/pid_vector.h"

#include <stdint.h>
#include <stdlib.h>

int pid_vector_append(struct pid_vector *vector, pid_t pid)
{
    if (vector->count == vector->capacity) {
        if (vector->capacity > SIZE_MAX / 2 / sizeof *vector->pids)
            return GPUT_ERROR_MEMORY;
        size_t capacity = vector->capacity ? vector->capacity * 2 : 32;
        pid_t *pids = realloc(vector->pids, capacity * sizeof *pids);
        if (!pids)
            return GPUT_ERROR_MEMORY;
        vector->pids = pids;
        vector->capacity = capacity;
    }
    vector->pids[vector->count++] = pid;
    return GPUT_OK;
}

void pid_vector_finish(struct pid_vector *vector)
{
    free(vector->pids);
    *vector = (struct pid_vector){0};
}
