#include "profile/profile_frame.h"

#include "base/str.h"
#include "trace/framework_events.h"
#include "trace/json_text.h"
#include "trace/system_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct filling {
    struct profile_frame *frame;
    const struct profile_frame_selection *selection;
    struct str text;
};

static void *room_for_one(void *rows, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return rows;
    size_t larger = *capacity ? *capacity * 2 : 256;
    void *moved = realloc(rows, larger * size);
    if (moved)
        *capacity = larger;
    return moved;
}

static uint32_t add_text(struct profile_frame *frame, const char *text)
{
    return names_add(&frame->names, text, strlen(text));
}

static bool selects_moment(const struct profile_frame_selection *selection, int64_t time_us)
{
    return time_us >= selection->start_us && time_us <= selection->end_us;
}

static bool selects_event(
    const struct profile_frame_selection *selection, const struct framework_row *row)
{
    if (selection->by_step)
        return row->step >= selection->first_step && row->step <= selection->last_step;
    return row->end_us >= selection->start_us && row->start_us <= selection->end_us;
}

static int take_reading(void *user, const struct system_reading *reading, struct gput_error *error)
{
    struct filling *filling = user;
    struct profile_frame *frame = filling->frame;
    if (!selects_moment(filling->selection, reading->time_us))
        return GPUT_OK;
    struct system_row *rows =
        room_for_one(frame->system, frame->system_count, &frame->system_capacity, sizeof *rows);
    if (!rows)
        return error_memory(error);
    frame->system = rows;
    struct system_row row = {.time_us = reading->time_us,
        .value = reading->value,
        .name = add_text(frame, reading->name),
        .dimension = add_text(frame, reading->dimension),
        .node = add_text(frame, reading->node),
        .type = add_text(frame, reading->type)};
    if (row.name == NAMES_NONE || row.dimension == NAMES_NONE || row.node == NAMES_NONE ||
        row.type == NAMES_NONE)
        return error_memory(error);
    rows[frame->system_count++] = row;
    return GPUT_OK;
}

static uint32_t add_json_text(struct filling *filling, const struct json_value *value)
{
    str_clear(&filling->text);
    json_append_string(value, &filling->text);
    if (filling->text.failed)
        return NAMES_NONE;
    return names_add(&filling->frame->names, str_text(&filling->text), filling->text.length);
}

static int32_t small_number(const struct json_value *value)
{
    int64_t number;
    return json_int64(value, &number) && number >= -1 && number <= INT32_MAX ? (int32_t)number : -1;
}

static uint32_t pin_memory(struct filling *filling, const struct json_value *value)
{
    if (value->kind == JSON_TRUE)
        return add_text(filling->frame, "True");
    if (value->kind == JSON_FALSE)
        return add_text(filling->frame, "False");
    return value->kind == JSON_STRING ? add_json_text(filling, value)
                                      : add_text(filling->frame, "NA");
}

/* What the args say about a row. */
static void take_args(
    struct filling *filling, const struct json_value *args, struct framework_row *row)
{
    struct json_walk walk = json_walk(args);
    struct json_value key, value, layer = {0}, name = {0}, pinned = {0};
    if (args->kind == JSON_OBJECT)
        while (json_walk_member(&walk, &key, &value)) {
            if (json_is(&key, "layer_name"))
                layer = value;
            else if (json_is(&key, "name"))
                name = value;
            else if (json_is(&key, "bytes_fetched") && !json_int64(&value, &row->bytes))
                row->bytes = -1;
            else if (json_is(&key, "worker_id"))
                row->worker_id = small_number(&value);
            else if (json_is(&key, "num_workers"))
                row->num_workers = small_number(&value);
            else if (json_is(&key, "pin_memory"))
                pinned = value;
        }
    row->pin_memory = pin_memory(filling, &pinned);
    if (layer.kind == JSON_STRING)
        row->metric = add_json_text(filling, &layer);
    else if (name.kind == JSON_STRING)
        row->metric = add_json_text(filling, &name);
}

static int take_event(void *user, const struct framework_event *event, struct gput_error *error)
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
    if (!selects_event(filling->selection, &row))
        return GPUT_OK;
    struct framework_row *rows = room_for_one(
        frame->framework, frame->framework_count, &frame->framework_capacity, sizeof *rows);
    if (!rows)
        return error_memory(error);
    frame->framework = rows;
    row.name = row.metric = names_add(&frame->names, event->name, event->name_length);
    row.phase = add_text(frame, event->phase);
    row.node = add_text(frame, event->node);
    take_args(filling, &event->args, &row);
    if (row.metric == NAMES_NONE || row.phase == NAMES_NONE || row.node == NAMES_NONE ||
        row.pin_memory == NAMES_NONE)
        return error_memory(error);
    rows[frame->framework_count++] = row;
    return GPUT_OK;
}

/* Full orders, so that equal rows stand together and the result is the same in every run. */
static int compare_system(const void *left, const void *right)
{
    const struct system_row *a = left, *b = right;
    if (a->time_us != b->time_us)
        return a->time_us < b->time_us ? -1 : 1;
    const uint32_t x[] = {a->type, a->name, a->dimension, a->node};
    const uint32_t y[] = {b->type, b->name, b->dimension, b->node};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    if (isnan(a->value) || isnan(b->value)) /* missing ones first: NaN compares with nothing */
        return (isnan(b->value) != 0) - (isnan(a->value) != 0);
    return (a->value > b->value) - (a->value < b->value);
}

static int compare_framework(const void *left, const void *right)
{
    const struct framework_row *a = left, *b = right;
    const int64_t x[] = {a->start_us, -a->end_us, a->step, a->pid, a->tid, a->bytes, a->metric,
        a->phase, a->node, a->worker_id, a->num_workers, a->pin_memory};
    const int64_t y[] = {b->start_us, -b->end_us, b->step, b->pid, b->tid, b->bytes, b->metric,
        b->phase, b->node, b->worker_id, b->num_workers, b->pin_memory};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Sorts rows and drops exact duplicates. Returns how many are left. */
static size_t sort_once(
    void *rows, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char *bytes = rows;
    size_t kept = count > 0;
    if (count > 1)
        qsort(rows, count, size, compare);
    for (size_t i = 1; i < count; i++)
        if (compare(bytes + (kept - 1) * size, bytes + i * size) != 0)
            memmove(bytes + kept++ * size, bytes + i * size, size);
    return kept;
}

static int read_files(struct filling *filling, const struct trace_root *root, const bool *chosen,
    bool system, struct read_report *report, struct gput_error *error)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct trace_file *file = root->files + i;
        if (!chosen[i] || file->kind == TRACE_FILE_PYTHON ||
            (file->kind == TRACE_FILE_SYSTEM) != system || !trace_file_is_readable(file, report))
            continue;
        uint64_t unusable = report->unusable;
        if (system)
            TRY(system_metrics_read(file->path, take_reading, filling, report, error));
        else
            TRY(framework_events_read(file, take_event, filling, report, error));
        read_report_warn_unusable(report, file->path, report->unusable - unusable);
    }
    return GPUT_OK;
}

/* The readings that belong to chosen steps: those between the first begin and the last end. */
static void keep_time_of_rows(struct profile_frame *frame)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    size_t kept = 0;
    for (size_t i = 0; i < frame->framework_count; i++) {
        const struct framework_row *row = frame->framework + i;
        first = row->start_us < first ? row->start_us : first;
        last = row->end_us > last ? row->end_us : last;
    }
    for (size_t i = 0; i < frame->system_count; i++)
        if (frame->system[i].time_us >= first && frame->system[i].time_us <= last)
            frame->system[kept++] = frame->system[i];
    frame->system_count = kept;
}

static void put_in_order(
    struct profile_frame *frame, const struct profile_frame_selection *selection)
{
    frame->system_count =
        sort_once(frame->system, frame->system_count, sizeof *frame->system, compare_system);
    frame->framework_count = sort_once(
        frame->framework, frame->framework_count, sizeof *frame->framework, compare_framework);
    if (selection->by_step)
        keep_time_of_rows(frame);
}

static int fill(struct filling *filling, const struct trace_root *root, bool *chosen,
    struct read_report *report, struct gput_error *error)
{
    const struct profile_frame_selection *selection = filling->selection;
    struct profile_frame *frame = filling->frame;
    struct trace_choice choice = {.start_us = selection->start_us, .end_us = selection->end_us};
    trace_root_choose(root, &choice, chosen);
    if (root->count > 0 && root->files[0].kind == TRACE_FILE_SYSTEM)
        frame->start_us = root->files[0].time_us;
    if (!selection->without_framework || selection->by_step)
        TRY(read_files(filling, root, chosen, false, report, error));
    if (!selection->without_system)
        TRY(read_files(filling, root, chosen, true, report, error));
    put_in_order(frame, selection);
    return GPUT_OK;
}

int profile_frame_read(const char *path, const struct profile_frame_selection *selection,
    struct profile_frame *frame, struct read_report *report, struct gput_error *error)
{
    struct filling filling = {.frame = frame, .selection = selection};
    struct trace_root root;
    *frame = (struct profile_frame){0};
    TRY(trace_root_read(path, &root, error));
    bool *chosen = calloc(root.count + 1, sizeof *chosen);
    int code = chosen ? fill(&filling, &root, chosen, report, error) : error_memory(error);
    free(chosen);
    str_finish(&filling.text);
    trace_root_finish(&root);
    if (code != GPUT_OK)
        profile_frame_finish(frame);
    return code;
}

static uint32_t copy_text(struct profile_frame *frame, const char *text, bool *ok)
{
    uint32_t number = add_text(frame, text);
    *ok = *ok && number != NAMES_NONE;
    return number;
}

int profile_frame_load(
    const struct gput_profile_rows *rows, struct profile_frame *frame, struct gput_error *error)
{
    *frame = (struct profile_frame){.start_us = rows->start_us,
        .system = calloc(rows->reading_count + 1, sizeof *frame->system),
        .framework = calloc(rows->event_count + 1, sizeof *frame->framework)};
    bool ok = frame->system && frame->framework;
    for (size_t i = 0; ok && i < rows->reading_count; i++) {
        const struct gput_profile_reading *reading = rows->readings + i;
        frame->system[frame->system_count++] = (struct system_row){.time_us = reading->time_us,
            .value = reading->value,
            .name = copy_text(frame, reading->metric, &ok),
            .dimension = copy_text(frame, reading->dimension, &ok),
            .node = copy_text(frame, reading->node, &ok),
            .type = copy_text(frame, reading->type, &ok)};
    }
    for (size_t i = 0; ok && i < rows->event_count; i++) {
        const struct gput_profile_event *event = rows->events + i;
        uint32_t metric = copy_text(frame, event->metric, &ok);
        frame->framework[frame->framework_count++] =
            (struct framework_row){.start_us = event->start_us,
                .end_us = event->end_us,
                .step = event->step,
                .bytes = -1,
                .name = metric,
                .metric = metric,
                .phase = copy_text(frame, event->process, &ok),
                .node = copy_text(frame, event->node, &ok),
                .worker_id = -1,
                .num_workers = -1,
                .pin_memory = copy_text(frame, "NA", &ok)};
    }
    if (ok)
        return GPUT_OK;
    profile_frame_finish(frame);
    return error_memory(error);
}

int profile_frame_of_rows(const struct gput_profile_rows *rows,
    const struct profile_frame_selection *selection, struct profile_frame *frame,
    struct gput_error *error)
{
    size_t kept = 0;
    TRY(profile_frame_load(rows, frame, error));
    for (size_t i = 0; i < frame->framework_count; i++)
        if (selects_event(selection, frame->framework + i))
            frame->framework[kept++] = frame->framework[i];
    frame->framework_count = kept;
    kept = 0;
    for (size_t i = 0; i < frame->system_count; i++)
        if (selects_moment(selection, frame->system[i].time_us))
            frame->system[kept++] = frame->system[i];
    frame->system_count = kept;
    put_in_order(frame, selection);
    return GPUT_OK;
}

void profile_frame_finish(struct profile_frame *frame)
{
    free(frame->system);
    free(frame->framework);
    names_finish(&frame->names);
    *frame = (struct profile_frame){0};
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

static int by_start(const void *left, const void *right)
{
    const struct framework_row *a = left, *b = right;
    return a->start_us < b->start_us ? -1 : a->start_us > b->start_us;
}

/* The latest of the intervals (by start) that strictly contain a row, of its own node if there is
 * one, or NULL. Steps of one mode and node do not overlap: looking back over a few is enough. */
static const struct framework_row *containing(
    const struct framework_row *steps, size_t count, const struct framework_row *row)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (steps[middle].start_us < row->start_us)
            low = middle + 1;
        else
            high = middle;
    }
    const struct framework_row *of_other_node = NULL;
    for (size_t back = 0; back < 64 && low > back; back++) {
        const struct framework_row *step = steps + low - back - 1;
        if (step->end_us <= row->end_us)
            continue;
        if (step->node == row->node)
            return step;
        if (!of_other_node)
            of_other_node = step;
    }
    return of_other_node;
}

static int by_number(const void *left, const void *right)
{
    const struct framework_row *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return by_start(left, right);
}

/* Of the intervals (by number) of the step that a row names, the latest that had begun, of its own
 * node if there is one, or NULL. */
static const struct framework_row *of_its_number(
    const struct framework_row *steps, size_t count, const struct framework_row *row)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (steps[middle].step < row->step)
            low = middle + 1;
        else
            high = middle;
    }
    const struct framework_row *best = NULL;
    for (const struct framework_row *step = steps + low;
         step < steps + count && step->step == row->step; step++) {
        bool begun = step->start_us <= row->start_us;
        bool own = step->node == row->node, best_own = best && best->node == row->node;
        if (!best || (own != best_own ? own : begun))
            best = step;
    }
    return best;
}

int profile_frame_assign_steps(
    struct profile_frame *frame, uint32_t *modes, struct gput_error *error)
{
    size_t count = 0;
    struct framework_row *steps = malloc((frame->framework_count + 1) * sizeof *steps);
    struct framework_row *numbers = malloc((frame->framework_count + 1) * sizeof *numbers);
    if (!steps || !numbers) {
        free(steps);
        free(numbers);
        return error_memory(error);
    }
    for (size_t i = 0; i < frame->framework_count; i++)
        if (profile_frame_is_step(frame, frame->framework + i, NULL))
            steps[count++] = frame->framework[i];
    memcpy(numbers, steps, count * sizeof *steps);
    qsort(steps, count, sizeof *steps, by_start);
    qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < frame->framework_count; i++) {
        struct framework_row *row = frame->framework + i;
        const struct framework_row *step = row;
        if (!profile_frame_is_step(frame, row, NULL))
            step = row->step == -1 ? containing(steps, count, row)
                                   : of_its_number(numbers, count, row);
        modes[i] = step ? step->metric : NAMES_NONE;
        if (step && row->step == -1)
            row->step = step->step;
    }
    free(steps);
    free(numbers);
    return GPUT_OK;
}
