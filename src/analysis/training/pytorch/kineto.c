#include "analysis/training/pytorch/kineto.h"

#include "analysis/training/pytorch/kineto_categories.h"
#include "analysis/training/pytorch/kineto_merged.h"
#include "analysis/training/row_sorter.h"
#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/order.h"
#include "base/str.h"

#include <math.h>
#include <string.h>
#include <strings.h>

struct launch {
    int64_t rank;
    int64_t correlation;
    int64_t time_ns;
};

/* One trace while it is read. */
struct reading {
    struct kineto_run *run;
    enum kineto_events events;
    span_visitor *visit;
    void *user;
    /* Only with launches, until all launches are known; else NULL: */
    struct row_sorter *launches;
    struct row_sorter *launched; /* spans that wait for their launch */
    struct str text;
};

const char *gpu_work_name(enum gpu_work work)
{
    static const char *const names[] = {
        "compute", "communication", "memory", "operator", "data loading", "step"};
    return names[work];
}

/* Whether a kernel's name is one of NCCL or RCCL. */
static bool communicates(const char *name)
{
    return strncasecmp(name, "nccl", 4) == 0 || strncasecmp(name, "rccl", 4) == 0 ||
           strstr(name, "ncclDevKernel") || strstr(name, "ncclKernel");
}

/* Returns a number of the arguments, or `otherwise` if there is none. */
static int64_t argument(const struct trace_event *event, const char *name, int64_t otherwise)
{
    struct json_value value = json_member(&event->args, name);
    int64_t number;
    return json_int64(&value, &number) ? number : otherwise;
}

/* Returns the kind of work that kept a GPU busy. */
static enum gpu_work gpu_work_of(bool is_kernel, const char *name)
{
    if (!is_kernel)
        return GPU_MEMORY;
    return communicates(name) ? GPU_COMMUNICATION : GPU_COMPUTE;
}

/* Whether a text in JSON begins with a prefix. */
static bool begins_with(const struct json_value *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return name->length >= length && memcmp(name->text, prefix, length) == 0;
}

/* Finds the kind of work of an event of the host. Returns false for events that no view counts.
 * Before PyTorch 1.12, PyTorch's own annotations were written as operators. */
static bool host_work_of(const struct json_value *name, enum kineto_kind kind, enum gpu_work *work)
{
    *work = begins_with(name, "enumerate(DataLoader)") ? HOST_DATA_LOADING
            : begins_with(name, "ProfilerStep#")       ? HOST_STEP
                                                       : HOST_OPERATOR;
    return *work != HOST_OPERATOR ||
           (kind == KINETO_OPERATOR && !begins_with(name, "Optimizer.step#") &&
               !begins_with(name, "Optimizer.zero_grad#"));
}

/* Returns the number of a process, thread or stream, written as "7" or "stream 7". For another text
 * returns a number made from it. */
static int64_t number_of(const struct json_value *value)
{
    static const char prefix[] = "stream ";
    const uint32_t length = sizeof prefix - 1;
    int64_t number;
    if (value->kind != JSON_NUMBER && value->kind != JSON_STRING)
        return 0;
    if (json_int64(value, &number))
        return number;
    struct json_value rest = {value->text + length, value->length - length, JSON_STRING, 0};
    if (value->length > length && memcmp(value->text, prefix, length) == 0 &&
        json_int64(&rest, &number))
        return number;
    return INT64_MIN + (int64_t)(names_hash(value->text, value->length) & INT32_MAX);
}

/* Reads the end, the name and the rank of a span. `*usable` is false if its end overflows. */
static int begin_span(struct reading *reading, struct kineto_merged *file,
    const struct trace_event *event, struct gpu_span *span, bool *usable, struct gput_error *error)
{
    struct names *names = &reading->run->names;
    span->start_ns = event->start_ns;
    *usable = !__builtin_add_overflow(event->start_ns, event->duration_ns, &span->end_ns);
    if (!*usable) {
        file->unusable++;
        return GPUT_OK;
    }
    str_clear(&reading->text);
    json_append_string(&event->name, &reading->text);
    span->name = names_add(names, str_text(&reading->text), reading->text.length);
    if (reading->text.failed || span->name == NAMES_NONE)
        return error_memory(error);
    span->rank = kineto_merged_rank(file, event);
    return GPUT_OK;
}

/* Reads a kernel or a copy and passes it to the visitor. With launches, it waits until all of them
 * are known. */
static int add_span(struct reading *reading, struct kineto_merged *file,
    const struct trace_event *event, enum kineto_kind kind, struct gput_error *error)
{
    bool has_category = event->category.kind == JSON_STRING, usable;
    struct json_value device = json_member(&event->args, "device");
    struct json_value stream = json_member(&event->args, "stream");
    struct gpu_span span = {
        .launched_ns = INT64_MIN, .correlation = argument(event, "correlation", -1)};
    TRY(begin_span(reading, file, event, &span, &usable, error));
    if (!usable)
        return GPUT_OK;
    /* Without Kineto, the thread is the device, and there are no streams. */
    span.device = number_of(device.kind != JSON_NONE ? &device
                            : has_category           ? &event->pid
                                                     : &event->tid);
    span.stream = number_of(stream.kind != JSON_NONE ? &stream : &event->tid);
    span.work = gpu_work_of(kind == KINETO_KERNEL, names_text(&reading->run->names, span.name));
    reading->run->ranks.all[span.rank].span_count++;
    if (reading->launched && span.correlation >= 0)
        return row_sorter_add(reading->launched, &span, error);
    return reading->visit(reading->user, &span, error);
}

/* Reads an operator, data loading or a step of the profiler, and passes it to the visitor. */
static int add_host_span(struct reading *reading, struct kineto_merged *file,
    const struct trace_event *event, enum kineto_kind kind, struct gput_error *error)
{
    enum gpu_work work;
    bool usable;
    if (!host_work_of(&event->name, kind, &work))
        return GPUT_OK;
    struct gpu_span span = {.launched_ns = INT64_MIN,
        .correlation = -1,
        .device = number_of(&event->pid),
        .stream = number_of(&event->tid),
        .work = work};
    TRY(begin_span(reading, file, event, &span, &usable, error));
    if (!usable)
        return GPUT_OK;
    reading->run->ranks.all[span.rank].span_count += work != HOST_STEP;
    return reading->visit(reading->user, &span, error);
}

/* Keeps the time at which a kernel was launched, with its correlation id. */
static int add_launch(struct reading *reading, const struct kineto_merged *file,
    const struct trace_event *event, struct gput_error *error)
{
    struct launch launch = {
        kineto_merged_rank(file, event), argument(event, "correlation", -1), event->start_ns};
    return launch.correlation < 0 ? GPUT_OK : row_sorter_add(reading->launches, &launch, error);
}

/* Returns the kind of an event. Before Kineto, PyTorch used processes instead of categories. */
static enum kineto_kind kind_of(
    const struct trace_event *event, const struct kineto_category *category)
{
    if (category)
        return category->kind;
    if (event->category.kind == JSON_STRING)
        return KINETO_UNKNOWN;
    if (json_is(&event->pid, "CPU functions"))
        return KINETO_OPERATOR;
    return json_is(&event->pid, "CUDA functions") ? KINETO_KERNEL : KINETO_UNKNOWN;
}

/* Adds an event of a trace according to its category. Events without a time or a name count as
 * unusable. */
static int add_event(void *user, struct kineto_merged *file, const struct trace_event *event,
    struct gput_error *error)
{
    struct reading *reading = user;
    const struct kineto_category *category = kineto_category_find(&event->category);
    enum kineto_kind kind = kind_of(event, category);
    if (!event->has_start || !event->has_duration || event->duration_ns < 0 ||
        event->name.kind != JSON_STRING) {
        file->unusable++;
        return GPUT_OK;
    }
    switch (kind) {
    case KINETO_KERNEL:
    case KINETO_MEMORY:
        return reading->events == KINETO_HOST ? GPUT_OK
                                              : add_span(reading, file, event, kind, error);
    case KINETO_LAUNCH:
        return reading->launches ? add_launch(reading, file, event, error) : GPUT_OK;
    case KINETO_OPERATOR:
    case KINETO_ANNOTATION:
        return reading->events == KINETO_HOST ? add_host_span(reading, file, event, kind, error)
                                              : GPUT_OK;
    case KINETO_UNKNOWN:
        return kineto_merged_count_unknown(file, event) ? GPUT_OK : error_memory(error);
    default:
        return GPUT_OK;
    }
}

/* Orders launches by rank and correlation id, the earliest first. */
static int launches_in_order(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    ORDER_BY(a->rank, b->rank);
    ORDER_BY(a->correlation, b->correlation);
    return ORDER(a->time_ns, b->time_ns);
}

/* Orders spans as launches: by rank and correlation id. */
static int by_correlation(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    ORDER_BY(a->rank, b->rank);
    return ORDER(a->correlation, b->correlation);
}

/* Compares a launch with the launch that a span names: < 0, 0, > 0. */
static int launch_against(const struct launch *launch, const struct gpu_span *span)
{
    ORDER_BY(launch->rank, span->rank);
    return ORDER(launch->correlation, span->correlation);
}

/* Frees what is only needed while one trace is read. */
static void reading_finish(struct reading *reading)
{
    row_sorter_destroy(reading->launches);
    row_sorter_destroy(reading->launched);
    str_finish(&reading->text);
}

/* Reads one trace. `common` has the members that all traces share. With launches, spans wait in a
 * sorter until all launches are known. */
static int read_trace(const struct reading *common, uint32_t file,
    const struct gput_kineto_options *options, struct read_report *report, struct gput_error *error)
{
    CLEANUP(reading_finish) struct reading reading = *common;
    if (reading.events == KINETO_GPU_AND_LAUNCHES) {
        struct row_memory memory = row_memory_of(options->memory_bytes, options->temporary_folder);
        const struct row_order launches = {sizeof(struct launch), launches_in_order, false};
        const struct row_order spans = {sizeof(struct gpu_span), by_correlation, false};
        TRY(row_sorter_create(&memory, &launches, &reading.launches, error));
        TRY(row_sorter_create(&memory, &spans, &reading.launched, error));
    }

    /* The host is read after the GPUs, which gave the warnings about this file. */
    struct read_report of_file = *report;
    if (reading.events == KINETO_HOST)
        of_file.warn = NULL;
    int code = kineto_merged_read(&reading.run->ranks, file, add_event, &reading, &of_file, error);
    of_file.warn = report->warn;
    *report = of_file;
    if (code != GPUT_OK || !reading.launches)
        return code;

    /* Set the launch time of each span, and pass it to the visitor. */
    const void *at, *span_at;
    TRY(row_sorter_first(reading.launches, &at, error));
    TRY(row_sorter_first(reading.launched, &span_at, error));
    while (span_at) {
        struct gpu_span span = *(const struct gpu_span *)span_at;
        while (at && launch_against(at, &span) < 0)
            TRY(row_sorter_next(reading.launches, &at, error));
        if (at && launch_against(at, &span) == 0)
            span.launched_ns = ((const struct launch *)at)->time_ns;
        TRY(reading.visit(reading.user, &span, error));
        TRY(row_sorter_next(reading.launched, &span_at, error));
    }
    return GPUT_OK;
}

/* Whether any rank has activity that the view counts. */
static bool has_spans(const struct kineto_run *run)
{
    for (uint32_t i = 0; i < run->ranks.count; i++)
        if (run->ranks.all[i].span_count > 0)
            return true;
    return false;
}

/* Fails because no activity was found. The message names the categories that are not understood, if
 * there are any. */
static int refuse(
    const struct kineto_ranks *ranks, enum kineto_events events, struct gput_error *error)
{
    const char *of = events == KINETO_HOST ? "GPUs and CPUs" : "GPUs";
    const char *traces = ranks->count == 1 ? "trace" : "traces";
    struct str unknown = {0};
    if (ranks->unknown.count == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no activity of %s in the %s: no events of the categories %s", of, traces,
            events == KINETO_HOST ? "kernel, gpu_memcpy, gpu_memset or cpu_op"
                                  : "kernel, gpu_memcpy or gpu_memset");
    kineto_ranks_append_unknown(ranks, &unknown);
    int code = error_set(error, GPUT_ERROR_NOT_FOUND,
        "There is no activity of %s in the %s that is understood. Categories that are not: %s", of,
        traces, str_text(&unknown));
    str_finish(&unknown);
    return code;
}

int kineto_run_read(const struct gput_kineto_options *options, enum kineto_events events,
    struct kineto_run *run, span_visitor *visit, void *user, struct read_report *report,
    struct gput_error *error)
{
    const struct reading reading = {.run = run, .events = events, .visit = visit, .user = user};
    struct kineto_ranks *ranks = &run->ranks;
    *run = (struct kineto_run){0};
    for (size_t i = 0; i < options->n_paths; i++)
        TRY(kineto_ranks_add(ranks, options->paths[i], report, error));
    const uint32_t files = ranks->count; /* a merged file adds further ranks */
    for (uint32_t i = 0; i < files; i++)
        read_report_expect(report, ranks->all[i].path);
    for (uint32_t i = 0; i < files; i++)
        TRY(read_trace(&reading, i, options, report, error));
    if (!has_spans(run))
        return refuse(ranks, events, error);
    kineto_ranks_warn_of_categories(ranks, report);
    if (events != KINETO_HOST)
        kineto_ranks_warn_of_idle(ranks, report);
    kineto_ranks_warn_of_unknown(ranks, report);
    kineto_ranks_warn_of_impossible(ranks, report);
    kineto_ranks_warn_of_repeated(ranks, report);
    kineto_ranks_warn_of_missing(ranks, "", report);
    return GPUT_OK;
}

void kineto_run_finish(struct kineto_run *run)
{
    kineto_ranks_finish(&run->ranks);
    names_finish(&run->names);
    *run = (struct kineto_run){0};
}

/* ---- Spans in order ---- */

/* Keeps a span for walking in order. */
static int keep_span(void *user, const struct gpu_span *span, struct gput_error *error)
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
    return kineto_run_read(options, events, &spans->run, keep_span, spans, report, error);
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
