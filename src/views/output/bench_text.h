/*
 * What formats of a benchmark for people share: figures in their units, rows of the tables.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

#include <gputracker/bench.h>

#include <stddef.h>

/* A figure in a unit that fits it: "412 MB", "12.3 ms". `unit`: "seconds", "bytes", "joules" or
 * NULL. Returns `text`, of HUMAN_SIZE bytes. */
const char *bench_figure_text(double value, const char *unit, char *text);

/* "12.3 ms ± 0.4": the mean with half of its interval. `size`: 2 * HUMAN_SIZE. */
#define BENCH_MEAN_SIZE 80
const char *bench_mean_text(
    const struct doc *summary, const char *unit, char text[BENCH_MEAN_SIZE]);

/* Whether text shows a figure. Details are shown where they differ: that may explain the rest. */
bool bench_is_shown(const struct doc *document, const struct doc *figure,
    const struct gput_bench_render_options *options);

/* What is said of a variant's figure in comparison: with the baseline, or without one with the
 * first variant. "" where there is no comparison. */
const char *bench_verdict_text(const struct doc *document, int64_t variant, const char *figure);

/* Appends everything as text. */
void bench_text(
    const struct doc *document, const struct gput_bench_render_options *options, struct str *text);
