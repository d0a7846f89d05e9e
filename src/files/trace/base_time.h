/*
 * The base time of a trace where it follows the events, as PyTorch 2.4 to 2.7 write it: what its
 * times count from has to be known before they are.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Finds "baseTimeNanoseconds" within the last MiB of a regular file, unpacked where it is packed;
 * else `*base_ns` is 0. Errors: those of byte_source.h. */
int base_time_find(const char *path, int64_t *base_ns, struct gput_error *error);
