#include "trace/timeline.h"

#include "base/number.h"
#include "trace/json_text.h"
#include "trace/output_file.h"

#include <string.h>

/* How an event lies in the sorter; its texts follow: name, category, args. */
struct record {
    int64_t id;
    uint32_t thread;
    uint32_t name_length;
    uint32_t category_length;
    uint32_t args_length;
    char type;
    char scope;
    char bind_point;
    bool has_id;
};

int timeline_init(
    struct timeline *timeline, const char *folder, size_t memory_bytes, struct gput_error *error)
{
    *timeline = (struct timeline){
        .start_ns = INT64_MIN, .end_ns = INT64_MAX, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    return event_sorter_create(folder, memory_bytes, &timeline->sorter, error);
}

static void count(struct timeline *timeline, const struct timeline_event *event, int64_t end_ns)
{
    timeline->slices += event->type == 'X';
    timeline->counters += event->type == 'C';
    timeline->others += event->type != 'X' && event->type != 'C';
    if (event->start_ns < timeline->first_ns)
        timeline->first_ns = event->start_ns;
    if (end_ns > timeline->last_ns)
        timeline->last_ns = end_ns;
}

int timeline_add(
    struct timeline *timeline, const struct timeline_event *event, struct gput_error *error)
{
    int64_t end_ns;
    if (__builtin_add_overflow(event->start_ns, event->duration_ns, &end_ns) ||
        end_ns < timeline->start_ns || event->start_ns > timeline->end_ns) {
        timeline->left_out++;
        return GPUT_OK;
    }
    struct record record = {.id = event->id,
        .thread = event->thread,
        .name_length = (uint32_t)event->name.length,
        .category_length = (uint32_t)event->category.length,
        .args_length = (uint32_t)event->args.length,
        .type = event->type,
        .scope = event->scope,
        .bind_point = event->bind_point,
        .has_id = event->has_id};
    size_t length =
        sizeof record + event->name.length + event->category.length + event->args.length;
    char *place =
        event_sorter_add(timeline->sorter, event->start_ns, event->duration_ns, length, error);
    if (!place)
        return error ? (int)error->code : GPUT_ERROR_IO;
    memcpy(place, &record, sizeof record);
    place += sizeof record;
    memcpy(place, event->name.text, event->name.length);
    place += event->name.length;
    if (event->category.length > 0)
        memcpy(place, event->category.text, event->category.length);
    place += event->category.length;
    if (event->args.length > 0)
        memcpy(place, event->args.text, event->args.length);
    count(timeline, event, end_ns);
    return GPUT_OK;
}

static void append_int(struct str *out, int64_t value)
{
    if (str_reserve(out, NUMBER_TEXT_SIZE))
        out->length += number_format_int64(value, out->data + out->length);
}

/* One event a line; the first is not preceded by a comma. */
static void start_line(struct str *out, bool *first)
{
    str_append(out, *first ? "[\n" : ",\n");
    *first = false;
}

static void append_metadata(struct str *out, bool *first, const char *what, int64_t pid,
    int64_t tid, const char *key, const char *text)
{
    start_line(out, first);
    str_printf(out, "{\"name\": \"%s\", \"ph\": \"M\", \"pid\": ", what);
    append_int(out, pid);
    if (tid >= 0) {
        str_append(out, ", \"tid\": ");
        append_int(out, tid);
    }
    str_printf(out, ", \"args\": {\"%s\": ", key);
    if (text)
        json_write_string(text, strlen(text), out);
    else
        append_int(out, pid);
    str_append(out, "}}");
}

/* At the first sight of a process: its name, its place, its labels. */
static int64_t introduce_process(
    struct timeline_tracks *tracks, uint32_t number, struct str *out, bool *first)
{
    int64_t pid = timeline_process_number(tracks, number);
    struct timeline_process *process = tracks->processes + number;
    if (process->written)
        return pid;
    process->written = true;
    append_metadata(out, first, "process_name", pid, -1, "name", process->name);
    append_metadata(out, first, "process_sort_index", pid, -1, "sort_index", NULL);
    if (process->labels)
        append_metadata(out, first, "process_labels", pid, -1, "labels", process->labels);
    return pid;
}

/* At the first sight of a lane: its name. */
static void introduce_lane(const struct timeline_thread *thread, struct timeline_lane *lane,
    int64_t pid, struct str *out, bool *first)
{
    struct str name = {0};
    if (lane->written)
        return;
    lane->written = true;
    if (thread->name)
        str_append(&name, thread->name);
    else
        str_printf(&name, "thread %lld", (long long)thread->number);
    if (lane != thread->lanes)
        str_printf(&name, " (%d)", (int)(lane - thread->lanes) + 1);
    append_metadata(out, first, "thread_name", pid, lane->tid, "name", str_text(&name));
    str_finish(&name);
}

/* What an event's line takes besides its texts, at most. */
#define LINE_OVERHEAD (4 * NUMBER_TEXT_SIZE + 160)

static char *put(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put_int(char *at, int64_t value)
{
    return at + number_format_int64(value, at);
}

/* Nanoseconds as microseconds, with decimals only where they are needed. */
static char *put_us(char *at, int64_t ns)
{
    int64_t us = ns / 1000, rest = ns % 1000;
    if (ns < 0) {
        *at++ = '-';
        us = -us;
        rest = -rest;
    }
    at = put_int(at, us);
    if (rest == 0)
        return at;
    char decimals[4] = {
        '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    return put(at, decimals, decimals[3] != '0' ? 4 : decimals[2] != '0' ? 3 : 2);
}

static char *put_options(char *at, const struct record *record)
{
    if (record->has_id) {
        at = PUT(at, ", \"id\": ");
        at = put_int(at, record->id);
    }
    if (record->bind_point) {
        at = PUT(at, ", \"bp\": \"");
        *at++ = record->bind_point;
        *at++ = '"';
    }
    if (record->scope) {
        at = PUT(at, ", \"s\": \"");
        *at++ = record->scope;
        *at++ = '"';
    }
    return at;
}

static void append_event(struct str *out, const struct sorted_record *sorted,
    const struct record *record, int64_t pid, int64_t tid)
{
    const char *name = (const char *)(record + 1);
    const char *category = name + record->name_length;
    const char *args = category + record->category_length;
    if (!str_reserve(out, sorted->length + LINE_OVERHEAD))
        return;
    char *at = out->data + out->length;
    at = PUT(at, "{\"name\": \"");
    at = put(at, name, record->name_length);
    if (record->category_length > 0) {
        at = PUT(at, "\", \"cat\": \"");
        at = put(at, category, record->category_length);
    }
    at = PUT(at, "\", \"pid\": ");
    at = put_int(at, pid);
    at = PUT(at, ", \"tid\": ");
    at = put_int(at, tid);
    at = PUT(at, ", \"ph\": \"");
    *at++ = record->type;
    at = PUT(at, "\", \"ts\": ");
    at = put_us(at, sorted->start_ns);
    if (record->type == 'X') {
        at = PUT(at, ", \"dur\": ");
        at = put_us(at, sorted->duration_ns);
    }
    at = put_options(at, record);
    if (record->args_length > 0) {
        at = PUT(at, ", \"args\": ");
        at = put(at, args, record->args_length);
    }
    *at++ = '}';
    *at = '\0';
    out->length = (size_t)(at - out->data);
}

static int write_record(struct timeline *timeline, const struct sorted_record *sorted,
    struct str *out, bool *first, struct gput_error *error)
{
    const struct record *record = sorted->bytes;
    struct timeline_tracks *tracks = &timeline->tracks;
    struct timeline_lane *lane = record->type == 'X'
                                     ? timeline_lane(tracks, record->thread, sorted->start_ns,
                                           sorted->start_ns + sorted->duration_ns)
                                     : timeline_first_lane(tracks, record->thread);
    if (!lane)
        return error_memory(error);
    const struct timeline_thread *thread = tracks->threads + record->thread;
    int64_t pid = introduce_process(tracks, thread->process, out, first);
    introduce_lane(thread, lane, pid, out, first);
    start_line(out, first);
    append_event(out, sorted, record, pid, lane->tid);
    return GPUT_OK;
}

static int write_all(struct timeline *timeline, struct output_file *file, struct gput_error *error)
{
    struct sorted_record record;
    bool there, first = true;
    for (;;) {
        TRY(event_sorter_next(timeline->sorter, &record, &there, error));
        if (!there)
            break;
        TRY(write_record(timeline, &record, &file->buffer, &first, error));
        TRY(output_file_flow(file, error));
    }
    str_append(&file->buffer, first ? "[\n]\n" : "\n]\n");
    return GPUT_OK;
}

int timeline_write(struct timeline *timeline, const char *path, struct gput_error *error)
{
    struct output_file file;
    TRY(output_file_open(path, &file, error));
    int code = write_all(timeline, &file, error);
    if (code == GPUT_OK)
        return output_file_commit(&file, error);
    output_file_discard(&file);
    return code;
}

void timeline_finish(struct timeline *timeline)
{
    event_sorter_destroy(timeline->sorter);
    timeline_tracks_finish(&timeline->tracks);
    timeline->sorter = NULL;
}
