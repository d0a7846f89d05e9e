/* CLOCK_MONOTONIC in nanoseconds, for gpu-check and gpu-load. */
#pragma once

#include <stdint.h>

#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

uint64_t monotonic_now_ns(void);
/* Returns at once where that time has passed. */
void monotonic_sleep_until(uint64_t time_ns);
