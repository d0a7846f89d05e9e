/*
 * The powers of ten for conversions of numbers, truncated to 128 bits: 10^e is about (high * 2^64 +
 * low) * 2^(floor(e * log2(10)) - 127). Exact for 0 <= e <= 55, elsewhere too small by less than
 * one unit of `low`.
 */
#pragma once

#include <stdint.h>

#define POWER_OF_TEN_MIN (-342)
#define POWER_OF_TEN_MAX 324

struct power_of_ten {
    uint64_t high;
    uint64_t low;
};

/* 10^e is at index e - POWER_OF_TEN_MIN. */
extern const struct power_of_ten powers_of_ten[POWER_OF_TEN_MAX - POWER_OF_TEN_MIN + 1];
