#include "analysis/timeline/timeline_inputs.h"

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_text.h"
#include "files/trace/byte_source.h"
#include "files/trace/event_stream.h"
#include "files/trace/merged_mark.h"
#include "files/trace/pending_events.h"

#include <endian.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The base time ---- */

/* PyTorch 2.4 to 2.7 write the base time after the events. It is needed before they are read, since
 * their times are relative to it. */

#define END_BYTES ((size_t)1 << 20)

/* Whether the text ends with the object that is open at its beginning. Then the member before it
 * belongs to the whole trace, not to an event. Strings may have invalid escapes. */
static bool ends_object(const char *at, const char *end)
{
    int depth = 1;
    for (bool in_string = false; at < end && depth > 0; at++) {
        if (in_string && *at == '\\')
            at++;
        else if (*at == '"')
            in_string = !in_string;
        else if (!in_string)
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    }
    return depth == 0 && at <= end && json_skip_space(at) >= end;
}

/* Returns the base time at the end of a text, which is the number after the last such key; 0: there
 * is none. */
static int64_t parse_end(const char *text, size_t length)
{
    static const char key[] = "\"baseTimeNanoseconds\"";
    const char *end = text + length, *found = NULL, *at = text;
    struct json_value value;
    int64_t base_ns;
    while ((at = memmem(at, (size_t)(end - at), key, sizeof key - 1)) != NULL)
        found = at += sizeof key - 1;
    if (!found)
        return 0;
    at = json_skip_space(found);
    if (*at != ':')
        return 0;
    at = json_skip_space(at + 1);
    bool is_base = json_scan_value(&at, end, &value) == JSON_OK && json_int64(&value, &base_ns) &&
                   ends_object(at, end);
    return is_base ? base_ns : 0;
}

/* Finds "baseTimeNanoseconds" within the last MiB of a regular file, uncompressed; `*base_ns` is 0
 * if there is none. Errors: those of byte_source.h. */
static int base_time_find(const char *path, int64_t *base_ns, struct gput_error *error)
{
    CLEANUP(byte_source_close_pointer) struct byte_source *source = NULL;
    struct stat info;
    *base_ns = 0;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return GPUT_OK; /* a file that can only be read once is not read for this */
    CLEANUP_FREE char *text = malloc(2 * END_BYTES + JSON_PADDING);
    if (!text)
        return error_memory(error);
    TRY(byte_source_open(path, &source, error));
    if (byte_source_plain_fd(source) >= 0 && (size_t)info.st_size > END_BYTES)
        TRY(byte_source_move(source, (uint64_t)info.st_size - END_BYTES, error));

    /* Keep the last one or two END_BYTES of what was read. */
    size_t length = 0, got = 1;
    while (got > 0) {
        if (length == 2 * END_BYTES) {
            memcpy(text, text + END_BYTES, END_BYTES);
            length = END_BYTES;
        }
        TRY(byte_source_read(source, text + length, 2 * END_BYTES - length, &got, error));
        length += got;
    }
    memset(text + length, 0, JSON_PADDING);
    *base_ns = parse_end(text, length);
    return GPUT_OK;
}

/* ---- The trace ---- */

#define KNOWN_THREADS 64

/* A thread by its pid and tid, as spelled. */
struct known_thread {
    uint64_t pid;
    uint64_t tid;
    uint32_t thread; /* TRACK_NONE: unused */
};

/* A trace file while it is added. */
struct adding {
    struct timeline_inputs *inputs;
    struct event_stream *stream;
    const struct trace_header *header;
    int64_t base_ns;     /* base of the times in the file */
    uint32_t text_file;  /* from source_texts_add() */
    uint32_t file;       /* index among the trace files */
    uint32_t source;     /* index among all sources */
    uint32_t trace;      /* from timeline_trace() */
    char label[64];      /* "rank 3", or the file's name; empty for a single trace */
    struct names pids;   /* pids of the file, as spelled */
    uint32_t *processes; /* by index of the pid */
    uint32_t process_count;
    struct known_thread known[KNOWN_THREADS];
    struct pending_events pending;
    uint64_t cut; /* number of events with members that are skipped */
    struct str name, args;
};

/* Returns a number, or a hash of another text. */
static int64_t number_or_hash(const struct json_value *value)
{
    int64_t number;
    if (value->length == 0)
        return 0;
    if (json_int64(value, &number))
        return number;
    return (int64_t)(names_hash(value->text, value->length) & INT32_MAX);
}

/* Writes the full name of a process, such as "rank 3: python". */
static void full_name(const struct adding *adding, const char *name, struct str *text)
{
    str_clear(text);
    if (adding->label[0] != '\0')
        str_printf(text, "%s: ", adding->label);
    str_append(text, name);
}

/* Adds a process of a trace under its pid. */
static int add_process(
    struct adding *adding, const struct json_value *pid, uint32_t number, struct gput_error *error)
{
    char key[32], plain[80];
    if (!ARRAY_EXTEND(adding->processes, number))
        return error_memory(error);
    uint32_t *processes = adding->processes;
    snprintf(key, sizeof key, "\n%" PRIu32 " %" PRIu32, adding->file, number);
    snprintf(plain, sizeof plain, "%s%.*s", pid->kind == JSON_STRING ? "" : "process ",
        (int)(pid->length < 60 ? pid->length : 60), pid->text);
    if (pid->length == 0) /* PyTorch's mark for the end of its records */
        strcpy(plain, "whole trace");
    full_name(adding, plain, &adding->name);
    processes[number] =
        timeline_process(&adding->inputs->timeline->tracks, key, str_text(&adding->name));
    if (adding->name.failed || processes[number] == TRACK_NONE)
        return error_memory(error);
    struct timeline_process *process =
        &adding->inputs->timeline->tracks.processes[processes[number]];
    process->trace = adding->trace;
    snprintf(process->own_pid, sizeof process->own_pid, "%.*s",
        (int)(pid->length < 20 ? pid->length : 20), pid->text);
    adding->process_count = number + 1;
    return GPUT_OK;
}

/* Finds the process of a pid, adding it when it is new. */
static int find_process(struct adding *adding, const struct json_value *pid, uint32_t *process,
    struct gput_error *error)
{
    static const struct json_value none = {"0", 1, JSON_NUMBER, 0};
    if (pid->kind != JSON_NUMBER && pid->kind != JSON_STRING)
        pid = &none;
    uint32_t number = names_add(&adding->pids, pid->text, pid->length);
    if (number == NAMES_NONE)
        return error_memory(error);
    if (number >= adding->process_count)
        TRY(add_process(adding, pid, number, error));
    *process = adding->processes[number];
    return GPUT_OK;
}

/* Converts a pid or tid of up to seven bytes to a number. Returns false if it is longer. */
static bool short_key(const struct json_value *value, uint64_t *key)
{
    *key = 0;
    if (value->length > 7 || value->kind == JSON_OBJECT || value->kind == JSON_ARRAY)
        return false;
    if (value->kind != JSON_NONE) {
        memcpy(key, value->text, sizeof *key); /* every text is followed by padding */
        *key = le64toh(*key) & ((UINT64_C(1) << 8 * value->length) - 1);
    }
    return true;
}

/* Names a thread by its tid if that is a string, such as "PyTorch Profiler". */
static bool name_by_word(struct adding *adding, uint32_t thread, const struct json_value *tid)
{
    struct timeline_tracks *tracks = &adding->inputs->timeline->tracks;
    int64_t number;
    if (tracks->threads[thread].name || tid->kind != JSON_STRING || tid->length == 0 ||
        json_int64(tid, &number))
        return true;
    str_clear(&adding->name);
    json_append_string(tid, &adding->name);
    return !adding->name.failed && timeline_thread_rename(tracks, thread, str_text(&adding->name));
}

/* Finds the track of an event by its process and thread. */
static int resolve_thread(struct adding *adding, const struct trace_event *event, uint32_t *thread,
    struct gput_error *error)
{
    uint32_t process = TRACK_NONE;
    TRY(find_process(adding, &event->pid, &process, error));
    int64_t tid = event->tid.kind == JSON_NONE ? 0 : number_or_hash(&event->tid);
    struct timeline_tracks *tracks = &adding->inputs->timeline->tracks;
    *thread = timeline_thread(tracks, process, adding->source, tid);
    if (*thread == TRACK_NONE || !name_by_word(adding, *thread, &event->tid))
        return error_memory(error);
    return GPUT_OK;
}

/* Finds the track of an event. It is nearly always one of the last few used. */
static int find_thread(struct adding *adding, const struct trace_event *event, uint32_t *thread,
    struct gput_error *error)
{
    uint64_t pid, tid;
    if (!short_key(&event->pid, &pid) || !short_key(&event->tid, &tid))
        return resolve_thread(adding, event, thread, error);
    uint64_t hash = (pid * 31 + tid) * UINT64_C(0x9e3779b97f4a7c15);
    struct known_thread *known = adding->known + (hash >> 32) % KNOWN_THREADS;
    if (known->pid != pid || known->tid != tid || known->thread == TRACK_NONE) {
        TRY(resolve_thread(adding, event, thread, error));
        *known = (struct known_thread){pid, tid, *thread};
    }
    *thread = known->thread;
    return GPUT_OK;
}

/* Reads the mark of a merged timeline, which keeps a process assigned to the trace that it came
 * from. */
static int add_mark(struct adding *adding, const struct trace_event *event, uint32_t process,
    struct gput_error *error)
{
    struct timeline_tracks *tracks = &adding->inputs->timeline->tracks;
    struct merged_mark mark;
    char key[64];
    uint32_t trace = TRACK_NONE;
    if (!merged_mark_read(event, &mark))
        return GPUT_OK;
    if (mark.trace >= 0) {
        str_clear(&adding->name);
        json_append_string(&mark.name, &adding->name);
        snprintf(key, sizeof key, "%" PRIu32 " %" PRId64, adding->file, mark.trace);
        trace = timeline_trace(tracks, key, str_text(&adding->name), mark.rank, mark.world_size);
        if (adding->name.failed || trace == TRACK_NONE)
            return error_memory(error);
    }
    tracks->processes[process].trace = trace;
    return GPUT_OK;
}

/* Adds names and labels of processes and threads, which may be anywhere in the file. */
static int add_metadata(
    struct adding *adding, const struct trace_event *event, struct gput_error *error)
{
    struct timeline_tracks *tracks = &adding->inputs->timeline->tracks;
    struct json_value name = json_member(&event->args, "name");
    struct json_value labels = json_member(&event->args, "labels");
    uint32_t process = TRACK_NONE, thread = TRACK_NONE;
    bool done = true;
    TRY(find_process(adding, &event->pid, &process, error));
    TRY(add_mark(adding, event, process, error));
    str_clear(&adding->args);
    if (json_is(&event->name, "process_name") && name.kind == JSON_STRING) {
        json_append_string(&name, &adding->args);
        full_name(adding, str_text(&adding->args), &adding->name);
        done = timeline_process_rename(tracks, process, str_text(&adding->name));
    } else if (json_is(&event->name, "process_labels") && labels.kind == JSON_STRING) {
        json_append_string(&labels, &adding->args);
        done = timeline_process_label(tracks, process, str_text(&adding->args));
    } else if (json_is(&event->name, "thread_name") && name.kind == JSON_STRING) {
        TRY(find_thread(adding, event, &thread, error));
        json_append_string(&name, &adding->args);
        done = timeline_thread_rename(tracks, thread, str_text(&adding->args));
    }
    return done && !adding->args.failed && !adding->name.failed ? GPUT_OK : error_memory(error);
}

/* Returns an id as a number: a decimal or hex one ("0x7f00"), else a hash of it. */
static uint64_t id_number(const struct json_value *value)
{
    int64_t number;
    if (json_int64(value, &number) && number >= 0)
        return (uint64_t)number;
    if (value->length > 2 && value->length <= 18 && memcmp(value->text, "0x", 2) == 0) {
        char *end;
        unsigned long long hex = strtoull(value->text, &end, 16); /* stops at the closing quote */
        if (end == value->text + value->length)
            return hex;
    }
    return names_hash(value->text, value->length);
}

/* Returns an id that differs between files. */
static uint64_t own_id(const struct adding *adding, uint64_t id)
{
    uint64_t files = adding->inputs->trace_files, spread[2] = {id, adding->file};
    if (files <= 1)
        return id;
    if (__builtin_mul_overflow(id, files, &id) || __builtin_add_overflow(id, adding->file, &id))
        return names_hash(spread, sizeof spread);
    return id;
}

static char one_letter(const struct json_value *value)
{
    return value->kind == JSON_STRING && value->length == 1 ? *value->text : '\0';
}

/* Returns the text of a string as it is in the file; empty for other values. */
static struct json_text string_text(const struct json_value *value)
{
    if (value->kind != JSON_STRING)
        return (struct json_text){"", 0, 0};
    return (struct json_text){value->text, value->length, value->flags};
}

/* Returns the arguments as they are or, if they have NaN, as valid JSON in `clean`. */
static struct json_text args_text(const struct json_value *args, struct str *clean)
{
    str_clear(clean);
    if (args->kind != JSON_OBJECT)
        return (struct json_text){"", 0, 0};
    if (!(args->flags & JSON_HAS_NAN))
        return (struct json_text){args->text, args->length, args->flags};
    json_write_value(args, clean);
    size_t length = clean->length;
    str_append_repeated(clean, '\0', JSON_PADDING); /* may be scanned again */
    return (struct json_text){str_text(clean), clean->failed ? 0 : length, 0};
}

/* Copies a text, with JSON_PADDING zeroes after it; NULL for an empty one. Returns false without
 * memory. */
static bool copy_padded(struct json_text text, char **copy)
{
    *copy = text.length > 0 ? calloc(1, text.length + JSON_PADDING) : NULL;
    if (*copy)
        memcpy(*copy, text.text, text.length);
    return *copy || text.length == 0;
}

/* Whether an object has a member of that name. */
static bool has_key(const struct json_value *object, const struct json_value *wanted)
{
    struct json_walk walk = json_walk(object);
    struct json_value key, value;
    while (json_walk_member(&walk, &key, &value)) {
        if (key.length == wanted->length && memcmp(key.text, wanted->text, key.length) == 0)
            return true;
    }
    return false;
}

/* Appends a member of an object; the first one also opens the object. */
static void append_member(
    struct str *text, const struct json_value *key, const struct json_value *value)
{
    str_append(text, text->length == 0 ? "{" : ", ");
    json_write_value(key, text);
    str_append(text, ": ");
    json_write_value(value, text);
}

/* Joins the arguments of both ends of a slice. If both have a name, the end's value is kept. */
static struct json_text args_of_both(
    const char *begin_args, const struct json_value *end_args, struct str *text)
{
    struct json_value begin = {0}, key, value;
    const char *at = begin_args;
    if (!begin_args || json_scan_value(&at, begin_args + strlen(begin_args), &begin) != JSON_OK)
        return args_text(end_args, text);
    if (end_args->kind != JSON_OBJECT)
        return (struct json_text){begin_args, strlen(begin_args), JSON_NOT_ASCII};
    str_clear(text);
    struct json_walk walk = json_walk(&begin);
    while (json_walk_member(&walk, &key, &value)) {
        if (!has_key(end_args, &key))
            append_member(text, &key, &value);
    }
    walk = json_walk(end_args);
    while (json_walk_member(&walk, &key, &value))
        append_member(text, &key, &value);
    str_append(text, text->length == 0 ? "{}" : "}");
    return (struct json_text){str_text(text), text->length, JSON_NOT_ASCII};
}

/* Adds a slice that consists of a begin and its end. */
static int end_slice(struct adding *adding, const struct trace_event *event,
    const struct pending_event *pending, int64_t end_ns, struct gput_error *error)
{
    struct timeline_event slice = {.type = 'X', .start_ns = pending->start_ns, .is_pair = true};
    if (__builtin_sub_overflow(end_ns, pending->start_ns, &slice.duration_ns) ||
        slice.duration_ns < 0) {
        adding->inputs->report.unusable++;
        return GPUT_OK;
    }
    TRY(find_thread(adding, event, &slice.thread, error));
    slice.name = (struct json_text){pending->name, strlen(pending->name), JSON_NOT_ASCII};
    slice.category = string_text(&event->category);
    if (slice.category.length == 0 && pending->category)
        slice.category =
            (struct json_text){pending->category, strlen(pending->category), JSON_NOT_ASCII};
    slice.args = args_of_both(pending->args, &event->args, &adding->args);
    if (adding->args.failed)
        return error_memory(error);
    return timeline_add(adding->inputs->timeline, &slice, NULL, error);
}

/* Adds an event of any other type: slices, instants, counters, flows, objects. */
static int add_plain(struct adding *adding, const struct trace_event *event, int64_t start_ns,
    struct gput_error *error)
{
    struct timeline_event out = {.type = event->type == 'I' ? 'i' : event->type,
        .scope = event->type == 'i' || event->type == 'I' ? one_letter(&event->scope) : '\0',
        .bind_point = one_letter(&event->bind_point),
        .start_ns = start_ns};
    if (event->type == 'X') {
        if (!event->has_duration || event->duration_ns < 0) {
            adding->inputs->report.unusable++;
            return GPUT_OK;
        }
        out.duration_ns = event->duration_ns;
    }
    TRY(find_thread(adding, event, &out.thread, error));

    /* The id is in "id", or in "id2" as local to the process or global. */
    struct json_value id = event->id;
    if (id.kind == JSON_NONE && strchr("bneNODSTpF", event->type)) {
        struct json_value whole = {event->text, (uint32_t)event->length, JSON_OBJECT, 0};
        struct json_value id2 = json_member(&whole, "id2"), local = json_member(&id2, "local");
        out.id_is_local = local.kind == JSON_NUMBER || local.kind == JSON_STRING;
        id = out.id_is_local ? local : json_member(&id2, "global");
    }
    out.has_id = id.kind == JSON_NUMBER || id.kind == JSON_STRING;
    if (out.has_id)
        out.id = out.id_is_local ? id_number(&id) : own_id(adding, id_number(&id));

    out.name = string_text(&event->name);
    out.category = string_text(&event->category);
    out.args = args_text(&event->args, &adding->args);
    if (adding->args.failed)
        return error_memory(error);
    struct event_place place = {.file = adding->text_file,
        .at = event_stream_place(adding->stream),
        .text = event->text,
        .length = event->length};
    bool stays = place.file != SOURCE_NONE && adding->args.length == 0;
    return timeline_add(adding->inputs->timeline, &out, stays ? &place : NULL, error);
}

/* Types of events that need no other event. */
static const char plain_types[] = "XiICstfbne"
                                  "STpF"  /* older forms of b, n and e */
                                  "NOD"   /* objects */
                                  "PRvV"; /* samples, marks, memory dumps */

/* Whether an event has members that a timeline has not: stacks, thread times, colours, bindings of
 * flows. "id2" does not count. */
static bool has_more_members(const struct trace_event *event)
{
    size_t known = 0;
    for (int i = TRACE_TYPE; i <= TRACE_ARGS; i++)
        known += event->values[i].kind != JSON_NONE;
    struct json_value whole = {event->text, (uint32_t)event->length, JSON_OBJECT, 0};
    return event->members > known && json_member(&whole, "id2").kind == JSON_NONE;
}

/* Adds an event according to its type. */
static int add_event(
    struct adding *adding, const struct trace_event *event, struct gput_error *error)
{
    int64_t start_ns = 0;
    if (event->type == 'M')
        return adding->inputs->search ? GPUT_OK : add_metadata(adding, event, error);
    if (!event->has_start || __builtin_add_overflow(event->start_ns, adding->base_ns, &start_ns)) {
        adding->inputs->report.unusable++;
        return GPUT_OK;
    }
    if (adding->inputs->search) {
        /* A step is named "ProfilerStep#12", or has step_num in its arguments. */
        static const char prefix[] = "ProfilerStep#";
        struct json_value number = event->step_num;
        int64_t step;
        if (event->name.kind == JSON_STRING && event->name.length > sizeof prefix - 1 &&
            memcmp(event->name.text, prefix, sizeof prefix - 1) == 0)
            number = (struct json_value){event->name.text + sizeof prefix - 1,
                event->name.length - (uint32_t)(sizeof prefix - 1), JSON_STRING, 0};
        if (event->type == 'X' && json_int64(&number, &step))
            step_search_note(adding->inputs->search, step, start_ns);

        return GPUT_OK;
    }
    adding->cut += has_more_members(event);
    if (event->type == 'B') {
        /* Keep the begin of a slice until its end is read. */
        struct json_text name = string_text(&event->name);
        struct pending_event pending = {.pid = number_or_hash(&event->pid),
            .tid = number_or_hash(&event->tid),
            .start_ns = start_ns,
            .name = strndup(name.text, name.length)};
        bool whole = copy_padded(string_text(&event->category), &pending.category) &&
                     copy_padded(args_text(&event->args, &adding->args), &pending.args) &&
                     !adding->args.failed;
        if (!whole)
            pending_event_finish(&pending); /* without a name it is refused */
        return pending_events_push(&adding->pending, &pending) ? GPUT_OK : error_memory(error);
    }

    if (event->type == 'E') {
        /* Find the begin of this end. */
        struct pending_event pending;
        struct json_text name = string_text(&event->name);
        str_clear(&adding->name);
        str_append_bytes(&adding->name, name.text, name.length);
        if (adding->name.failed)
            return error_memory(error);
        if (!pending_events_pop(&adding->pending, number_or_hash(&event->pid),
                number_or_hash(&event->tid), str_text(&adding->name), &pending)) {
            adding->inputs->report.unusable++;
            return GPUT_OK;
        }
        int code = end_slice(adding, event, &pending, start_ns, error);
        pending_event_finish(&pending);
        return code;
    }

    if (event->type && strchr(plain_types, event->type))
        return add_plain(adding, event, start_ns, error);
    adding->inputs->report.unusable++;
    return GPUT_OK;
}

/* Adds the counts of the file to the report, and warns of what was skipped. */
static void end_file(struct adding *adding, const char *path)
{
    const struct event_counts *counts = event_stream_counts(adding->stream);
    struct read_report *report = &adding->inputs->report;
    struct pending_events *pending = &adding->pending;
    struct str text = {0};
    event_stream_report_end(adding->stream, report);
    pending_events_drop(pending);
    report->files++;
    report->events += counts->events;
    report->damaged += counts->damaged;
    report->truncated += counts->truncated;
    report->unusable += pending->dropped;
    adding->inputs->unended += pending->dropped;
    read_report_warn(report, event_stream_warning(adding->stream));
    if (pending->dropped > 0 && !adding->inputs->search) {
        str_printf(&text, "%s: %" PRIu64 " slice%s no end and %s left out: %s%s", path,
            pending->dropped, pending->dropped == 1 ? " has" : "s have",
            pending->dropped == 1 ? "is" : "are", str_text(&pending->names),
            pending->dropped > PENDING_MAX_NAMED ? ", ..." : "");
        read_report_warn_text(report, &text);
    }
    const char *members = event_stream_left_out(adding->stream);
    if (*members && !adding->inputs->search) {
        str_printf(&text, "%s: these members are left out: %s", path, members);
        read_report_warn_text(report, &text);
    }
    if (adding->cut > 0) {
        str_printf(&text,
            "%s: %" PRIu64 " event%s members that are left out (stacks, times of threads, colours)",
            path, adding->cut, adding->cut == 1 ? " has" : "s have");
        read_report_warn_text(report, &text);
    }
    if (adding->header->late_base_ns != 0 && adding->header->late_base_ns != adding->base_ns) {
        str_printf(&text, "%s: its base time stands after the events and is not used", path);
        read_report_warn_text(report, &text);
    }
}

/* Adds all events of a trace. */
static int add_events(struct adding *adding, const char *path, struct gput_error *error)
{
    struct event_stream *stream = adding->stream;
    struct trace_event event;
    bool there;
    adding->header = event_stream_header(stream);
    TRY(event_stream_next(stream, &event, &there, error));
    adding->base_ns = adding->header->base_time_ns;
    if (there && adding->base_ns == 0 && adding->header->is_object)
        TRY(base_time_find(path, &adding->base_ns, error));

    /* Label the processes of this file by its rank, or by its name if it has no rank. */
    if (adding->inputs->trace_files > 1) {
        if (adding->header->rank >= 0)
            snprintf(adding->label, sizeof adding->label, "rank %" PRId64, adding->header->rank);
        else
            snprintf(adding->label, sizeof adding->label, "%.60s", file_base_name(path));
    }

    while (there) {
        TRY(add_event(adding, &event, error));
        event_stream_report_progress(stream, &adding->inputs->report);
        TRY(event_stream_next(stream, &event, &there, error));
    }
    /* Only now, as the rank may be after the events. */
    struct timeline_trace *trace = adding->inputs->timeline->tracks.traces + adding->trace;
    trace->rank = adding->header->rank;
    trace->world_size = adding->header->world_size;
    end_file(adding, path);
    return GPUT_OK;
}

int timeline_add_trace(struct timeline_inputs *inputs, const char *path, struct gput_error *error)
{
    struct adding adding = {.inputs = inputs, .file = inputs->trace_file++};
    adding.source = names_add(&inputs->sources, path, strlen(path));
    char key[16];
    snprintf(key, sizeof key, "%" PRIu32, adding.file);
    adding.trace = timeline_trace(&inputs->timeline->tracks, key, file_base_name(path), -1, -1);
    if (adding.source == NAMES_NONE || adding.trace == TRACK_NONE)
        return error_memory(error);
    for (int i = 0; i < KNOWN_THREADS; i++)
        adding.known[i].thread = TRACK_NONE;
    TRY(event_stream_open(path, &adding.stream, error));
    event_stream_use_cores(adding.stream, inputs->report.cores);
    adding.text_file =
        source_texts_add(inputs->timeline->texts, event_stream_plain_fd(adding.stream), path);
    int code = add_events(&adding, path, error);
    event_stream_close(adding.stream);
    names_finish(&adding.pids);
    pending_events_finish(&adding.pending);
    str_finish(&adding.name);
    str_finish(&adding.args);
    free(adding.processes);
    return code;
}
