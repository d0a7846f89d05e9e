#include "training/pytorch/kineto.h"

#include "base/order.h"
#include "base/str.h"
#include "base/text.h"
#include "trace/json_text.h"
#include "training/pytorch/kineto_merged.h"
#include "training/row_sorter.h"

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
    /* With launches, until both sides are known, else NULL: */
    struct row_sorter *launches;
    struct row_sorter *launched; /* spans */
    struct str text;
};

const char *gpu_work_name(enum gpu_work work)
{
    static const char *const names[] = {
        "compute", "communication", "memory", "operator", "data loading"};
    return names[work];
}

static bool communicates(const char *name)
{
    return strncasecmp(name, "nccl", 4) == 0 || strncasecmp(name, "rccl", 4) == 0 ||
           strstr(name, "ncclDevKernel") || strstr(name, "ncclKernel");
}

/* A figure of the args, or `otherwise`. */
static int64_t argument(const struct trace_event *event, const char *name, int64_t otherwise)
{
    struct json_value value = json_member(&event->args, name);
    int64_t number;
    return json_int64(&value, &number) ? number : otherwise;
}

/* What an event is that a GPU was busy with. */
static enum gpu_work gpu_work_of(bool is_kernel, const char *name)
{
    if (!is_kernel)
        return GPU_MEMORY;
    return communicates(name) ? GPU_COMMUNICATION : GPU_COMPUTE;
}

/* "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" */
static bool loads_data(const char *name)
{
    return text_begins_with(name, "enumerate(DataLoader)");
}

static int add_span(struct reading *reading, struct kineto_merged *file,
    const struct trace_event *event, bool kernel, struct gput_error *error)
{
    struct names *names = &reading->run->names;
    int64_t pid = 0, tid = 0, end_ns;
    json_int64(&event->pid, &pid);
    json_int64(&event->tid, &tid);
    if (__builtin_add_overflow(event->start_ns, event->duration_ns, &end_ns)) {
        file->unusable++;
        return GPUT_OK;
    }
    str_clear(&reading->text);
    json_append_string(&event->name, &reading->text);
    uint32_t name = names_add(names, str_text(&reading->text), reading->text.length);
    if (reading->text.failed || name == NAMES_NONE)
        return error_memory(error);
    struct gpu_span span = {.start_ns = event->start_ns,
        .end_ns = end_ns,
        .launched_ns = INT64_MIN,
        .device = argument(event, "device", pid),
        .stream = argument(event, "stream", tid),
        .correlation = argument(event, "correlation", -1),
        .name = name,
        .rank = kineto_merged_rank(file, event),
        .work = gpu_work_of(kernel, names_text(names, name))};
    reading->run->ranks.all[span.rank].span_count++;
    if (reading->launched && span.correlation >= 0)
        return row_sorter_add(reading->launched, &span, error);
    return reading->visit(reading->user, &span, error);
}

/* Operators, and what the program says that it does, of which data loading counts. */
static int add_host_span(struct reading *reading, struct kineto_merged *file,
    const struct trace_event *event, struct gput_error *error)
{
    struct names *names = &reading->run->names;
    struct gpu_span span = {
        .launched_ns = INT64_MIN, .correlation = -1, .start_ns = event->start_ns};
    bool is_operator = json_is(&event->category, "cpu_op") || json_is(&event->category, "Operator");
    if (!is_operator && !json_is(&event->category, "user_annotation"))
        return GPUT_OK;
    if (__builtin_add_overflow(event->start_ns, event->duration_ns, &span.end_ns)) {
        file->unusable++;
        return GPUT_OK;
    }
    str_clear(&reading->text);
    json_append_string(&event->name, &reading->text);
    bool loads = !reading->text.failed && loads_data(str_text(&reading->text));
    if (!is_operator && !loads)
        return reading->text.failed ? error_memory(error) : GPUT_OK;
    span.name = names_add(names, str_text(&reading->text), reading->text.length);
    if (reading->text.failed || span.name == NAMES_NONE)
        return error_memory(error);
    json_int64(&event->pid, &span.device);
    json_int64(&event->tid, &span.stream);
    span.rank = kineto_merged_rank(file, event);
    span.work = loads ? HOST_DATA_LOADING : HOST_OPERATOR;
    reading->run->ranks.all[span.rank].span_count++;
    return reading->visit(reading->user, &span, error);
}

static int add_launch(struct reading *reading, const struct kineto_merged *file,
    const struct trace_event *event, struct gput_error *error)
{
    struct launch launch = {
        kineto_merged_rank(file, event), argument(event, "correlation", -1), event->start_ns};
    return launch.correlation < 0 ? GPUT_OK : row_sorter_add(reading->launches, &launch, error);
}

static int add_event(void *user, struct kineto_merged *file, const struct trace_event *event,
    struct gput_error *error)
{
    struct reading *reading = user;
    bool kernel = json_is(&event->category, "kernel");
    if (!event->has_start || !event->has_duration || event->duration_ns < 0 ||
        event->name.kind != JSON_STRING) {
        file->unusable++;
        return GPUT_OK;
    }
    if (reading->events == KINETO_HOST)
        return add_host_span(reading, file, event, error);
    if (kernel || json_is(&event->category, "gpu_memcpy") ||
        json_is(&event->category, "gpu_memset"))
        return add_span(reading, file, event, kernel, error);
    if (reading->launches &&
        (json_is(&event->category, "cuda_runtime") || json_is(&event->category, "cuda_driver") ||
            json_is(&event->category, "hip_runtime")))
        return add_launch(reading, file, event, error);
    return GPUT_OK;
}

static int launches_in_order(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    ORDER_BY(a->rank, b->rank);
    ORDER_BY(a->correlation, b->correlation);
    return ORDER(a->time_ns, b->time_ns);
}

static int by_correlation(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    ORDER_BY(a->rank, b->rank);
    return ORDER(a->correlation, b->correlation);
}

/* Compares the launch with the wanted span: < 0, 0, > 0. */
static int launch_against(const struct launch *launch, const struct gpu_span *span)
{
    ORDER_BY(launch->rank, span->rank);
    return ORDER(launch->correlation, span->correlation);
}

/* Gives each span the moment its launch was called, and hands it on. */
static int join_launches(struct reading *reading, struct gput_error *error)
{
    const void *at, *span_at;
    TRY(row_sorter_first(reading->launches, &at, error));
    TRY(row_sorter_first(reading->launched, &span_at, error));
    while (span_at) {
        struct gpu_span span = *(const struct gpu_span *)span_at;
        while (at && launch_against(at, &span) < 0)
            TRY(row_sorter_next(reading->launches, &at, error));
        if (at && launch_against(at, &span) == 0)
            span.launched_ns = ((const struct launch *)at)->time_ns;
        TRY(reading->visit(reading->user, &span, error));
        TRY(row_sorter_next(reading->launched, &span_at, error));
    }
    return GPUT_OK;
}

static int make_sorters(
    struct reading *reading, const struct gput_kineto_options *options, struct gput_error *error)
{
    struct row_memory memory = row_memory_of(options->memory_bytes, options->temporary_folder);
    const struct row_order launches = {sizeof(struct launch), launches_in_order, false};
    const struct row_order spans = {sizeof(struct gpu_span), by_correlation, false};
    TRY(row_sorter_create(&memory, &launches, &reading->launches, error));
    return row_sorter_create(&memory, &spans, &reading->launched, error);
}

/* What the host did is read after GPUs: what there is to warn of was said then. */
static int read_file(
    struct reading *reading, uint32_t file, struct read_report *report, struct gput_error *error)
{
    struct read_report of_file = *report;
    if (reading->events == KINETO_HOST)
        of_file.warn = NULL;
    int code = kineto_merged_read(&reading->run->ranks, file, add_event, reading, &of_file, error);
    of_file.warn = report->warn;
    *report = of_file;
    return code == GPUT_OK && reading->launches ? join_launches(reading, error) : code;
}

/* `reading` is what all traces have in common. */
static int read_trace(struct reading reading, uint32_t file,
    const struct gput_kineto_options *options, struct read_report *report, struct gput_error *error)
{
    int code = reading.events == KINETO_GPU_AND_LAUNCHES ? make_sorters(&reading, options, error)
                                                         : GPUT_OK;
    if (code == GPUT_OK)
        code = read_file(&reading, file, report, error);
    row_sorter_destroy(reading.launches);
    row_sorter_destroy(reading.launched);
    str_finish(&reading.text);
    return code;
}

static bool has_spans(const struct kineto_run *run)
{
    for (uint32_t i = 0; i < run->ranks.count; i++)
        if (run->ranks.all[i].span_count > 0)
            return true;
    return false;
}

int kineto_run_read(const struct gput_kineto_options *options, enum kineto_events events,
    struct kineto_run *run, span_visitor *visit, void *user, struct read_report *report,
    struct gput_error *error)
{
    const struct reading reading = {.run = run, .events = events, .visit = visit, .user = user};
    struct kineto_ranks *ranks = &run->ranks;
    int code = GPUT_OK;
    *run = (struct kineto_run){0};
    for (size_t i = 0; code == GPUT_OK && i < options->n_paths; i++)
        code = kineto_ranks_add(ranks, options->paths[i], report, error);
    const uint32_t files = ranks->count; /* a merged one adds ranks */
    for (uint32_t i = 0; code == GPUT_OK && i < files; i++)
        read_report_expect(report, ranks->all[i].path);
    for (uint32_t i = 0; code == GPUT_OK && i < files; i++)
        code = read_trace(reading, i, options, report, error);
    if (code == GPUT_OK && !has_spans(run))
        code = error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no activity of %s in the trace%s: no events of the categories %s",
            events == KINETO_HOST ? "GPUs and CPUs" : "GPUs", ranks->count == 1 ? "" : "s",
            events == KINETO_HOST ? "kernel, gpu_memcpy, gpu_memset or cpu_op"
                                  : "kernel, gpu_memcpy or gpu_memset");
    if (code == GPUT_OK) {
        if (events != KINETO_HOST)
            kineto_ranks_warn_of_idle(ranks, report);
        kineto_ranks_warn_of_unknown(ranks, report);
        kineto_ranks_warn_of_impossible(ranks, report);
        kineto_ranks_warn_of_repeated(ranks, report);
        kineto_ranks_warn_of_missing(ranks, "", report);
    }
    return code;
}

void kineto_run_finish(struct kineto_run *run)
{
    kineto_ranks_finish(&run->ranks);
    names_finish(&run->names);
    *run = (struct kineto_run){0};
}
