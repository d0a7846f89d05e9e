#include "views/report/loaders/report_events.h"

#include "base/array.h"
#include "base/json_scan.h"
#include "base/json_text.h"
#include "base/number.h"
#include "files/trace/byte_source.h"
#include "files/trace/trace_event.h"
#include "views/report/document/report_calls.h"
#include "views/report/loaders/report_kineto.h"
#include "views/report/loaders/report_loader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_BYTES ((size_t)64 << 20)

/* The readings of one counter. */
struct counter {
    struct report_column time, values;
};

struct events {
    struct report_session *session;
    struct timeline timeline;
    struct timeline_inputs inputs;
    struct report_calls calls;
    struct names counter_names;
    struct counter *counters; /* by the number of their name; owned */
    uint32_t counter_count;
    char **labels; /* of each process of the timeline, all different; owned */
    struct trace_clock clock;
    struct {
        uint64_t instants, flows, asynchronous, others;
    } not_shown;
    int64_t start_ns; /* time 0 of the session */
    struct str text;  /* of the current event */
};

static double seconds_of(const struct events *events, int64_t ns)
{
    return (double)(ns - events->start_ns) * 1e-9;
}

/* ---- Processes ---- */

/* A label that no other process has: "python (GPU 1)", "python (12)". */
static char *make_label(const struct timeline_process *process, bool is_only, struct names *labels)
{
    const char *own = process->labels && *process->labels ? process->labels : process->own_pid;
    struct str label = {0};
    str_append(&label, process->name ? process->name : "");
    if (!is_only && *own)
        str_printf(&label, " (%s)", own);
    size_t length = label.length;
    for (uint32_t i = 2; names_find(labels, str_text(&label), label.length) != NAMES_NONE; i++) {
        label.length = length;
        str_printf(&label, " %" PRIu32, i);
    }
    if (label.failed || names_add(labels, str_text(&label), label.length) == NAMES_NONE) {
        str_finish(&label);
        return NULL;
    }
    return str_steal(&label);
}

/* How many processes have each name; by number of the name. */
static bool count_names(
    const struct timeline_tracks *tracks, struct names *names, uint32_t *numbers, uint32_t *counts)
{
    for (uint32_t i = 0; i < tracks->process_count; i++) {
        const char *name = tracks->processes[i].name ? tracks->processes[i].name : "";
        numbers[i] = names_add(names, name, strlen(name));
        if (numbers[i] == NAMES_NONE)
            return false;
        counts[numbers[i]]++;
    }
    return true;
}

static const char *label_of(const struct events *events, uint32_t thread)
{
    return events->labels[events->timeline.tracks.threads[thread].process];
}

/* ---- Slices ---- */

/* What a launch and its kernel have in common in traces of PyTorch: "correlation" of their
 * arguments; 0: it is not there. */
static int64_t correlation_of(const struct timeline_event *event)
{
    static const char key[] = "\"correlation\"";
    const struct json_text *args = &event->args;
    const char *at =
        args->length > 0 ? memmem(args->text, args->length, key, sizeof key - 1) : NULL;
    const char *end = args->text + args->length;
    int64_t number;
    if (!at)
        return 0;
    for (at += sizeof key - 1; at < end && strchr(": \t\r\n", *at) && *at; at++)
        ;
    return number_parse_int64(at, end, &number) ? number : 0;
}

/* Adds a slice as a call. */
static int add_slice(
    struct events *events, const struct timeline_event *event, struct gput_error *error)
{
    const struct json_value name = {.text = event->name.text,
        .length = (uint32_t)event->name.length,
        .kind = JSON_STRING,
        .flags = event->name.flags | JSON_ESCAPED};
    const char *label = label_of(events, event->thread);
    str_clear(&events->text);
    json_append_string(&name, &events->text);
    uint32_t number = names_add(&events->calls.names, str_text(&events->text), events->text.length);
    uint32_t process = names_add(&events->calls.processes, label, strlen(label));
    if (events->text.failed || number == NAMES_NONE || process == NAMES_NONE)
        return error_memory(error);
    const struct report_call call = {.name = number,
        .process = process,
        .thread = events->timeline.tracks.threads[event->thread].number,
        .track = event->thread,
        .link = correlation_of(event),
        .start = seconds_of(events, event->start_ns),
        .stop = seconds_of(events, event->start_ns + event->duration_ns)};
    return report_calls_add(&events->calls, &call, error);
}

/* ---- Counters ---- */

/* Finds a counter by its name, or begins it. NULL without memory. */
static struct counter *counter_of(struct events *events, const char *name, size_t length)
{
    uint32_t number = names_add(&events->counter_names, name, length);
    if (number == NAMES_NONE)
        return NULL;
    if (number < events->counter_count)
        return &events->counters[number];
    if (!ARRAY_EXTEND(events->counters, events->counter_count))
        return NULL;
    struct counter *counter = &events->counters[events->counter_count++];
    report_column_init(&counter->time, &events->session->payload->spool, REPORT_STEP_TIME);
    report_column_init(&counter->values, &events->session->payload->spool, REPORT_DOUBLES);
    return counter;
}

/* Adds the values of a counter, each of which has a curve. */
static int add_readings(
    struct events *events, const struct timeline_event *event, struct gput_error *error)
{
    struct json_value args, key, value;
    const char *at = event->args.text;
    if (event->args.length == 0 ||
        json_scan_value(&at, at + event->args.length, &args) != JSON_OK || args.kind != JSON_OBJECT)
        return GPUT_OK;
    struct json_walk walk = json_walk(&args);
    while (json_walk_member(&walk, &key, &value)) {
        double number;
        if (value.kind != JSON_NUMBER || !json_double(&value, &number))
            continue;

        /* "process: name id key", where there is an id and the key says something. */
        const struct json_value name = {.text = event->name.text,
            .length = (uint32_t)event->name.length,
            .kind = JSON_STRING,
            .flags = event->name.flags | JSON_ESCAPED};
        str_clear(&events->text);
        str_printf(&events->text, "%s: ", label_of(events, event->thread));
        json_append_string(&name, &events->text);
        if (event->has_id)
            str_printf(&events->text, " %" PRIu64, event->id);
        if (!json_is(&key, "value")) {
            str_append_char(&events->text, ' ');
            json_append_string(&key, &events->text);
        }

        struct counter *counter = counter_of(events, str_text(&events->text), events->text.length);
        if (!counter || events->text.failed)
            return error_memory(error);
        double time = seconds_of(events, event->start_ns);
        TRY(report_column_add(&counter->time, time, error));
        TRY(report_column_add(&counter->values, number, error));
    }
    return GPUT_OK;
}

/* ---- All of them ---- */

static void warn(void *user, const char *message)
{
    report_session_warn(user, message);
}

static void show_progress(void *user, double done)
{
    report_session_progress(user, done);
}

/* Prepares for reading the events of a session. */
static int prepare(struct events *events, struct gput_error *error)
{
    struct read_report *report = &events->inputs.report;
    events->inputs.timeline = &events->timeline;
    events->inputs.choice = (struct trace_choice){.start_us = INT64_MIN, .end_us = INT64_MAX};
    events->inputs.without_readings = true;
    events->inputs.trace_files = 1;
    report->warn = warn;
    report->progress = show_progress;
    report->progress_span = 1;
    report->user = events->session;
    read_report_expect(report, events->session->path);
    report_calls_init(&events->calls, events->session);
    TRY(timeline_init(
        &events->timeline, events->session->payload->spool.folder, MEMORY_BYTES, error));
    trace_clock_begin(&events->clock, events->session->path);
    events->timeline.clock = &events->clock;
    return GPUT_OK;
}

static void append_not_shown(struct str *text, uint64_t count, const char *noun)
{
    if (count > 0)
        str_printf(text, "%s%" PRIu64 " %s%s", text->length > 0 ? ", " : "", count, noun,
            count == 1 ? "" : "s");
}

/* Hands on all events in the order of their times, then the counters. */
static int pass_events(struct events *events, struct gput_error *error)
{
    struct timeline_event event;
    const struct timeline *timeline = &events->timeline;
    bool there = timeline->slices + timeline->counters + timeline->others > 0;
    events->start_ns = timeline->first_ns;
    if (there) {
        double first = report_session_time(events->session, (double)events->start_ns * 1e-9);
        if (first < 0) { /* before all readings: nothing of the session is placed yet */
            events->session->start += first;
            first = 0;
        }
        events->start_ns -= (int64_t)round(first * 1e9);
    }
    while (there) {
        TRY(timeline_next(&events->timeline, &event, &there, error));
        if (there) {
            if (event.type == 'X')
                TRY(add_slice(events, &event, error));
            else if (event.type == 'C')
                TRY(add_readings(events, &event, error));
            else if (event.type == 'i')
                events->not_shown.instants++;
            else if (strchr("stf", event.type))
                events->not_shown.flows++;
            else if (strchr("bneSTpF", event.type))
                events->not_shown.asynchronous++;
            else
                events->not_shown.others++;
        }
    }
    TRY(report_calls_end(&events->calls, NULL, error));

    /* Names of threads, where the trace has them. */
    const struct timeline_tracks *tracks = &timeline->tracks;
    struct doc *list = NULL;
    for (uint32_t i = 0; events->calls.doc && i < tracks->thread_count; i++) {
        const struct timeline_thread *thread = &tracks->threads[i];
        const char *label = events->labels[thread->process];
        if (!thread->name || !*thread->name)
            continue;
        uint32_t process = names_find(&events->calls.processes, label, strlen(label));
        if (process == NAMES_NONE)
            continue;
        list = list ? list : doc_add_array(events->calls.doc, "threads");
        struct doc *entry = doc_add_object(list, NULL);
        doc_add_int(entry, "process", process);
        doc_add_int(entry, "thread", thread->number);
        doc_add_string(entry, "name", thread->name);
    }
    TRY(doc_failed(events->session->doc) ? error_memory(error) : GPUT_OK);

    for (uint32_t i = 0; i < events->counter_count; i++) {
        const char *name = names_text(&events->counter_names, i);
        struct report_series series = {
            .id = name, .label = name, .group = name, .unit = "", .limit = NAN};
        TRY(report_session_add_time(
            events->session, &events->counters[i].time, &series.time, error));
        TRY(report_session_add_series(
            events->session, &series, &events->counters[i].values, error));
    }
    return GPUT_OK;
}

/* Frees what was read. */
static void finish(struct events *events)
{
    for (uint32_t i = 0; i < events->counter_count; i++) {
        report_column_finish(&events->counters[i].time);
        report_column_finish(&events->counters[i].values);
    }
    free(events->counters);
    for (uint32_t i = 0; events->labels && i < events->timeline.tracks.process_count; i++)
        free(events->labels[i]);
    free(events->labels);
    names_finish(&events->counter_names);
    names_finish(&events->inputs.sources);
    report_calls_finish(&events->calls);
    timeline_finish(&events->timeline);
    str_finish(&events->text);
}

int report_events_add(
    struct report_session *session, report_events_source *add, struct gput_error *error)
{
    struct events events = {.session = session};
    int code = prepare(&events, error);
    if (code == GPUT_OK)
        code = add(&events.inputs, session->path, error);
    if (code == GPUT_OK) {
        /* Processes of one name are not one process: those of two GPUs of one trace are both
         * "python". */
        const struct timeline_tracks *tracks = &events.timeline.tracks;
        const size_t size = (size_t)tracks->process_count + 1;
        struct names names = {0}, labels = {0};
        uint32_t *numbers = calloc(size, sizeof *numbers), *counts = calloc(size, sizeof *counts);
        events.labels = calloc(size, sizeof *events.labels);
        bool is_made =
            numbers && counts && events.labels && count_names(tracks, &names, numbers, counts);
        for (uint32_t i = 0; is_made && i < tracks->process_count; i++) {
            events.labels[i] = make_label(&tracks->processes[i], counts[numbers[i]] == 1, &labels);
            is_made = events.labels[i] != NULL;
        }
        names_finish(&names);
        names_finish(&labels);
        free(numbers);
        free(counts);
        code = is_made ? GPUT_OK : error_memory(error);
    }
    if (code == GPUT_OK)
        code = pass_events(&events, error);
    if (code == GPUT_OK) {
        /* What is wrong with the file was said; what is not shown of it is said here. */
        const struct read_report *report = &events.inputs.report;
        struct str counts = {0}, text = {0};
        append_not_shown(&counts, events.not_shown.instants, "instant");
        append_not_shown(&counts, events.not_shown.flows, "flow event");
        append_not_shown(&counts, events.not_shown.asynchronous, "asynchronous event");
        append_not_shown(&counts, events.not_shown.others, "other event");
        if (counts.length > 0) {
            str_printf(&text, "Slices and counters are shown. Left out are %s.", str_text(&counts));
            report_session_note(events.session, str_text(&text));
        }
        str_finish(&text);
        str_finish(&counts);
        read_report_warn_unusable(
            report, events.session->path, report->unusable - events.inputs.unended);
        trace_clocks_warn(&events.clock, 1, report);
        events.session->is_relative = events.clock.relative > 0 && events.clock.absolute == 0;
    }
    finish(&events);
    return code;
}

static int load(struct report_session *session, struct gput_error *error)
{
    TRY(report_events_add(session, timeline_add_trace, error));
    return report_kineto_add(session, error);
}

/* Whether one of the objects of a list is an event, as far as the text goes: other programs write
 * lists of objects, too. One that is longer than the text is judged by its beginning. */
static bool has_event(const char *at, const char *end)
{
    struct trace_event event;
    while (at < end && (at = memchr(at, '{', (size_t)(end - at))) != NULL) {
        const char *start = at;
        enum json_status status = trace_event_scan(&at, end, &event);
        if (status == JSON_OK && event.type != 0)
            return true;
        if (status == JSON_TORN && memmem(start, (size_t)(end - start), "\"ph\"", 4))
            return true;
        if (status != JSON_OK)
            at = start + 1;
    }
    return false;
}

/* What a trace begins with: an array of events, or an object with a list of them in it. The rest is
 * too long to be read twice: the list may be in it. */
static bool looks_like_trace(const char *text, size_t length, bool is_all)
{
    const char *at = json_skip_space(text);
    if (*at == '[')
        return *json_skip_space(at + 1) == '{' && has_event(at, text + length);
    return *at == '{' && (memmem(text, length, "\"traceEvents\"", 13) ||
                             (!is_all && memmem(text, length, "\"schemaVersion\"", 15)));
}

/* Whether a file begins as a trace. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    char text[65536 + JSON_PADDING];
    const size_t capacity = sizeof text - JSON_PADDING;
    size_t got = 1, length = 0;
    struct byte_source *source;
    if (is_folder)
        return report_session_refuse(path, error);
    TRY(byte_source_open(path, &source, error));
    int code = GPUT_OK;
    while (code == GPUT_OK && got > 0 && length < capacity) {
        code = byte_source_read(source, text + length, capacity - length, &got, error);
        length += code == GPUT_OK ? got : 0;
    }
    byte_source_close(source);
    memset(text + length, 0, JSON_PADDING);
    return code == GPUT_OK && looks_like_trace(text, length, length < capacity)
               ? GPUT_OK
               : report_session_refuse(path, error);
}

const struct report_loader report_trace_loader = {"trace", probe, load};
