#include "profile/kineto.h"

#include "base/str.h"
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
    bool with_launches;
    size_t first_span;
    struct launch *launches;
    size_t launch_count, launch_capacity;
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

static void *room_for_one(void *rows, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return rows;
    size_t larger = *capacity ? *capacity * 2 : 1024;
    void *moved = realloc(rows, larger * size);
    if (moved)
        *capacity = larger;
    return moved;
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
    struct kineto_run *run = reading->run;
    struct gpu_span *spans = room_for_one(run->spans, run->count, &run->capacity, sizeof *spans);
    if (!spans)
        return error_memory(error);
    run->spans = spans;
    str_clear(&reading->text);
    json_append_string(&event->name, &reading->text);
    uint32_t name = names_add(&run->names, str_text(&reading->text), reading->text.length);
    if (reading->text.failed || name == NAMES_NONE)
        return error_memory(error);
    int64_t pid = 0, tid = 0, end_ns;
    json_int64(&event->pid, &pid);
    json_int64(&event->tid, &tid);
    if (__builtin_add_overflow(event->start_ns, event->duration_ns, &end_ns)) {
        reading->unusable++;
        return GPUT_OK;
    }
    spans[run->count++] = (struct gpu_span){.start_ns = event->start_ns,
        .end_ns = end_ns,
        .launched_ns = INT64_MIN,
        .device = argument(event, "device", pid),
        .stream = argument(event, "stream", tid),
        .correlation = argument(event, "correlation", -1),
        .name = name,
        .rank = reading->rank,
        .work = !kernel                                       ? GPU_MEMORY
                : communicates(names_text(&run->names, name)) ? GPU_COMMUNICATION
                                                              : GPU_COMPUTE};
    return GPUT_OK;
}

static int add_launch(
    struct reading *reading, const struct trace_event *event, struct gput_error *error)
{
    int64_t correlation = argument(event, "correlation", -1);
    if (correlation < 0)
        return GPUT_OK;
    struct launch *launches = room_for_one(
        reading->launches, reading->launch_count, &reading->launch_capacity, sizeof *launches);
    if (!launches)
        return error_memory(error);
    reading->launches = launches;
    launches[reading->launch_count++] = (struct launch){correlation, event->start_ns};
    return GPUT_OK;
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
    if (reading->with_launches &&
        (json_is(&event->category, "cuda_runtime") || json_is(&event->category, "cuda_driver") ||
            json_is(&event->category, "hip_runtime")))
        return add_launch(reading, event, error);
    return GPUT_OK;
}

static int by_correlation(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

/* Gives each span the moment its launch was called. */
static void join_launches(struct reading *reading)
{
    struct kineto_run *run = reading->run;
    if (reading->launch_count == 0)
        return;
    qsort(reading->launches, reading->launch_count, sizeof *reading->launches, by_correlation);
    for (size_t i = reading->first_span; i < run->count; i++) {
        struct launch key = {run->spans[i].correlation, 0};
        const struct launch *found = bsearch(&key, reading->launches, reading->launch_count,
            sizeof *reading->launches, by_correlation);
        if (found && key.correlation >= 0)
            run->spans[i].launched_ns = found->time_ns;
    }
}

static int read_stream(struct reading *reading, struct event_stream *stream,
    struct read_report *report, struct gput_error *error)
{
    struct trace_event event;
    bool there;
    TRY(event_stream_next(stream, &event, &there, error));
    while (there) {
        TRY(take_event(reading, &event, error));
        TRY(event_stream_next(stream, &event, &there, error));
    }
    /* Only now: what tells the rank may stand behind the events. */
    const struct trace_header *header = event_stream_header(stream);
    struct kineto_rank *rank = reading->run->ranks + reading->rank;
    rank->rank = header->rank;
    rank->world_size = header->world_size;
    rank->span_count = reading->run->count - reading->first_span;
    join_launches(reading);
    report->files++;
    report->events += event_stream_counts(stream)->events;
    report->unusable += reading->unusable;
    read_report_warn(report, event_stream_warning(stream));
    read_report_warn_unusable(report, rank->path, reading->unusable);
    return GPUT_OK;
}

static int read_trace(struct kineto_run *run, const char *path, bool with_launches,
    struct read_report *report, struct gput_error *error)
{
    struct event_stream *stream;
    struct reading reading = {.run = run,
        .rank = run->rank_count,
        .with_launches = with_launches,
        .first_span = run->count};
    struct kineto_rank *ranks = realloc(run->ranks, (run->rank_count + 1) * sizeof *ranks);
    if (!ranks)
        return error_memory(error);
    run->ranks = ranks;
    ranks[run->rank_count++] =
        (struct kineto_rank){.rank = -1, .world_size = -1, .path = strdup(path)};
    TRY(event_stream_open(path, &stream, error));
    int code = read_stream(&reading, stream, report, error);
    event_stream_close(stream);
    free(reading.launches);
    str_finish(&reading.text);
    return code;
}

static int by_place(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
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

int kineto_run_read(const struct gput_kineto_options *options, bool with_launches,
    struct kineto_run *run, struct read_report *report, struct gput_error *error)
{
    struct trace_paths list = {0};
    int code = GPUT_OK;
    *run = (struct kineto_run){0};
    for (size_t i = 0; code == GPUT_OK && i < options->path_count; i++)
        code = add_paths(&list, options->paths[i], error);
    for (size_t i = 0; code == GPUT_OK && i < list.count; i++)
        code = read_trace(run, list.paths[i], with_launches, report, error);
    trace_paths_finish(&list);
    if (code == GPUT_OK && run->count == 0)
        code = error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no GPU activity in the trace%s: no events of the categories kernel, "
            "gpu_memcpy or gpu_memset",
            run->rank_count == 1 ? "" : "s");
    if (code == GPUT_OK) {
        qsort(run->spans, run->count, sizeof *run->spans, by_place);
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
    free(run->spans);
    names_finish(&run->names);
    *run = (struct kineto_run){0};
}
