/*
 * A comparison part by part, for the formats that have its figures in the order of the parts.
 */
#pragma once

#include "analysis/analyze/comparison.h"

/* A comparison on its way out. `values` has space for one value a session. */
struct comparison_report {
    const struct gput_comparison *comparison;
    struct gput_comparison_options options;
    struct comparison_value *values;
};

/* The parts of a comparison, each of them measurement by measurement, those of code blocks also
 * block by block. */
enum comparison_part {
    COMPARISON_OVERALL_USAGE,
    COMPARISON_BLOCK_USAGE,
    COMPARISON_BLOCK_TIME, /* has no measurements, but blocks at once */
    COMPARISON_OVERALL_ENERGY,
    COMPARISON_BLOCK_ENERGY,
};

/* What a format does with a part. `key` is the part's ("overall_energy"), a measurement's or a
 * block's. */
struct comparison_writer {
    void (*open)(void *user, const char *key);
    void (*close)(void *user);
    void (*values)(void *user, const char *key); /* those of the report */
};

/* Walks over a part. One of energy that no session has is skipped. */
void comparison_walk(const struct comparison_report *report, enum comparison_part part,
    const struct comparison_writer *writer, void *user);
