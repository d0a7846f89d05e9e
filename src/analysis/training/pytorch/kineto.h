/*
 * What GPUs did, or the threads of the CPU, out of traces of PyTorch's profiler: one rank a file.
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
    HOST_STEP /* of the profiler's schedule: what is in it is measured, and no work itself */
};

/* Which events are read. */
enum kineto_events { KINETO_GPU, KINETO_GPU_AND_LAUNCHES, KINETO_HOST };

struct gpu_span {
    int64_t start_ns;
    int64_t end_ns;
    int64_t launched_ns; /* when the host asked for it; INT64_MIN: not in the trace */
    int64_t device;      /* of the host: the process; span_number() is for tables */
    int64_t stream;      /* and the thread */
    int64_t correlation; /* -1: none */
    uint32_t name;       /* in `names` of the run */
    uint32_t rank;       /* number of its trace in `ranks` of the run */
    uint64_t work;       /* enum gpu_work; as wide as that so that no byte of a row is unwritten */
};

/* All traces that were read. */
struct kineto_run {
    struct names names;
    struct kineto_ranks ranks;
};

/* Called for each span, in any order; anything but GPUT_OK ends the reading and is passed on. */
typedef int span_visitor(void *user, const struct gpu_span *span, struct gput_error *error);

/* Reads traces. `run` is to be finished, also after a failure. Events of the
 * host are read where there are none of GPUs: what is wrong with the files was said then. Errors:
 * GPUT_ERROR_NOT_FOUND (also of traces without such events), those of reading. */
int kineto_run_read(const struct gput_kineto_options *options, enum kineto_events events,
    struct kineto_run *run, span_visitor *visit, void *user, struct read_report *report,
    struct gput_error *error);

void kineto_run_finish(struct kineto_run *run);

/* "compute", "communication", "memory", "operator", "data loading", "step" */
const char *gpu_work_name(enum gpu_work work);

/* ---- Spans in an order, and what tables make of them ---- */

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
