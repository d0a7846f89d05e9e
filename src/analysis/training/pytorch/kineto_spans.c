#include "analysis/training/pytorch/kineto_spans.h"

#include "base/order.h"

static int add_span(void *user, const struct gpu_span *span, struct gput_error *error)
{
    struct kineto_spans *spans = user;
    return row_sorter_add(spans->rows, span, error);
}

int kineto_spans_read(const struct gput_kineto_options *options, enum kineto_events events,
    row_compare *compare, struct kineto_spans *spans, struct read_report *report,
    struct gput_error *error)
{
    struct row_memory memory = row_memory_of(options->memory_bytes, options->temporary_folder);
    const struct row_order order = {sizeof(struct gpu_span), compare, false};
    *spans = (struct kineto_spans){0};
    TRY(row_sorter_create(&memory, &order, &spans->rows, error));
    return kineto_run_read(options, events, &spans->run, add_span, spans, report, error);
}

void kineto_spans_finish(struct kineto_spans *spans)
{
    row_sorter_destroy(spans->rows);
    kineto_run_finish(&spans->run);
}

int kineto_spans_compare_devices(const struct gpu_span *a, const struct gpu_span *b)
{
    ORDER_BY(a->rank, b->rank);
    return ORDER(a->device, b->device);
}

int kineto_spans_compare_streams(const struct gpu_span *a, const struct gpu_span *b)
{
    int devices = kineto_spans_compare_devices(a, b);
    return devices ? devices : a->stream < b->stream ? -1 : a->stream > b->stream;
}

int kineto_spans_compare_starts(const struct gpu_span *a, const struct gpu_span *b)
{
    return ORDER(a->start_ns, b->start_ns);
}

void span_cover_add(struct span_cover *cover, const struct gpu_span *span)
{
    int64_t from = span->start_ns > cover->until_ns ? span->start_ns : cover->until_ns;
    if (span->end_ns <= cover->until_ns)
        return;
    cover->sum_ns += span->end_ns - from;
    cover->until_ns = span->end_ns;
}
