/*
 * The rows of a session's summary: a label, a figure and what belongs to it, in the columns that a
 * screen has. What they say is the business of results_summary.h.
 */
#pragma once

#include "base/str.h"
#include "model/results.h"

#include <stdbool.h>
#include <stddef.h>

#define SUMMARY_LABEL_WIDTH 10
#define SUMMARY_LABEL_COLUMN                                                                       \
    (2 + SUMMARY_LABEL_WIDTH + 1) /* what follows a label, and a figure                            \
                                   */

#define SUMMARY_BOLD "\033[1m"
#define SUMMARY_DIM "\033[2m"
#define SUMMARY_YELLOW "\033[33m"
#define SUMMARY_PLAIN "\033[0m"

struct summary {
    const struct gput_results *results;
    const struct gput_results_render_options *options; /* whose width is 0: no screen */
    struct str *text;                                  /* appended to */
};

/* An escape sequence, where the screen takes these. */
void summary_color(struct summary *summary, const char *escape);

/* What stands from a column on; on a screen it goes on in the next line, on a narrow one further to
 * the left. */
void summary_append_wrapped(struct summary *summary, const char *text, size_t column);

/* "  RAM            412 MB  peak …": harmless on any terminal. */
void summary_row(struct summary *summary, const char *label, const char *figure, const char *format,
    ...) __attribute__((format(printf, 4, 5)));

/* The same row; where the detail does not fit, a shorter one. Frees both. */
void summary_row_or_shorter(struct summary *summary, const char *label, const char *figure,
    struct str *detail, struct str *shorter);

/* The lines of GPUs, all in one form: of many GPUs the first ones, and how many there are. */
void summary_gpus_write(struct summary *summary);

/* The head: "gpu-tracker: python train.py", and "  Host       node1; job 4711, rank 3 of 4" of a
 * rank and in files. */
void summary_heading_write(struct summary *summary);
