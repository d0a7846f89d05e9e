#include "analysis/training/pytorch/kineto_merged.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/str.h"
#include "files/trace/merged_mark.h"

#include <stdlib.h>

/* Returns the rank of a trace that was already seen; the first trace has the rank of the file.
 * NULL: the trace is new. */
static struct kineto_rank *find_trace(struct kineto_merged *merged, int64_t trace)
{
    struct kineto_ranks *ranks = merged->ranks;
    if (!merged->is_merged || ranks->all[merged->file].trace == trace)
        return ranks->all + merged->file;
    for (uint32_t i = merged->others; i < ranks->count; i++)
        if (ranks->all[i].trace == trace)
            return ranks->all + i;
    return NULL;
}

/* Returns the process of an event's pid, adding it when it is new. NULL: out of memory. */
static struct kineto_process *process_of(
    struct kineto_merged *merged, const struct trace_event *event)
{
    uint32_t pid = names_add(&merged->pids, event->pid.text, event->pid.length);
    if (pid == NAMES_NONE)
        return NULL;
    if (pid == merged->process_count) {
        if (!ARRAY_EXTEND(merged->processes, merged->process_count))
            return NULL;
        merged->processes[merged->process_count++] = (struct kineto_process){.rank = merged->file};
    }
    return &merged->processes[pid];
}

/* Reads the name of a process from a metadata event and, in a merged timeline, its trace. */
static int add_metadata(
    struct kineto_merged *merged, const struct trace_event *event, struct gput_error *error)
{
    struct json_value name = json_member(&event->args, "name");
    struct merged_mark mark;
    struct str text = {0};
    if (!json_is(&event->name, "process_name") || event->pid.length == 0)
        return GPUT_OK;
    struct kineto_process *process = process_of(merged, event);
    if (!process)
        return error_memory(error);
    if (name.kind == JSON_STRING) {
        json_append_string(&name, &text);
        free(process->name);
        process->name = str_steal(&text);
        if (!process->name)
            return error_memory(error);
    }
    if (!merged_mark_read(event, &mark))
        return GPUT_OK;
    process->is_ours = mark.trace < 0;
    if (process->is_ours)
        return GPUT_OK;

    /* Find the rank of the trace that the mark names, or add one. */
    struct kineto_rank *rank = find_trace(merged, mark.trace);
    if (!rank)
        TRY(kineto_ranks_append(merged->ranks, &rank, error));
    if (!rank->path || !merged->is_merged) {
        /* Name the trace by both files: "merged.json: rank0.json". */
        struct str path = {0};
        str_printf(&path, "%s: ", event_stream_name(merged->stream));
        json_append_string(&mark.name, &path);
        free(rank->path);
        rank->path = str_steal(&path);
        TRY(rank->path ? GPUT_OK : error_memory(error));
    }

    rank->trace = mark.trace;
    rank->rank = mark.rank;
    rank->world_size = mark.world_size;
    merged->is_merged = true;
    process->rank = (uint32_t)(rank - merged->ranks->all);
    return GPUT_OK;
}

uint32_t kineto_merged_rank(const struct kineto_merged *merged, const struct trace_event *event)
{
    uint32_t pid = NAMES_NONE;
    if (merged->is_merged && event->pid.length > 0)
        pid = names_find(&merged->pids, event->pid.text, event->pid.length);
    return pid == NAMES_NONE ? merged->file : merged->processes[pid].rank;
}

bool kineto_merged_count_unknown(struct kineto_merged *merged, const struct trace_event *event)
{
    const struct json_value *category = &event->category;
    CLEANUP_STR struct str text = {0};
    if (category->kind != JSON_STRING) {
        struct kineto_process *process = process_of(merged, event);
        if (!process || process->is_ours)
            return process;
        process->unnamed++;
        merged->ranks->all[process->rank].unknown_count++;
        return true;
    }
    merged->ranks->all[kineto_merged_rank(merged, event)].unknown_count++;
    json_append_string(category, &text);
    bool is_counted = !text.failed && kineto_ranks_count_unknown(merged->ranks, str_text(&text), 1);
    return is_counted;
}

/* Frees the processes of a trace. */
static void merged_finish(struct kineto_merged *merged)
{
    for (uint32_t i = 0; i < merged->process_count; i++)
        free(merged->processes[i].name);
    free(merged->processes);
    names_finish(&merged->pids);
}

int kineto_merged_read(struct kineto_ranks *ranks, uint32_t number, kineto_visitor *visit,
    void *user, struct read_report *report, struct gput_error *error)
{
    CLEANUP(event_stream_close_pointer) struct event_stream *stream = NULL;
    struct trace_event event;
    bool there = true;
    TRY(event_stream_open(ranks->all[number].path, &stream, error));
    event_stream_use_cores(stream, report->cores);
    CLEANUP(merged_finish)
    struct kineto_merged merged = {
        .ranks = ranks, .stream = stream, .file = number, .others = ranks->count};
    while (there) {
        TRY(event_stream_next(stream, &event, &there, error));
        if (there && event.type == 'M')
            TRY(add_metadata(&merged, &event, error));
        else if (there && event.type == 'X')
            TRY(visit(user, &merged, &event, error));
        event_stream_report_progress(stream, report);
    }
    /* Count events without a category under the names of their processes, which may be written
     * after the events. */
    bool is_counted = true;
    for (uint32_t i = 0; i < merged.process_count; i++) {
        const struct kineto_process *process = &merged.processes[i];
        struct str text = {0};
        if (process->unnamed == 0 || process->is_ours)
            continue;
        str_append(&text, "no category");
        if (process->name)
            str_printf(&text, ", in the process \"%s\"", process->name);
        is_counted &= !text.failed &&
                      kineto_ranks_count_unknown(merged.ranks, str_text(&text), process->unnamed);
        str_finish(&text);
    }
    if (!is_counted)
        return error_memory(error);

    /* Add the file to the report. Its header has the rank, unless it is a merged timeline. */
    const struct trace_header *header = event_stream_header(stream);
    struct kineto_rank *rank = merged.ranks->all + merged.file;
    event_stream_report_end(stream, report);
    if (!merged.is_merged) {
        rank->rank = header->rank;
        rank->world_size = header->world_size;
    }
    report->files++;
    report->events += event_stream_counts(stream)->events;
    report->unusable += merged.unusable;
    read_report_warn(report, event_stream_warning(stream));
    read_report_warn_unusable(report, event_stream_name(stream), merged.unusable);
    return GPUT_OK;
}
