/*
 * The GPU time of this process: how long engines of graphics cards were busy with its own clients.
 * Drivers count it in fdinfo, where each program may read its own. It adds up engines and cards, so
 * that it may grow faster than time passes.
 *
 * Descriptors are searched for cards when their number has changed, when a client is not where it
 * was, and after 10 ms. What a client did before it was found counts from then on, what one did
 * between its last reading and its end does not.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

#define OWN_GPU_TIME_UNKNOWN INT64_C(-1)

struct own_gpu_time;

/* Whether some GPU's driver reports it. Errors: GPUT_ERROR_NOT_FOUND (the message says why not),
 * GPUT_ERROR_IO, GPUT_ERROR_MEMORY. */
int own_gpu_time_check(const char *procfs_root, const char *sysfs_root, struct gput_error *error);

/* The same, and begins to count. Fork: the child needs one of its own. */
int own_gpu_time_open(const char *procfs_root, const char *sysfs_root, struct own_gpu_time **time,
    struct gput_error *error);

/* Nanoseconds; only differences mean something. OWN_GPU_TIME_UNKNOWN while the process has a GPU
 * open whose driver does not report it. Any thread. */
int64_t own_gpu_time_read(struct own_gpu_time *time);

/* NULL is fine. */
void own_gpu_time_close(struct own_gpu_time *time);
