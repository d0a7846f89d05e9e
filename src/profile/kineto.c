#include "profile/kineto.h"

#include "base/str.h"
#include "profile/row_sorter.h"
#include "trace/event_stream.h"
#include "trace/json_text.h"
#include "trace/trace_folder.h"
#include "trace/trace_root.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct launch {
    int64_t correlation;
    int64_t time_ns;
};

/* One trace while it is read. */
struct reading {
    struct kineto_run *run;
    uint32_t rank;
    span_visitor *visit;
    void *user;
    uint64_t span_count;
    /* With launches, until both sides are known, else NULL: */
    struct row_sorter *launches;
    struct row_sorter *launched; /* spans */
    uint64_t unusable;
    struct str text;
};

const char *gpu_work_name(enum gpu_work work)
{
    static const char *const names[] = {"compute", "communication", "memory"};
    return names[work];
}

int64_t kineto_rank_number(const struct kineto_run *run, uint32_t rank)
{
    return run->ranks[rank].rank >= 0 ? run->ranks[rank].rank : INT64_MIN;
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

static int add_span(
    struct reading *reading, const struct trace_event *event, bool kernel, struct gput_error *error)
{
    struct names *names = &reading->run->names;
    int64_t pid = 0, tid = 0, end_ns;
    json_int64(&event->pid, &pid);
    json_int64(&event->tid, &tid);
    if (__builtin_add_overflow(event->start_ns, event->duration_ns, &end_ns)) {
        reading->unusable++;
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
        .rank = reading->rank,
        .work = !kernel                                 ? GPU_MEMORY
                : communicates(names_text(names, name)) ? GPU_COMMUNICATION
                                                        : GPU_COMPUTE};
    reading->span_count++;
    if (reading->launched && span.correlation >= 0)
        return row_sorter_add(reading->launched, &span, error);
    return reading->visit(reading->user, &span, error);
}

static int add_launch(
    struct reading *reading, const struct trace_event *event, struct gput_error *error)
{
    struct launch launch = {argument(event, "correlation", -1), event->start_ns};
    return launch.correlation < 0 ? GPUT_OK : row_sorter_add(reading->launches, &launch, error);
}

static int take_event(
    struct reading *reading, const struct trace_event *event, struct gput_error *error)
{
    bool kernel = json_is(&event->category, "kernel");
    if (event->type != 'X')
        return GPUT_OK;
    if (!event->has_start || !event->has_duration || event->duration_ns < 0 ||
        event->name.kind != JSON_STRING) {
        reading->unusable++;
        return GPUT_OK;
    }
    if (kernel || json_is(&event->category, "gpu_memcpy") ||
        json_is(&event->category, "gpu_memset"))
        return add_span(reading, event, kernel, error);
    if (reading->launches &&
        (json_is(&event->category, "cuda_runtime") || json_is(&event->category, "cuda_driver") ||
            json_is(&event->category, "hip_runtime")))
        return add_launch(reading, event, error);
    return GPUT_OK;
}

static int launches_in_order(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static int by_correlation(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

/* Gives each span the moment its launch was called, and hands it on. */
static int join_launches(struct reading *reading, struct gput_error *error)
{
    const void *at, *span_at;
    TRY(row_sorter_first(reading->launches, &at, error));
    TRY(row_sorter_first(reading->launched, &span_at, error));
    while (span_at) {
        struct gpu_span span = *(const struct gpu_span *)span_at;
        while (at && ((const struct launch *)at)->correlation < span.correlation)
            TRY(row_sorter_next(reading->launches, &at, error));
        if (at && ((const struct launch *)at)->correlation == span.correlation)
            span.launched_ns = ((const struct launch *)at)->time_ns;
        TRY(reading->visit(reading->user, &span, error));
        TRY(row_sorter_next(reading->launched, &span_at, error));
    }
    return GPUT_OK;
}

static int read_stream(struct reading *reading, struct event_stream *stream,
    struct read_report *report, struct gput_error *error)
{
    struct trace_event event;
    bool there;
    TRY(event_stream_next(stream, &event, &there, error));
    while (there) {
        TRY(take_event(reading, &event, error));
        event_stream_tell_progress(stream, report);
        TRY(event_stream_next(stream, &event, &there, error));
    }
    event_stream_tell_end(stream, report);
    /* Only now: what tells the rank may stand behind the events. */
    const struct trace_header *header = event_stream_header(stream);
    struct kineto_rank *rank = reading->run->ranks + reading->rank;
    rank->rank = header->rank;
    rank->world_size = header->world_size;
    rank->span_count = reading->span_count;
    if (reading->launches)
        TRY(join_launches(reading, error));
    report->files++;
    report->events += event_stream_counts(stream)->events;
    report->unusable += reading->unusable;
    read_report_warn(report, event_stream_warning(stream));
    read_report_warn_unusable(report, rank->path, reading->unusable);
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

static int read_path(
    struct reading *reading, const char *path, struct read_report *report, struct gput_error *error)
{
    struct event_stream *stream;
    TRY(event_stream_open(path, &stream, error));
    int code = read_stream(reading, stream, report, error);
    event_stream_close(stream);
    return code;
}

/* `reading` is what all traces have in common. */
static int read_trace(struct reading reading, const char *path,
    const struct gput_kineto_options *options, bool with_launches, struct read_report *report,
    struct gput_error *error)
{
    struct kineto_run *run = reading.run;
    struct kineto_rank *ranks = realloc(run->ranks, (run->rank_count + 1) * sizeof *ranks);
    if (!ranks)
        return error_memory(error);
    run->ranks = ranks;
    reading.rank = run->rank_count++;
    ranks[reading.rank] = (struct kineto_rank){.rank = -1, .world_size = -1, .path = strdup(path)};
    if (!ranks[reading.rank].path)
        return error_memory(error);
    int code = with_launches ? make_sorters(&reading, options, error) : GPUT_OK;
    if (code == GPUT_OK)
        code = read_path(&reading, path, report, error);
    row_sorter_destroy(reading.launches);
    row_sorter_destroy(reading.launched);
    str_finish(&reading.text);
    return code;
}

/* Says which traces add no row to the result. */
static void warn_of_idle(const struct kineto_run *run, const struct read_report *report)
{
    for (uint32_t i = 0; i < run->rank_count; i++) {
        const struct kineto_rank *rank = run->ranks + i;
        struct str text = {0};
        if (rank->span_count > 0)
            continue;
        if (rank->rank >= 0)
            str_printf(&text, "Rank %" PRId64 " has no GPU events: %s", rank->rank, rank->path);
        else
            str_printf(&text, "%s has no GPU events", rank->path);
        if (!text.failed)
            read_report_warn(report, str_text(&text));
        str_finish(&text);
    }
}

/* Says which ranks have several traces: parts of a run, or one and the same trace by mistake. */
static void warn_of_repeated(const struct kineto_run *run, const struct read_report *report)
{
    for (uint32_t i = 0; i < run->rank_count; i++) {
        const struct kineto_rank *first = run->ranks + i;
        uint32_t others = 0, earlier = 0;
        const char *other = NULL;
        for (uint32_t j = 0; j < run->rank_count && first->rank >= 0; j++)
            if (j != i && run->ranks[j].rank == first->rank) {
                earlier += j < i;
                others++;
                other = other ? other : run->ranks[j].path;
            }
        if (others == 0 || earlier > 0)
            continue;
        struct str text = {0};
        str_printf(&text,
            "Rank %" PRId64 " has %" PRIu32 " traces, and what several of them hold counts several "
            "times: %s, %s%s",
            first->rank, others + 1, first->path, other, others > 1 ? ", ..." : "");
        if (!text.failed)
            read_report_warn(report, str_text(&text));
        str_finish(&text);
    }
}

/* Says which ranks of the run there is no trace of. */
static void warn_of_missing(const struct kineto_run *run, const struct read_report *report)
{
    struct str text = {0};
    int64_t world = -1, missing = 0;
    for (uint32_t i = 0; i < run->rank_count; i++)
        if (run->ranks[i].world_size > world)
            world = run->ranks[i].world_size;
    for (int64_t rank = 0; rank < world && rank < 100000; rank++) {
        bool there = false;
        for (uint32_t i = 0; i < run->rank_count; i++)
            there = there || run->ranks[i].rank == rank;
        if (there)
            continue;
        if (missing++ < 20)
            str_printf(&text, "%s%" PRId64, text.length > 0 ? ", " : "", rank);
    }
    if (missing > 0 && !text.failed) {
        struct str message = {0};
        str_printf(&message, "%" PRId64 " of %" PRId64 " ranks %s missing: %s%s", missing, world,
            missing == 1 ? "is" : "are", str_text(&text), missing > 20 ? ", ..." : "");
        read_report_warn(report, str_text(&message));
        str_finish(&message);
    }
    str_finish(&text);
}

static int add_paths(struct trace_paths *list, const char *path, struct gput_error *error)
{
    int code = trace_paths_add(list, path, error);
    if (code == GPUT_ERROR_FORMAT)
        return error_set(error, code,
            "There are no trace files (.json, .json.gz) in %s: this view is of traces of PyTorch's "
            "profiler%s",
            path, trace_root_is(path) ? ", and that is the trace root of a training profile" : "");
    return code;
}

static bool has_spans(const struct kineto_run *run)
{
    for (uint32_t i = 0; i < run->rank_count; i++)
        if (run->ranks[i].span_count > 0)
            return true;
    return false;
}

int kineto_run_read(const struct gput_kineto_options *options, bool with_launches,
    struct kineto_run *run, span_visitor *visit, void *user, struct read_report *report,
    struct gput_error *error)
{
    const struct reading reading = {.run = run, .visit = visit, .user = user};
    struct trace_paths list = {0};
    int code = GPUT_OK;
    *run = (struct kineto_run){0};
    for (size_t i = 0; code == GPUT_OK && i < options->path_count; i++)
        code = add_paths(&list, options->paths[i], error);
    for (size_t i = 0; code == GPUT_OK && i < list.count; i++)
        read_report_expect(report, list.paths[i]);
    for (size_t i = 0; code == GPUT_OK && i < list.count; i++)
        code = read_trace(reading, list.paths[i], options, with_launches, report, error);
    trace_paths_finish(&list);
    if (code == GPUT_OK && !has_spans(run))
        code = error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no GPU activity in the trace%s: no events of the categories kernel, "
            "gpu_memcpy or gpu_memset",
            run->rank_count == 1 ? "" : "s");
    if (code == GPUT_OK) {
        warn_of_idle(run, report);
        warn_of_repeated(run, report);
        warn_of_missing(run, report);
    }
    return code;
}

void kineto_run_finish(struct kineto_run *run)
{
    for (uint32_t i = 0; i < run->rank_count; i++)
        free(run->ranks[i].path);
    free(run->ranks);
    names_finish(&run->names);
    *run = (struct kineto_run){0};
}
