/*
 * Made-up series of peaks, from a fixed seed: what programs do again and again. Also for the
 * benchmark, which has more of them.
 */
#pragma once

#include "analysis/size/size_bound.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum family {
    FAMILY_CONSTANT,  /* 1 GB, but for 1 % */
    FAMILY_LOGNORMAL, /* a factor of 1.5 up or down */
    FAMILY_TWO_MODES, /* every fourth run takes three times as much */
    FAMILY_GROWING,   /* with inputs of 0.1 to 10 GB */
    FAMILY_KILLED,    /* log-normal, and every ninth run is killed at a limit */
    FAMILY_COUNT
};

static const char *const family_names[] = {
    "constant", "log-normal", "two modes", "growing", "out of memory"};

#define MAX_RUNS 100

/* A number between 0 and 1 (xorshift). */
static inline double random_share(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static inline double random_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(random_share(state)));
    return radius * cos(2 * M_PI * random_share(state));
}

/* The size of an input; NaN where there is none. */
static inline double random_input(enum family family, uint64_t *state)
{
    return family == FAMILY_GROWING ? pow(10, 8 + 2 * random_share(state)) : NAN;
}

/* What a run with that input wants. */
static inline double random_peak(enum family family, double input, uint64_t *state)
{
    switch (family) {
    case FAMILY_CONSTANT:
        return 1e9 * (1 + 0.01 * random_normal(state));
    case FAMILY_TWO_MODES:
        return (random_share(state) < 0.75 ? 1e9 : 3e9) * exp(0.05 * random_normal(state));
    case FAMILY_GROWING:
        return (2e8 + input) * exp(0.08 * random_normal(state));
    case FAMILY_KILLED:
        return 1e9 * exp(0.3 * random_normal(state));
    default:
        return 1e9 * exp(0.4 * random_normal(state));
    }
}

/* What was seen of such runs. */
static inline void make_series(
    enum family family, struct size_value *values, size_t count, uint64_t *state)
{
    const double limit = 1e9 * exp(0.3 * 1.2);
    for (size_t i = 0; i < count; i++) {
        double input = random_input(family, state), peak = random_peak(family, input, state);
        bool is_killed = family == FAMILY_KILLED && peak > limit;
        values[i] = (struct size_value){is_killed ? limit : peak, is_killed, input, NAN};
    }
}

/* Which share of later runs fits in the bounds of many series of `count` runs, and by how much
 * these exceed what is used. */
struct coverage {
    double share;
    double waste;
};

/* Bounds by some rule; `input` is the next run's. */
typedef double family_rule(const struct size_value *values, size_t count, double input);

static inline struct coverage measure_coverage(
    enum family family, size_t count, size_t n_series, family_rule *rule)
{
    struct size_value values[MAX_RUNS];
    uint64_t state = 88172645463325252u + family;
    double fitting = 0, waste = 0;
    const int n_later = 50;
    for (size_t series = 0; series < n_series; series++) {
        make_series(family, values, count, &state);
        double input = random_input(family, &state), bound = rule(values, count, input);
        for (int i = 0; i < n_later; i++) {
            double peak = random_peak(family, input, &state);
            fitting += peak <= bound;
            waste += bound / peak - 1;
        }
    }
    double n = (double)n_series * n_later;
    return (struct coverage){fitting / n, waste / n};
}

static inline double bound_of_size(const struct size_value *values, size_t count, double input)
{
    struct size_bound bound;
    struct gput_error error;
    if (size_bound_compute(values, count, 0.95, input, &bound, &error) != GPUT_OK)
        abort();
    return bound.value;
}
