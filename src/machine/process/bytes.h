/*
 * Arithmetic of amounts that are never negative.
 */
#pragma once

#include <stdint.h>

static inline uint64_t bytes_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t bytes_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* a - b, but never below 0. */
static inline uint64_t bytes_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline void bytes_raise(uint64_t *highest, uint64_t bytes)
{
    if (bytes > *highest)
        *highest = bytes;
}
