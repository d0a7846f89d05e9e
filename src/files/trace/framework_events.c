#include "files/trace/framework_events.h"

#include "base/array.h"
#include "base/json_text.h"
#include "base/names.h"
#include "base/str.h"
#include "files/trace/event_stream.h"
#include "files/trace/pending_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PHASE_HITS 64

struct phase_of_pid {
    int64_t pid;
    const char *name; /* in `names` */
    int64_t thread;   /* number for events without a thread */
};

struct reading {
    const struct trace_file *file;
    const struct event_stream *stream;
    framework_visitor *visit;
    void *user;
    struct read_report *report;
    int64_t base_ns;
    struct names names; /* names of phases */
    struct phase_of_pid *phases;
    size_t n_phases;
    size_t phase_hits[PHASE_HITS]; /* index of the last phase found, by a hash of the pid */
    struct pending_events pending;
    uint64_t left_out; /* events of types that are not in this form */
    struct str text;   /* an event's name without its escapes */
};

int64_t framework_thread_number(const char *node, const char *phase)
{
    uint64_t hash = names_hash(node, strlen(node)) * 31 + names_hash(phase, strlen(phase));
    return (int64_t)((hash ^ hash >> 32) & INT32_MAX);
}

/* Reads a pid or tid as a number: itself, or a hash of its text. Returns false for other values. */
static bool number_of(const struct json_value *value, int64_t *number)
{
    if (value->kind != JSON_NUMBER && value->kind != JSON_STRING)
        return false;
    if (!json_int64(value, number))
        *number = (int64_t)(names_hash(value->text, value->length) & INT32_MAX);
    return true;
}

/* Returns the current phase of a pid; NULL: none. */
static struct phase_of_pid *find_phase(struct reading *reading, int64_t pid)
{
    size_t *hit = reading->phase_hits + (uint64_t)pid % PHASE_HITS;
    if (*hit < reading->n_phases && reading->phases[*hit].pid == pid)
        return reading->phases + *hit;
    for (size_t i = 0; i < reading->n_phases; i++)
        if (reading->phases[i].pid == pid) {
            *hit = i;
            return reading->phases + i;
        }
    return NULL;
}

/* Sets the phase of a pid, which replaces its previous one. */
static int set_phase(
    struct reading *reading, int64_t pid, const char *name, size_t length, struct gput_error *error)
{
    uint32_t number = names_add(&reading->names, name, length);
    if (number == NAMES_NONE)
        return error_memory(error);
    const char *phase = names_text(&reading->names, number);
    int64_t thread = framework_thread_number(reading->file->node, phase);
    struct phase_of_pid *known = find_phase(reading, pid);
    if (known) {
        *known = (struct phase_of_pid){pid, phase, thread};
        return GPUT_OK;
    }
    if (!ARRAY_EXTEND(reading->phases, reading->n_phases))
        return error_memory(error);
    reading->phases[reading->n_phases++] = (struct phase_of_pid){pid, phase, thread};
    return GPUT_OK;
}

/* Completes an event that has its name and its times (without the base) from its last record, and
 * passes it to the visitor. */
static int give(struct reading *reading, struct framework_event *event, int64_t pid,
    const struct trace_event *record, struct gput_error *error)
{
    int64_t base_ns = reading->base_ns;
    const struct phase_of_pid *phase = find_phase(reading, pid);
    if (event->end_ns < event->start_ns ||
        __builtin_add_overflow(event->start_ns, base_ns, &event->start_ns) ||
        __builtin_add_overflow(event->end_ns, base_ns, &event->end_ns)) {
        reading->report->unusable++;
        return GPUT_OK;
    }
    if (!phase) {
        char name[40];
        int length = snprintf(name, sizeof name, "process %lld", (long long)pid);
        TRY(set_phase(reading, pid, name, (size_t)length, error));
        phase = find_phase(reading, pid);
    }
    event->phase = phase->name;
    event->node = reading->file->node;
    event->args = record->args;
    event->stream = reading->stream;
    event->pid = pid;
    number_of(&record->args_pid, &event->pid);
    if (!number_of(&record->args_thread, &event->tid) && !number_of(&record->tid, &event->tid))
        event->tid = phase->thread;
    if (!json_int64(&record->step_num, &event->step))
        event->step = -1;
    return reading->visit(reading->user, event, error);
}

/* Adds an event that has both its start and its duration. */
static int add_complete(
    struct reading *reading, const struct trace_event *event, struct gput_error *error)
{
    int64_t pid;
    struct framework_event complete = {.start_ns = event->start_ns, .written = event};
    if (!event->has_start || !event->has_duration || event->name.kind != JSON_STRING ||
        !number_of(&event->pid, &pid) ||
        __builtin_add_overflow(event->start_ns, event->duration_ns, &complete.end_ns)) {
        reading->report->unusable++;
        return GPUT_OK;
    }
    complete.name = event->name.text;
    complete.name_length = event->name.length;
    if (event->name.flags != 0) {
        str_clear(&reading->text);
        json_append_string(&event->name, &reading->text);
        if (reading->text.failed)
            return error_memory(error);
        complete.name = str_text(&reading->text);
        complete.name_length = reading->text.length;
    }
    return give(reading, &complete, pid, event, error);
}

/* Returns the thread that an event names; 0 if it names none, which then counts as a thread of its
 * own. */
static int64_t thread_of(const struct trace_event *event)
{
    int64_t tid = 0;
    number_of(&event->tid, &tid);
    return tid;
}

/* Keeps an event until its end is read. */
static int add_begin(
    struct reading *reading, const struct trace_event *event, struct gput_error *error)
{
    struct pending_event pending = {.tid = thread_of(event), .start_ns = event->start_ns};
    struct str name = {0};
    if (!event->has_start || event->name.kind != JSON_STRING ||
        !number_of(&event->pid, &pending.pid)) {
        reading->report->unusable++;
        return GPUT_OK;
    }
    json_append_string(&event->name, &name);
    pending.name = str_steal(&name);
    return pending_events_push(&reading->pending, &pending) ? GPUT_OK : error_memory(error);
}

/* Adds the event that ends here. */
static int add_end(
    struct reading *reading, const struct trace_event *event, struct gput_error *error)
{
    int64_t pid;
    struct pending_event pending;
    str_clear(&reading->text);
    if (event->name.kind == JSON_STRING)
        json_append_string(&event->name, &reading->text);
    if (reading->text.failed)
        return error_memory(error);
    if (!event->has_start || !number_of(&event->pid, &pid) ||
        !pending_events_pop(
            &reading->pending, pid, thread_of(event), str_text(&reading->text), &pending)) {
        reading->report->unusable++;
        return GPUT_OK;
    }
    struct framework_event complete = {.start_ns = pending.start_ns,
        .end_ns = event->start_ns,
        .name = pending.name,
        .name_length = strlen(pending.name)};
    int code = give(reading, &complete, pid, event, error);
    pending_event_finish(&pending);
    return code;
}

/* Adds an event according to its type. Types without a duration are skipped. */
static int add_event(
    struct reading *reading, const struct trace_event *event, struct gput_error *error)
{
    switch (event->type) {
    case 'X':
        return add_complete(reading, event, error);
    case 'B':
        return add_begin(reading, event, error);
    case 'E':
        return add_end(reading, event, error);
    case 'M': {
        /* Set the phase of a pid from a "process_name", and the time base of all other events of
         * the file. */
        int64_t pid, base_ns;
        if (!json_is(&event->name, "process_name"))
            return GPUT_OK;
        struct json_value base = json_member(&event->args, "start_time_since_epoch_in_micros");
        if (json_scaled_int64(&base, 3, &base_ns))
            reading->base_ns = base_ns;
        struct json_value name = json_member(&event->args, "name");
        if (name.kind != JSON_STRING || !number_of(&event->pid, &pid))
            return GPUT_OK;
        str_clear(&reading->text);
        json_append_string(&name, &reading->text);
        if (reading->text.failed)
            return error_memory(error);
        return set_phase(reading, pid, str_text(&reading->text), reading->text.length, error);
    }

    default:
        reading->left_out++;
        return GPUT_OK;
    }
}

/* Reads all events of a file, and then reports what was skipped. */
static int read_stream(
    struct reading *reading, struct event_stream *stream, struct gput_error *error)
{
    struct read_report *report = reading->report;
    struct trace_event event;
    for (bool there = true; there;) {
        TRY(event_stream_next(stream, &event, &there, error));
        if (!there)
            break;
        TRY(add_event(reading, &event, error));
        event_stream_report_progress(stream, report);
    }

    const struct event_counts *counts = event_stream_counts(stream);
    event_stream_report_end(stream, report);
    report->files++;
    report->events += counts->events;
    report->damaged += counts->damaged;
    report->truncated += counts->truncated;
    pending_events_drop(&reading->pending);
    report->unusable += reading->pending.dropped;
    read_report_warn(report, event_stream_warning(stream));
    if (reading->left_out > 0) {
        struct str text = {0};
        str_printf(&text,
            "%s: %" PRIu64
            " event%s neither a slice nor a name, and left out (instants, counters, flows)",
            reading->file->path, reading->left_out, reading->left_out == 1 ? " is" : "s are");
        read_report_warn_text(report, &text);
    }
    return GPUT_OK;
}

int framework_events_read(const struct trace_file *file, framework_visitor *visit, void *user,
    struct read_report *report, struct gput_error *error)
{
    struct reading reading = {.file = file,
        .visit = visit,
        .user = user,
        .report = report,
        .base_ns = file->base_us * 1000};
    CLEANUP(event_stream_close_pointer) struct event_stream *stream = NULL;
    TRY(event_stream_open(file->path, &stream, error));
    event_stream_use_cores(stream, report->cores);
    reading.stream = stream;
    int code = read_stream(&reading, stream, error);
    names_finish(&reading.names);
    str_finish(&reading.text);
    free(reading.phases);
    pending_events_finish(&reading.pending);
    return code;
}
