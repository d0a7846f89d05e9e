/*
 * Spans of PyTorch traces in an order, and what tables make of them.
 */
#pragma once

#include "analysis/training/pytorch/kineto.h"
#include "analysis/training/row_sorter.h"

#include <math.h>

/* To be read with row_sorter_first() and row_sorter_next() of `rows`, as struct gpu_span. */
struct kineto_spans {
    struct kineto_run run;
    struct row_sorter *rows;
};

/* To be finished, also after a failure. Errors: those of kineto_run_read(), GPUT_ERROR_MEMORY. */
int kineto_spans_read(const struct gput_kineto_options *options, enum kineto_events events,
    row_compare *compare, struct kineto_spans *spans, struct read_report *report,
    struct gput_error *error);

void kineto_spans_finish(struct kineto_spans *spans);

/* Which traces, devices and streams come first, and within a stream which spans start first; 0:
 * they are alike in all of it. For the parts of a row_compare. */
int kineto_spans_compare_devices(const struct gpu_span *a, const struct gpu_span *b);
int kineto_spans_compare_streams(const struct gpu_span *a, const struct gpu_span *b);
int kineto_spans_compare_starts(const struct gpu_span *a, const struct gpu_span *b);

/* How long some spans cover together. */
struct span_cover {
    int64_t sum_ns;
    int64_t until_ns; /* what was before is not covered */
};

/* Spans come by start. */
void span_cover_add(struct span_cover *cover, const struct gpu_span *span);

/* A device, stream, process or thread for tables; missing where it is known by a text alone. */
static inline int64_t span_number(int64_t number)
{
    return number < INT64_MIN / 2 ? INT64_MIN : number;
}

static inline double span_us(int64_t ns)
{
    return (double)ns / 1000;
}

static inline double span_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole * 100 : NAN;
}
