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

/* What every table has of a variant and a figure: mean with interval, spread, smallest, largest,
 * and the comparison with the baseline, or without one with the first variant; "" where there is
 * none. */
#define BENCH_CELLS 5
struct bench_row {
    char texts[BENCH_CELLS - 1][80];
    const char *cells[BENCH_CELLS]; /* point into `texts`, and into the document */
};

/* `variant` is the one of that number. */
void bench_row_fill(const struct doc *document, const struct doc *variant, int64_t number,
    const struct doc *figure, struct bench_row *row);

/* Whether text shows a figure. Details are shown where they differ: that may explain the rest. */
bool bench_is_shown(const struct doc *document, const struct doc *figure,
    const struct gput_bench_render_options *options);

/* Appends everything as text. */
void bench_text(
    const struct doc *document, const struct gput_bench_render_options *options, struct str *text);
