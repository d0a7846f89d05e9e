#include "base/json_string.h"
#include "base/number.h"
#include "base/utf8.h"
#include "timeline/output_file.h"
#include "timeline/timeline.h"
#include "trace/json_scan.h"
#include "trace/merged_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

static void begin_metadata(struct str *out, bool *first, const char *what, int64_t pid, int64_t tid,
    const char *key, const char *text)
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
}

static void append_metadata(struct str *out, bool *first, const char *what, int64_t pid,
    int64_t tid, const char *key, const char *text)
{
    begin_metadata(out, first, what, pid, tid, key, text);
    str_append(out, "}}");
}

/* The name has more for gpu-tracker's readers: that this is a merged timeline, and the process's
 * origin. */
static void append_process_name(const struct timeline_tracks *tracks,
    const struct timeline_process *process, struct str *out, bool *first)
{
    const struct timeline_trace *trace =
        process->trace == TRACK_NONE ? NULL : tracks->traces + process->trace;
    begin_metadata(out, first, "process_name", process->pid, -1, "name", process->name);
    if (trace)
        merged_mark_append(out, process->trace, trace->name, trace->rank, trace->world_size);
    else
        merged_mark_append(out, -1, NULL, -1, -1);
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
    append_process_name(tracks, process, out, first);
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
    out->failed |= name.failed;
    lane->heading_length = (size_t)snprintf(lane->heading, sizeof lane->heading,
        "\", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", \"ph\": \"", pid, lane->tid);
    str_finish(&name);
}

/* What an event's line takes besides its texts, at most. */
#define LINE_OVERHEAD (4 * NUMBER_TEXT_SIZE + 160)

/* The digits of the whole second that was written last. */
struct written_second {
    int64_t second;
    size_t length;
    char text[NUMBER_TEXT_SIZE];
};

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

/* Thousandths after a whole number. */
static char *put_decimals(char *at, unsigned thousandths)
{
    const char decimals[4] = {'.', (char)('0' + thousandths / 100),
        (char)('0' + thousandths / 10 % 10), (char)('0' + thousandths % 10)};
    memcpy(at, decimals, sizeof decimals);
    if (thousandths == 0)
        return at;
    return at + (decimals[3] != '0' ? 4 : decimals[2] != '0' ? 3 : 2);
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
    return put_decimals(at, (unsigned)rest);
}

/* An id as a number, or in hex where readers that take numbers for floating point would mix it up
 * with others. */
static char *put_id(char *at, const struct timeline_event *event)
{
    at = event->id_is_local ? PUT(at, ", \"id2\": {\"local\": ") : PUT(at, ", \"id\": ");
    if (event->id_is_local || event->id >> 53 != 0)
        at += sprintf(at, "\"0x%" PRIx64 "\"", event->id);
    else
        at = put_int(at, (int64_t)event->id);
    if (event->id_is_local)
        *at++ = '}';
    return at;
}

static char *put_options(char *at, const struct timeline_event *event)
{
    if (event->has_id)
        at = put_id(at, event);
    if (event->bind_point) {
        at = PUT(at, ", \"bp\": \"");
        *at++ = event->bind_point;
        *at++ = '"';
    }
    if (event->scope) {
        at = PUT(at, ", \"s\": \"");
        *at++ = event->scope;
        *at++ = '"';
    }
    return at;
}

/* For texts of events: both what is read and what is written may go 15 bytes beyond the end. */
static char *put_text(char *at, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i += 16)
        memcpy(at + i, text + i, 16);
    return at + length;
}

/* Copies up to a line break or `end`; returns how much. Goes beyond as put_text() does. */
static size_t put_line(char *at, const char *text, const char *end)
{
    size_t length = (size_t)(end - text);
#ifdef __SSE2__
    const __m128i line_break = _mm_set1_epi8('\n');
    for (size_t i = 0; i < length; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(text + i));
        unsigned breaks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, line_break));
        _mm_storeu_si128((__m128i *)(at + i), bytes);
        if (length - i < 16)
            breaks &= (1U << (length - i)) - 1;
        if (breaks != 0)
            return i + (unsigned)__builtin_ctz(breaks);
    }
#else
    const char *line_break = memchr(text, '\n', length);
    length = line_break ? (size_t)(line_break - text) : length;
    memcpy(at, text, length);
#endif
    return length;
}

/* Line breaks stand only between the tokens of a value: they go, with the indentation. */
static char *put_on_one_line(char *at, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        size_t copied = put_line(at, text, end);
        at += copied;
        for (text += copied; text < end && (unsigned char)*text <= ' ';)
            text++;
    }
    return at;
}

/* The rare way: every text checked to be UTF-8. `clean` holds the texts afterwards. */
static void clean_texts(struct timeline_event *event, struct str *clean)
{
    size_t starts[TEXT_COUNT];
    str_clear(clean);
    for (int i = 0; i < TEXT_COUNT; i++) {
        starts[i] = clean->length;
        utf8_append(event->texts[i].text, event->texts[i].length, clean);
        event->texts[i].length = clean->length - starts[i];
    }
    str_reserve(clean, JSON_PADDING);
    for (int i = 0; i < TEXT_COUNT; i++)
        event->texts[i].text = str_text(clean) + starts[i];
}

static char *put_two_digits(char *at, unsigned number)
{
    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
    return at + 2;
}

/* A moment: nearly all lie in the second of the one before. */
static char *put_moment(char *at, int64_t ns, struct written_second *last)
{
    int64_t second = ns / 1000000000;
    unsigned rest = (unsigned)(ns % 1000000000);
    if (ns < 1000000000)
        return put_us(at, ns);
    if (second != last->second) {
        last->second = second;
        last->length = number_format_int64(second, last->text);
    }
    memcpy(at, last->text, sizeof last->text);
    at += last->length;
    at = put_two_digits(at, rest / 10000000);
    at = put_two_digits(at, rest / 100000 % 100);
    at = put_two_digits(at, rest / 1000 % 100);
    return put_decimals(at, rest % 1000);
}

static void append_event(struct str *out, const struct timeline_event *event,
    const struct timeline_lane *lane, struct written_second *last)
{
    const struct json_text *name = &event->name, *category = &event->category;
    if (!str_reserve(out, name->length + category->length + event->args.length + LINE_OVERHEAD))
        return;
    char *at = out->data + out->length;
    at = PUT(at, ",\n{\"name\": \"");
    at = put_text(at, name->text, name->length);
    if (category->length > 0) {
        at = PUT(at, "\", \"cat\": \"");
        at = put_text(at, category->text, category->length);
    }
    memcpy(at, lane->heading, sizeof lane->heading);
    at += lane->heading_length;
    *at++ = event->type;
    at = PUT(at, "\", \"ts\": ");
    at = put_moment(at, event->start_ns, last);
    if (event->type == 'X') {
        at = PUT(at, ", \"dur\": ");
        at = put_us(at, event->duration_ns);
    }
    at = put_options(at, event);
    if (event->args.length > 0) {
        at = PUT(at, ", \"args\": ");
        at = put_on_one_line(at, event->args.text, event->args.length);
    }
    *at++ = '}';
    *at = '\0';
    out->length = (size_t)(at - out->data);
}

/* One timeline on its way to a file. */
struct writing {
    struct timeline *timeline;
    struct output_file file;
    struct str clean;
    struct written_second last;
    bool first; /* nothing was written yet */
};

static int write_event(
    struct writing *writing, struct timeline_event *event, struct gput_error *error)
{
    struct timeline_tracks *tracks = &writing->timeline->tracks;
    struct str *out = &writing->file.buffer;
    struct timeline_lane *lane = event->type == 'X'
                                     ? timeline_lane(tracks, event->thread, event->start_ns,
                                           event->start_ns + event->duration_ns)
                                     : timeline_first_lane(tracks, event->thread);
    if (!lane)
        return error_memory(error);
    const struct timeline_thread *thread = tracks->threads + event->thread;
    int64_t pid = introduce_process(tracks, thread->process, out, &writing->first);
    introduce_lane(thread, lane, pid, out, &writing->first);
    if ((event->name.flags | event->category.flags | event->args.flags) & JSON_NOT_ASCII)
        clean_texts(event, &writing->clean);
    if (writing->clean.failed)
        return error_memory(error);
    append_event(out, event, lane, &writing->last);
    return GPUT_OK;
}

static void report_progress(const struct timeline *timeline, uint64_t written)
{
    uint64_t all = timeline->slices + timeline->counters + timeline->others;
    double done = (double)written / (double)all, from = timeline->progress_from;
    if (timeline->progress && written % 4096 == 0)
        timeline->progress(timeline->user, from + (1 - from) * done);
}

static int write_all(struct writing *writing, struct gput_error *error)
{
    struct timeline_event event;
    bool there;
    for (uint64_t written = 0;; written++) {
        report_progress(writing->timeline, written);
        TRY(timeline_next(writing->timeline, &event, &there, error));
        if (!there)
            break;
        TRY(write_event(writing, &event, error));
        TRY(output_file_flow(&writing->file, error));
    }
    str_append(&writing->file.buffer, writing->first ? "[\n]\n" : "\n]\n");
    return GPUT_OK;
}

int timeline_write_json(struct timeline *timeline, const char *path, struct gput_error *error)
{
    struct writing writing = {.timeline = timeline, .first = true};
    TRY(output_file_open(path, &writing.file, error));
    int code = write_all(&writing, error);
    str_finish(&writing.clean);
    if (code == GPUT_OK)
        return output_file_commit(&writing.file, error);
    output_file_discard(&writing.file);
    return code;
}
