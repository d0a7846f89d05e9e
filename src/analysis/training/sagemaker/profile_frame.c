#include "analysis/training/sagemaker/profile_frame.h"

#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/order.h"
#include "base/str.h"
#include "files/trace/framework_events.h"
#include "files/trace/system_metrics.h"
#include "files/trace/trace_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct filling {
    struct profile_frame *frame;
    const struct profile_frame_selection *selection;
    struct trace_clock clock; /* clock of all events and readings of the root */
    struct str text;
};

/* Returns the number of a text, adding it if it is new. */
static uint32_t add_text(struct profile_frame *frame, const char *text)
{
    return names_add(&frame->names, text, strlen(text));
}

/* Whether a reading of this moment was asked for. */
static bool selects_moment(const struct filling *filling, int64_t time_us)
{
    const struct profile_frame_selection *selection = filling->selection;
    const struct profile_span *events = &filling->frame->event_span;
    if (selection->by_step) /* steps select the readings during their events */
        return time_us >= events->first_us && time_us <= events->last_us;
    return time_us >= selection->start_us && time_us <= selection->end_us;
}

/* Whether an event was asked for, by its step or by its time. */
static bool selects_event(
    const struct profile_frame_selection *selection, const struct framework_row *row)
{
    if (selection->by_step)
        return row->step >= selection->first_step && row->step <= selection->last_step;
    return row->end_us >= selection->start_us && row->start_us <= selection->end_us;
}

/* Widens a span so that it includes an interval. */
static void widen(struct profile_span *span, int64_t start_us, int64_t end_us)
{
    span->first_us = start_us < span->first_us ? start_us : span->first_us;
    span->last_us = end_us > span->last_us ? end_us : span->last_us;
}

/* Adds a reading if its moment is selected. */
static int add_reading(
    struct filling *filling, const struct gput_profile_reading *reading, struct gput_error *error)
{
    struct profile_frame *frame = filling->frame;
    if (!selects_moment(filling, reading->time_us))
        return GPUT_OK;
    struct system_row row = {.time_us = reading->time_us,
        .value = reading->value,
        .name = add_text(frame, reading->metric),
        .dimension = add_text(frame, reading->dimension),
        .node = add_text(frame, reading->node),
        .type = add_text(frame, reading->type)};
    if (row.name == NAMES_NONE || row.dimension == NAMES_NONE || row.node == NAMES_NONE ||
        row.type == NAMES_NONE)
        return error_memory(error);
    widen(&frame->reading_span, row.time_us, row.time_us);
    return row_sorter_add(frame->readings, &row, error);
}

/* Adds a reading of a file. */
static int on_reading(void *user, const struct system_reading *reading, struct gput_error *error)
{
    struct filling *filling = user;
    int64_t time_ns;
    const struct gput_profile_reading row = {.time_us = reading->time_us,
        .value = reading->value,
        .metric = reading->name,
        .dimension = reading->dimension,
        .node = reading->node,
        .type = reading->type};
    if (!__builtin_mul_overflow(reading->time_us, 1000, &time_ns))
        trace_clock_add(&filling->clock, time_ns, time_ns);
    return add_reading(filling, &row, error);
}

/* Adds an event of the selected time and steps, if the view needs it. */
static int add_event(
    struct filling *filling, const struct framework_row *row, struct gput_error *error)
{
    struct profile_frame *frame = filling->frame;
    const struct profile_frame_selection *selection = filling->selection;
    widen(&frame->event_span, row->start_us, row->end_us);
    if (selection->keeps_event && !selection->keeps_event(frame, selection->options, row))
        return GPUT_OK;
    return row_sorter_add(frame->events, row, error);
}

/* Returns the number of a text in JSON. NAMES_NONE: out of memory. */
static uint32_t add_json_text(struct filling *filling, const struct json_value *value)
{
    str_clear(&filling->text);
    json_append_string(value, &filling->text);
    if (filling->text.failed)
        return NAMES_NONE;
    return names_add(&filling->frame->names, str_text(&filling->text), filling->text.length);
}

/* Reads a number from -1 to INT32_MAX; returns -1 for anything else. */
static int32_t small_number(const struct json_value *value)
{
    int64_t number;
    return json_int64(value, &number) && number >= -1 && number <= INT32_MAX ? (int32_t)number : -1;
}

/* Returns the number of the text by which Python prints the value. */
static uint32_t pin_memory(struct filling *filling, const struct json_value *value)
{
    if (value->kind == JSON_TRUE)
        return add_text(filling->frame, "True");
    if (value->kind == JSON_FALSE)
        return add_text(filling->frame, "False");
    return value->kind == JSON_STRING ? add_json_text(filling, value)
                                      : add_text(filling->frame, "NA");
}

/* Adds an event of a file. */
static int on_event(void *user, const struct framework_event *event, struct gput_error *error)
{
    struct filling *filling = user;
    struct profile_frame *frame = filling->frame;
    struct framework_row row = {.start_us = event->start_ns / 1000,
        .end_us = event->end_ns / 1000,
        .pid = event->pid,
        .tid = event->tid,
        .step = event->step,
        .bytes = -1,
        .worker_id = -1,
        .num_workers = -1};
    trace_clock_add(&filling->clock, event->start_ns, event->end_ns);
    if (!selects_event(filling->selection, &row))
        return GPUT_OK;
    row.name = row.metric = names_add(&frame->names, event->name, event->name_length);
    row.phase = add_text(frame, event->phase);
    row.node = add_text(frame, event->node);

    /* Read the arguments that have a column in a frame. */
    struct json_walk walk = json_walk(&event->args);
    struct json_value key, value, layer = {0}, name = {0}, pinned = {0};
    if (event->args.kind == JSON_OBJECT)
        while (json_walk_member(&walk, &key, &value)) {
            if (json_is(&key, "layer_name"))
                layer = value;
            else if (json_is(&key, "name"))
                name = value;
            else if (json_is(&key, "bytes_fetched") && !json_int64(&value, &row.bytes))
                row.bytes = -1;
            else if (json_is(&key, "worker_id"))
                row.worker_id = small_number(&value);
            else if (json_is(&key, "num_workers"))
                row.num_workers = small_number(&value);
            else if (json_is(&key, "pin_memory"))
                pinned = value;
        }
    row.pin_memory = pin_memory(filling, &pinned);
    if (layer.kind == JSON_STRING)
        row.metric = add_json_text(filling, &layer);
    else if (name.kind == JSON_STRING)
        row.metric = add_json_text(filling, &name);

    if (row.metric == NAMES_NONE || row.phase == NAMES_NONE || row.node == NAMES_NONE ||
        row.pin_memory == NAMES_NONE)
        return error_memory(error);
    return add_event(filling, &row, error);
}

/* Orders readings by all columns, so that equal rows are neighbours and every run gives the same
 * result. */
static int compare_system(const void *left, const void *right)
{
    const struct system_row *a = left, *b = right;
    ORDER_BY(a->time_us, b->time_us);
    const uint32_t x[] = {a->type, a->name, a->dimension, a->node};
    const uint32_t y[] = {b->type, b->name, b->dimension, b->node};
    for (int i = 0; i < 4; i++)
        ORDER_BY(x[i], y[i]);
    if (isnan(a->value) || isnan(b->value)) /* missing ones first: NaN has no order */
        return (isnan(b->value) != 0) - (isnan(a->value) != 0);
    return ORDER(a->value, b->value);
}

/* Orders events by start, then by all other columns. */
static int compare_framework(const void *left, const void *right)
{
    const struct framework_row *a = left, *b = right;
    const int64_t x[] = {a->start_us, -a->end_us, a->step, a->pid, a->tid, a->bytes, a->metric,
        a->phase, a->node, a->worker_id, a->num_workers, a->pin_memory};
    const int64_t y[] = {b->start_us, -b->end_us, b->step, b->pid, b->tid, b->bytes, b->metric,
        b->phase, b->node, b->worker_id, b->num_workers, b->pin_memory};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        ORDER_BY(x[i], y[i]);
    return 0;
}

/* Reads the chosen files of one kind. */
static int read_files(struct filling *filling, const struct trace_root *root, const bool *chosen,
    bool system, struct read_report *report, struct gput_error *error)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct trace_file *file = root->files + i;
        if (!chosen[i] || (file->kind == TRACE_FILE_SYSTEM) != system ||
            !trace_file_is_readable(file, report))
            continue;
        uint64_t unusable = report->unusable;
        if (system)
            TRY(system_metrics_read(file->path, on_reading, filling, report, error));
        else
            TRY(framework_events_read(file, on_event, filling, report, error));
        read_report_warn_unusable(report, file->path, report->unusable - unusable);
    }
    return GPUT_OK;
}

/* Reads the selected part of a profile's folder. */
static int read_root(struct filling *filling, const struct trace_root *root, bool *chosen,
    struct read_report *report, struct gput_error *error)
{
    const struct profile_frame_selection *selection = filling->selection;
    struct trace_choice choice = {.start_us = selection->start_us, .end_us = selection->end_us};
    bool events = !selection->without_framework || selection->by_step;
    trace_root_choose(root, &choice, chosen);
    if (root->count > 0 && root->files[0].kind == TRACE_FILE_SYSTEM)
        filling->frame->start_us = root->files[0].time_us;
    for (size_t i = 0; i < root->count; i++) {
        enum trace_file_kind kind = root->files[i].kind;
        chosen[i] = chosen[i] && kind != TRACE_FILE_PYTHON &&
                    (kind == TRACE_FILE_SYSTEM ? !selection->without_system : events);
        if (chosen[i])
            read_report_expect(report, root->files[i].path);
    }
    TRY(read_files(filling, root, chosen, false, report, error));
    return read_files(filling, root, chosen, true, report, error);
}

/* Reads the profile in a folder. */
static int read_path(
    struct filling *filling, const char *path, struct read_report *report, struct gput_error *error)
{
    CLEANUP(trace_root_finish) struct trace_root root = {0};
    TRY(trace_root_read(path, &root, error));
    trace_clock_begin(&filling->clock, path);
    CLEANUP_FREE bool *chosen = calloc(root.count + 1, sizeof *chosen);
    TRY(chosen ? read_root(filling, &root, chosen, report, error) : error_memory(error));
    trace_clocks_warn(&filling->clock, 1, report);
    return GPUT_OK;
}

int profile_frame_add(struct profile_frame *frame, const struct gput_profile_event *event,
    struct framework_row *row, struct gput_error *error)
{
    *row = (struct framework_row){.start_us = event->start_us,
        .end_us = event->end_us,
        .step = event->step,
        .bytes = -1,
        .metric = add_text(frame, event->metric),
        .phase = add_text(frame, event->process),
        .node = add_text(frame, event->node),
        .worker_id = -1,
        .num_workers = -1,
        .pin_memory = add_text(frame, "NA")};
    row->name = row->metric;
    if (row->metric == NAMES_NONE || row->phase == NAMES_NONE || row->node == NAMES_NONE ||
        row->pin_memory == NAMES_NONE)
        return error_memory(error);
    return GPUT_OK;
}

/* Adds the rows of a program. */
static int add_rows(
    struct filling *filling, const struct gput_profile_rows *rows, struct gput_error *error)
{
    struct framework_row row;
    filling->frame->start_us = rows->start_us;
    for (size_t i = 0; i < rows->n_events; i++) {
        TRY(profile_frame_add(filling->frame, rows->events + i, &row, error));
        if (selects_event(filling->selection, &row))
            TRY(add_event(filling, &row, error));
    }
    for (size_t i = 0; i < rows->n_readings; i++)
        TRY(add_reading(filling, rows->readings + i, error));
    return GPUT_OK;
}

/* Makes the sorters of readings and events, which drop equal rows. */
static int make_sorters(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_error *error)
{
    struct row_memory memory = row_memory_of(options->memory_bytes, options->temporary_folder);
    const struct row_order readings = {sizeof(struct system_row), compare_system, true};
    const struct row_order events = {sizeof(struct framework_row), compare_framework, true};
    TRY(row_sorter_create(&memory, &readings, &frame->readings, error));
    return row_sorter_create(&memory, &events, &frame->events, error);
}

int profile_frame_read(const struct profile_frame_selection *selection, struct profile_frame *frame,
    struct read_report *report, struct gput_error *error)
{
    const struct gput_profile_options *options = selection->options;
    struct filling filling = {.frame = frame, .selection = selection};
    *frame = (struct profile_frame){
        .reading_span = {INT64_MAX, INT64_MIN}, .event_span = {INT64_MAX, INT64_MIN}};
    int code = make_sorters(frame, options, error);
    if (code == GPUT_OK)
        code = options->rows ? add_rows(&filling, options->rows, error)
                             : read_path(&filling, options->path, report, error);
    str_finish(&filling.text);
    if (code != GPUT_OK)
        profile_frame_finish(frame);
    return code;
}

void profile_frame_finish(struct profile_frame *frame)
{
    row_sorter_destroy(frame->readings);
    row_sorter_destroy(frame->events);
    names_finish(&frame->names);
    *frame = (struct profile_frame){0};
}

int profile_frame_first_reading(
    struct profile_frame *frame, const struct system_row **row, struct gput_error *error)
{
    const void *first;
    TRY(row_sorter_first(frame->readings, &first, error));
    *row = first;
    return GPUT_OK;
}

int profile_frame_next_reading(
    struct profile_frame *frame, const struct system_row **row, struct gput_error *error)
{
    const void *next;
    TRY(row_sorter_next(frame->readings, &next, error));
    *row = next;
    return GPUT_OK;
}

int profile_frame_first_event(
    struct profile_frame *frame, const struct framework_row **row, struct gput_error *error)
{
    const void *first;
    TRY(row_sorter_first(frame->events, &first, error));
    *row = first;
    return GPUT_OK;
}

int profile_frame_next_event(
    struct profile_frame *frame, const struct framework_row **row, struct gput_error *error)
{
    const void *next;
    TRY(row_sorter_next(frame->events, &next, error));
    *row = next;
    return GPUT_OK;
}

bool profile_frame_is_step(
    const struct profile_frame *frame, const struct framework_row *row, const char *mode)
{
    static const char prefix[] = "Step:ModeKeys";
    const char *name = profile_frame_text(frame, row->metric);
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *dot = strchr(name, '.');
    return !mode || (dot && strcmp(dot + 1, mode) == 0);
}
