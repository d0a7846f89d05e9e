/*
 * Reads the activity of GPUs, or of the threads of the CPU, from traces of PyTorch's profiler: one
 * rank a file.
 */
#pragma once

#include "analysis/training/pytorch/kineto_ranks.h"
#include "analysis/training/row_sorter.h"
#include "base/error.h"
#include "base/names.h"
#include "files/trace/read_report.h"

#include <gputracker/profile.h>

#include <math.h>
#include <stdint.h>

enum gpu_work {
    GPU_COMPUTE,
    GPU_COMMUNICATION,
    GPU_MEMORY,
    HOST_OPERATOR,
    HOST_DATA_LOADING,
    HOST_STEP /* a step of the profiler's schedule: it is measured by what it contains, and is no
                 work itself */
};

/* Which events are read. */
enum kineto_events { KINETO_GPU, KINETO_GPU_AND_LAUNCHES, KINETO_HOST };

struct gpu_span {
    int64_t start_ns;
    int64_t end_ns;
    int64_t launched_ns; /* time at which the host requested it; INT64_MIN: not in the trace */
    int64_t device;      /* of the host, the process; use span_number() in tables */
    int64_t stream;      /* of the host, the thread */
    int64_t correlation; /* -1: none */
    uint32_t name;       /* in `names` of the run */
    uint32_t rank;       /* number of its trace in `ranks` of the run */
    uint64_t work;       /* enum gpu_work; 64 bits wide so that rows have no uninitialized
                            padding */
};

/* All traces that were read. */
struct kineto_run {
    struct names names;
    struct kineto_ranks ranks;
};

/* Called for each span, in any order. Any result but GPUT_OK ends the reading, which returns it. */
typedef int span_visitor(void *user, const struct gpu_span *span, struct gput_error *error);

/* Reads traces. Call kineto_run_finish() also after a failure. With KINETO_HOST no warnings about
 * the files are given, as they were given while events of GPUs were looked for. Errors:
 * GPUT_ERROR_NOT_FOUND (also of traces without such events), those of reading. */
int kineto_run_read(const struct gput_kineto_options *options, enum kineto_events events,
    struct kineto_run *run, span_visitor *visit, void *user, struct read_report *report,
    struct gput_error *error);

void kineto_run_finish(struct kineto_run *run);

/* "compute", "communication", "memory", "operator", "data loading", "step" */
const char *gpu_work_name(enum gpu_work work);

/* ---- Spans in an order, and what tables make of them ---- */

/* Spans to be read as struct gpu_span by row_sorter_first() and row_sorter_next() of `rows`. */
struct kineto_spans {
    struct kineto_run run;
    struct row_sorter *rows;
};

/* Reads spans and sorts them by `compare`. Call kineto_spans_finish() also after a failure. Errors:
 * those of kineto_run_read(), GPUT_ERROR_MEMORY. */
int kineto_spans_read(const struct gput_kineto_options *options, enum kineto_events events,
    row_compare *compare, struct kineto_spans *spans, struct read_report *report,
    struct gput_error *error);

void kineto_spans_finish(struct kineto_spans *spans);

/* Compare spans by trace and device, then stream; or by start. They are the parts of a
 * row_compare. */
int kineto_spans_compare_devices(const struct gpu_span *a, const struct gpu_span *b);
int kineto_spans_compare_streams(const struct gpu_span *a, const struct gpu_span *b);
int kineto_spans_compare_starts(const struct gpu_span *a, const struct gpu_span *b);

/* The time that at least one of some spans covers. */
struct span_cover {
    int64_t sum_ns;
    int64_t until_ns; /* everything before this was added */
};

/* Adds a span. Spans must be added in order of their starts. */
void span_cover_add(struct span_cover *cover, const struct gpu_span *span);

/* The number of a device, stream, process or thread for tables; missing if the trace has only a
 * text. */
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
