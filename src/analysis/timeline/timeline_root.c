#include "analysis/timeline/timeline_inputs.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_string.h"
#include "base/json_text.h"
#include "base/names.h"
#include "base/order.h"
#include "files/trace/framework_events.h"
#include "files/trace/system_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Readings of the system ---- */

/* A reading of the machine. Each is a value of a counter; a low one also gets an instant event with
 * all readings around it. */

struct timeline_reading {
    int64_t time_us;
    double value;
    uint32_t label; /* "cpu0_CPUUtilization_algo-1" */
    bool low;
};

struct timeline_readings {
    struct timeline_reading *readings;
    size_t count;
    struct names labels;
    bool has_metric; /* there was a reading of the metric to be marked */
};

/* Readings within this distance of a low one are shown with it. */
#define AROUND_US 20000

/* Orders readings by time, then by label. */
static int compare_times(const void *left, const void *right)
{
    const struct timeline_reading *a = left, *b = right;
    ORDER_BY(a->time_us, b->time_us);
    return ORDER(a->label, b->label);
}

/* Returns the distance between two times. */
static int64_t distance(int64_t left, int64_t right)
{
    return left < right ? right - left : left - right;
}

/* Whether this reading is the nearest one of its label to that time, among those from `first` to
 * before `end`; of two equally near ones, the later. */
static bool is_nearest(
    const struct timeline_reading *all, size_t first, size_t end, size_t at, int64_t time_us)
{
    int64_t own = distance(all[at].time_us, time_us);
    for (size_t i = first; i < end; i++) {
        int64_t other = distance(all[i].time_us, time_us);
        if (all[i].label == all[at].label && (other < own || (other == own && i > at)))
            return false;
    }
    return true;
}

/* Adds an instant event at a low reading, with the nearest reading of each label around it. */
static int add_mark(const struct timeline_readings *readings, size_t at, uint32_t thread,
    struct timeline *timeline, struct str *text, struct gput_error *error)
{
    static const char name[] = "sys_metrics_bottlenecks";
    const struct timeline_reading *all = readings->readings;
    int64_t time_us = all[at].time_us;
    size_t first = at, end = at;
    while (first > 0 && all[first - 1].time_us >= time_us - AROUND_US)
        first--;
    while (end < readings->count && all[end].time_us <= time_us + AROUND_US)
        end++;
    str_clear(text);
    for (size_t i = first; i < end; i++) {
        if (!is_nearest(all, first, end, i, time_us))
            continue;
        const char *label = names_text(&readings->labels, all[i].label);
        str_append(text, text->length == 0 ? "{" : ", ");
        json_write_string(label, strlen(label), text);
        str_append(text, ": ");
        str_append_double(text, all[i].value);
    }
    str_append_char(text, '}');
    if (text->failed)
        return error_memory(error);
    struct timeline_event event = {.type = 'i',
        .scope = 'g',
        .thread = thread,
        .start_ns = time_us * 1000,
        .name = {name, sizeof name - 1, 0},
        .args = {text->data, text->length, 0}};
    return timeline_add(timeline, &event, NULL, error);
}

/* Sorts the readings and adds them to the timeline. */
static int timeline_readings_add(
    struct timeline_readings *readings, struct timeline *timeline, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    if (readings->count == 0)
        return GPUT_OK;
    uint32_t process = timeline_process(&timeline->tracks, "system metrics", "System metrics");
    uint32_t thread =
        process == TRACK_NONE ? TRACK_NONE : timeline_thread(&timeline->tracks, process, 0, 0);
    if (thread == TRACK_NONE || !timeline_thread_rename(&timeline->tracks, thread, "readings"))
        return error_memory(error);
    qsort(readings->readings, readings->count, sizeof *readings->readings, compare_times);

    /* Add all readings as counters, and a mark at each time at which one is low. */
    int64_t marked_us = INT64_MIN;
    for (size_t i = 0; i < readings->count; i++) {
        const struct timeline_reading *reading = readings->readings + i;

        /* Add a reading as a value of a counter. */
        const char *label = names_text(&readings->labels, reading->label);
        str_clear(&text);
        json_write_string(label, strlen(label), &text);
        size_t name_length = text.length;
        str_append(&text, "{\"value\": ");
        str_append_double(&text, reading->value);
        str_append_char(&text, '}');
        if (text.failed)
            return error_memory(error);
        struct timeline_event event = {.type = 'C',
            .thread = thread,
            .start_ns = reading->time_us * 1000,
            .name = {text.data + 1, name_length - 2, 0},
            .args = {text.data + name_length, text.length - name_length, 0}};
        TRY(timeline_add(timeline, &event, NULL, error));

        if (!reading->low || reading->time_us == marked_us)
            continue;
        marked_us = reading->time_us;
        TRY(add_mark(readings, i, thread, timeline, &text, error));
    }
    return GPUT_OK;
}

/* ---- The root ---- */

#define KNOWN_THREADS 512

struct adding {
    struct timeline_inputs *inputs;
    struct timeline_readings readings;
    struct str text;
    /* State of the current file: */
    struct {
        const char *phase; /* phase of the event; NULL: unused */
        int64_t tid;
        uint32_t thread;
    } known[KNOWN_THREADS];
    uint32_t source;    /* its node; NAMES_NONE: not known yet */
    uint32_t text_file; /* from source_texts_add() */
};

/* Adds an event with the texts of its file, so that nothing is lost. */
static int add_as_written(struct adding *adding, const struct framework_event *event,
    struct timeline_event *slice, struct gput_error *error)
{
    const struct trace_event *written = event->written;
    const struct json_value *name = &written->name, *args = &written->args;
    struct event_place place = {.file = adding->text_file,
        .at = event_stream_place(event->stream),
        .text = written->text,
        .length = written->length};
    slice->name = (struct json_text){name->text, name->length, name->flags};
    if (args->kind == JSON_OBJECT)
        slice->args = (struct json_text){args->text, args->length, args->flags};
    return timeline_add(adding->inputs->timeline, slice, &place, error);
}

/* Adds an event of a framework; while steps are searched for, notes its step instead. */
static int add_event(void *user, const struct framework_event *event, struct gput_error *error)
{
    struct adding *adding = user;
    struct str *text = &adding->text;
    if (adding->inputs->search) {
        step_search_note(adding->inputs->search, event->step, event->start_ns);
        return GPUT_OK;
    }
    struct timeline_event slice = {.type = 'X',
        .start_ns = event->start_ns,
        .duration_ns = event->end_ns - event->start_ns,
        .is_pair = !event->written};
    if (adding->source == NAMES_NONE) {
        /* At the first event, look up what all events of the file share. */
        struct timeline_inputs *inputs = adding->inputs;
        memset(adding->known, 0, sizeof adding->known);
        adding->text_file = source_texts_add(inputs->timeline->texts,
            event_stream_plain_fd(event->stream), event_stream_name(event->stream));
        adding->source = names_add(&inputs->sources, event->node, strlen(event->node));
        TRY(adding->source == NAMES_NONE ? error_memory(error) : GPUT_OK);
    }

    /* Find the track of the event. It is nearly always one of the last few; equal phases of a file
     * have the same address. */
    size_t slot = ((uintptr_t)event->phase / 2 + (uint64_t)event->tid) % KNOWN_THREADS;
    if (adding->known[slot].phase != event->phase || adding->known[slot].tid != event->tid) {
        /* Look the track up, and remember it. */
        uint32_t *thread = &adding->known[slot].thread;
        struct timeline_tracks *tracks = &adding->inputs->timeline->tracks;
        uint32_t process = timeline_process(tracks, event->phase, event->phase);
        if (process == TRACK_NONE)
            return error_memory(error);
        *thread = timeline_thread(tracks, process, adding->source, event->tid);
        if (*thread == TRACK_NONE)
            return error_memory(error);
        if (!tracks->threads[*thread].name && event->node[0] != '\0' &&
            !timeline_thread_rename(tracks, *thread, event->node))
            return error_memory(error);

        adding->known[slot].phase = event->phase;
        adding->known[slot].tid = event->tid;
    }
    slice.thread = adding->known[slot].thread;

    /* Use the texts as they are in the file, unless they need changes. */
    const struct trace_event *written = event->written;
    if (written && !(written->name.flags & JSON_ESCAPED) && !(written->args.flags & JSON_HAS_NAN))
        return add_as_written(adding, event, &slice, error);

    str_clear(text);
    json_write_string(event->name, event->name_length, text);
    size_t name_length = text->length;
    if (event->args.kind == JSON_OBJECT)
        json_write_value(&event->args, text);
    if (text->failed)
        return error_memory(error);
    slice.name = (struct json_text){text->data + 1, name_length - 2, 0};
    slice.args = (struct json_text){text->data + name_length, text->length - name_length, 0};
    return timeline_add(adding->inputs->timeline, &slice, NULL, error);
}

/* Keeps a reading of the system. */
static int add_reading(void *user, const struct system_reading *reading, struct gput_error *error)
{
    struct adding *adding = user;
    struct str label = {0};
    if (isnan(reading->value))
        return GPUT_OK;
    str_printf(&label, "%s_%s_%s", reading->name[0] ? reading->name : reading->type,
        reading->dimension, reading->node);
    uint32_t number =
        label.failed ? NAMES_NONE : names_add(&adding->readings.labels, label.data, label.length);
    str_finish(&label);
    if (number == NAMES_NONE || !ARRAY_EXTEND(adding->readings.readings, adding->readings.count))
        return error_memory(error);
    bool is_metric = adding->inputs->low.metric &&
                     (strcmp(adding->inputs->low.metric, reading->dimension) == 0 ||
                         strcmp(adding->inputs->low.metric, reading->name) == 0);
    bool is_low = is_metric && reading->value < adding->inputs->low.threshold;
    adding->readings.has_metric |= is_metric;
    adding->readings.readings[adding->readings.count++] =
        (struct timeline_reading){reading->time_us, reading->value, number, is_low};
    return GPUT_OK;
}

/* Adds a file of a training profile according to its kind. */
static int add_file(struct adding *adding, const struct trace_file *file, struct gput_error *error)
{
    struct timeline_inputs *inputs = adding->inputs;
    switch (file->kind) {
    case TRACE_FILE_SYSTEM:
        return inputs->search || inputs->without_readings
                   ? GPUT_OK
                   : system_metrics_read(file->path, add_reading, adding, &inputs->report, error);
    case TRACE_FILE_EVENTS:
    case TRACE_FILE_TENSORFLOW:
        adding->source = NAMES_NONE;
        return framework_events_read(file, add_event, adding, &inputs->report, error);
    default:
        return GPUT_OK;
    }
}

/* Adds the files that were chosen. */
static int add_chosen(struct adding *adding, const struct trace_root *root, const bool *chosen,
    struct gput_error *error)
{
    struct stat info;
    for (size_t i = 0; i < root->count; i++)
        if (chosen[i] && stat(root->files[i].path, &info) == 0)
            adding->inputs->report.bytes_total += (uint64_t)info.st_size;
    for (size_t i = 0; i < root->count; i++)
        if (chosen[i] && trace_file_is_readable(root->files + i, &adding->inputs->report))
            TRY(add_file(adding, root->files + i, error));

    /* Warn of missing readings only if a metric was asked for; many machines have no GPU for the
     * default one. */
    const char *metric = adding->inputs->low.metric;
    if (metric && strcmp(metric, DEFAULT_LOW_METRIC) != 0 && !adding->readings.has_metric &&
        adding->readings.count != 0) {
        struct str text = {0};
        str_printf(&text, "There are no readings of %s, so no moment is marked as low", metric);
        read_report_warn_text(&adding->inputs->report, &text);
    }

    return timeline_readings_add(&adding->readings, adding->inputs->timeline, error);
}

int timeline_add_root(struct timeline_inputs *inputs, const char *path, struct gput_error *error)
{
    struct adding adding = {.inputs = inputs};
    struct trace_root root;
    struct trace_choice choice = inputs->choice;
    if (inputs->search) { /* steps are searched for in all files, whichever are merged */
        choice.suffixes = &inputs->search->suffix;
        choice.n_suffixes = inputs->search->suffix != NULL;
    }
    TRY(trace_root_read(path, &root, error));
    bool *chosen = calloc(root.count + 1, sizeof *chosen);
    int code = chosen ? GPUT_OK : error_memory(error);
    if (code == GPUT_OK) {
        trace_root_choose(&root, &choice, chosen);
        code = add_chosen(&adding, &root, chosen, error);
    }
    free(chosen);
    trace_root_finish(&root);
    free(adding.readings.readings);
    names_finish(&adding.readings.labels);
    adding.readings = (struct timeline_readings){0};

    str_finish(&adding.text);
    return code;
}

int timeline_add_framework_file(
    struct timeline_inputs *inputs, const struct trace_file *file, struct gput_error *error)
{
    struct adding adding = {.inputs = inputs};
    int code = add_file(&adding, file, error);
    str_finish(&adding.text);
    return code;
}
