#include "files/trace/event_stream.h"

#include "base/array.h"
#include "base/file_windows.h"
#include "base/str.h"
#include "files/trace/event_shapes.h"
#include "files/trace/json_repair.h"
#include "files/trace/text_window.h"
#include "files/trace/trace_event.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Windows ---- */

/* The events of a plain trace file, found by several threads in windows (file_windows.h). Text
 * within a string may look like an event. But a position between two events of a list does not
 * depend on anything before it. */

struct event_window {
    struct file_window window;
    struct trace_event *events;
    size_t count, capacity;
    uint64_t empty; /* number of {} among them */
    struct event_shapes *shapes;
};

_Static_assert(FILE_WINDOW_PADDING >= JSON_PADDING, "events need the padding");

/* Returns the first event that seems to begin in the window as an item of a list; NULL: there is
 * none. */
static const char *guess_start(const struct file_window *window)
{
    for (const char *at = window->text;
         (at = memchr(at, '{', (size_t)(window->limit - at))) != NULL; at++) {
        struct trace_event event;
        const char *after = at;
        if (*json_skip_space(at + 1) != '"' ||
            trace_event_scan(&after, window->end, &event) != JSON_OK || event.type == 0)
            continue;
        after = json_skip_space(after);
        if (*after == ',' || *after == ']')
            return at;
    }
    return NULL;
}

/* Scans an event as the sequential reader does. Returns false if there is no complete event. */
static bool scan_window_event(
    struct event_window *window, const char **at, struct trace_event *event)
{
    const char *here = *at;
    if (*here != '{')
        return false;
    if (!event_shapes_scan(window->shapes, &here, window->window.end, event)) {
        if (trace_event_scan(&here, window->window.end, event) != JSON_OK)
            return false;
        event_shapes_learn(window->shapes, event);
    }
    if (event->type == 0 && event->members > 0)
        return false;
    *at = here;
    return true;
}

/* Scans the events of a window, from its first known event or the first that seems to begin
 * there. */
static void scan(struct file_window *base)
{
    struct event_window *window = (struct event_window *)base;
    window->count = window->empty = 0;
    if (!window->shapes)
        window->shapes = event_shapes_create();
    const char *at = base->is_known ? base->text : guess_start(base);
    if (!at)
        return;
    base->first = at;
    while (at < base->limit && ARRAY_RESERVE(window->events, window->count, window->capacity)) {
        struct trace_event *event = window->events + window->count;
        if (!scan_window_event(window, &at, event))
            break;
        window->count += event->members > 0;
        window->empty += event->members == 0;
        at = json_skip_space(at);
        while (*at == ',')
            at = json_skip_space(at + 1);
    }
    base->after = at;
    if (window->count == 0)
        base->first = NULL;
}

/* Frees the events and shapes of a window. */
static void finish(struct file_window *base)
{
    struct event_window *window = (struct event_window *)base;
    free(window->events);
    event_shapes_destroy(window->shapes);
}

/* Windows are of struct event_window. Memory: some MiB for each thread. */
static const struct file_window_class event_windows = {sizeof(struct event_window), scan, finish};

/* ---- The stream ---- */

enum place { AT_START, IN_MEMBERS, IN_EVENTS, AT_END };

struct event_stream {
    struct text_window window;
    struct file_windows *windows;       /* events that other threads found; NULL: one thread
                                           reads */
    const struct event_window *current; /* the window whose events are being returned; NULL: none */
    size_t next_event;
    uint64_t at;         /* offset in the file of the event just returned */
    struct str repaired; /* repaired copy of the event just returned, if it needed one */
    bool is_repaired;    /* the event just returned is in `repaired` */
    struct event_shapes *shapes;
    enum place place;
    bool resyncing; /* after damage: text that is no event is skipped without being counted */
    bool seen_events;
    bool not_a_trace;
    bool is_whole; /* the end of the trace was read */
    char *name;
    struct trace_header header;
    struct event_counts counts;
    struct str left_out; /* names of members that are not read */
    struct str warning;
};

int event_stream_open_source(struct byte_source *source, const char *name,
    struct event_stream **stream, struct gput_error *error)
{
    *stream = calloc(1, sizeof **stream);
    if (!*stream) {
        byte_source_close(source);
        return error_memory(error);
    }
    (*stream)->header = (struct trace_header){.rank = -1, .world_size = -1};
    (*stream)->name = strdup(name);
    (*stream)->shapes = event_shapes_create();
    int code = text_window_init(&(*stream)->window, source, error);
    if (code == GPUT_OK && !(*stream)->name)
        code = error_memory(error);
    if (code != GPUT_OK) {
        event_stream_close(*stream);
        *stream = NULL;
    }
    return code;
}

int event_stream_open(const char *path, struct event_stream **stream, struct gput_error *error)
{
    struct byte_source *source;
    *stream = NULL;
    TRY(byte_source_open(path, &source, error));
    return event_stream_open_source(source, path, stream, error);
}

void event_stream_use_cores(struct event_stream *stream, unsigned cores)
{
    struct byte_source *source = stream->window.source;
    if (cores < 2)
        return;
    byte_source_read_ahead(source);
    file_windows_create(
        byte_source_plain_fd(source), cores, &event_windows, NULL, &stream->windows, NULL);
}

/* Moves to the next byte that is neither white space nor, with `over_commas`, a comma. `*there` is
 * false at the end. */
static int find_byte(
    struct event_stream *stream, bool over_commas, bool *there, struct gput_error *error)
{
    struct text_window *window = &stream->window;
    for (;;) {
        window->at = json_skip_space(window->at);
        if (window->at < window->end && (*window->at != ',' || !over_commas)) {
            *there = true;
            return GPUT_OK;
        }
        if (window->at < window->end) {
            window->at++;
            continue;
        }
        TRY(text_window_fill(window, there, error));
        if (!*there)
            return GPUT_OK;
    }
}

/* Ends the stream of a truncated file. */
static void end_torn(struct event_stream *stream)
{
    stream->counts.truncated = true;
    stream->place = AT_END;
}

/* Moves to the next brace that may begin an event, after damage. */
static int resync(struct event_stream *stream, struct gput_error *error)
{
    struct text_window *window = &stream->window;
    if (!stream->resyncing)
        stream->counts.damaged++;
    stream->resyncing = true;
    window->at++;
    for (;;) {
        const char *brace = memchr(window->at, '{', (size_t)(window->end - window->at));
        window->at = brace ? brace : window->end;
        const char *next = brace ? json_skip_space(brace + 1) : window->end;
        if (next < window->end) {
            if (*next == '"')
                return GPUT_OK;
            window->at++;
            continue;
        }
        bool more;
        TRY(text_window_fill(window, &more, error));
        if (!more) {
            end_torn(stream);
            return GPUT_OK;
        }
    }
}

/* Reads more of the file if the current element reaches beyond the window. If the window cannot
 * grow, skips the element. */
static int read_more(struct event_stream *stream, struct gput_error *error)
{
    bool more;
    TRY(text_window_fill(&stream->window, &more, error));
    if (!more && stream->window.last)
        end_torn(stream);
    else if (!more)
        return resync(stream, error);
    return GPUT_OK;
}

/* Scans a text like trace_event_scan(), for json_repair_scan(). */
static enum json_status scan_repaired(void *event, const char **at, const char *end)
{
    return trace_event_scan(at, end, event);
}

/* Scans an event: quickly if it has the shape of an earlier one, and with a repair if it has
 * backslashes that escape nothing, or control characters that are not escaped. */
static enum json_status scan_event(struct event_stream *stream, struct trace_event *event)
{
    struct text_window *window = &stream->window;
    stream->is_repaired = false;
    if (*window->at != '{')
        return JSON_BAD;
    if (event_shapes_scan(stream->shapes, &window->at, window->end, event))
        return JSON_OK;
    const char *start = window->at;
    enum json_status status = trace_event_scan(&window->at, window->end, event);
    if (status == JSON_OK)
        event_shapes_learn(stream->shapes, event);
    if (status != JSON_BAD)
        return status;
    window->at = start;
    status = json_repair_scan(&stream->repaired, &window->at, window->end, scan_repaired, event);
    if (status == JSON_TORN && window->last)
        return JSON_BAD;
    stream->is_repaired = status == JSON_OK;
    stream->counts.repaired += status == JSON_OK;
    return status;
}

/* Begins a window if other threads have found the events from here on. */
static bool begin_window(struct event_stream *stream)
{
    struct text_window *window = &stream->window;
    if (!stream->windows)
        return false;
    stream->current = (const struct event_window *)file_windows_at(
        stream->windows, text_window_place(window, window->at));
    stream->next_event = 0;
    return stream->current;
}

/* Returns the next event of a window. After the last one, moves to the end of the window in the
 * file. */
static int next_in_window(
    struct event_stream *stream, struct trace_event *event, bool *there, struct gput_error *error)
{
    const struct event_window *current = stream->current;
    *there = stream->next_event < current->count;
    if (*there) {
        *event = current->events[stream->next_event++];
        stream->is_repaired = false;
        stream->at = file_window_place(&current->window, event->text);
        stream->counts.events++;
        return GPUT_OK;
    }
    uint64_t after = file_window_place(&current->window, current->window.after);
    stream->counts.empty += current->empty;
    stream->resyncing = false;
    stream->current = NULL;
    TRY(text_window_move(&stream->window, after, error));
    begin_window(stream);
    return GPUT_OK;
}

/* Returns the next event of the list, or skips other text. */
static int next_in_events(
    struct event_stream *stream, struct trace_event *event, bool *there, struct gput_error *error)
{
    struct text_window *window = &stream->window;
    bool more;
    if (stream->current)
        return next_in_window(stream, event, there, error);
    TRY(find_byte(stream, true, &more, error));
    if (!more) {
        end_torn(stream);
        return GPUT_OK;
    }
    if (begin_window(stream))
        return GPUT_OK;
    if (*window->at == ']') {
        window->at++;
        stream->resyncing = false;
        stream->place = stream->header.is_object ? IN_MEMBERS : AT_END;
        stream->is_whole = !stream->header.is_object;
        return GPUT_OK;
    }
    enum json_status status = scan_event(stream, event);
    if (status == JSON_TORN)
        return read_more(stream, error);
    if (status == JSON_BAD)
        return resync(stream, error);
    if (event->members == 0) {
        stream->counts.empty++;
    } else if (event->type != 0) {
        stream->resyncing = false;
        stream->counts.events++;
        if (!stream->is_repaired)
            stream->at = text_window_place(window, event->text);
        *there = true;
    } else if (!stream->resyncing) {
        stream->counts.damaged++;
    }
    return GPUT_OK;
}

/* Scans the key of a top-level member. `*opens`: the list of events begins after it. */
static enum json_status scan_events_key(struct text_window *window, bool *opens)
{
    struct json_value key;
    const char *here = window->at;
    *opens = false;
    enum json_status status = json_scan_value(&here, window->end, &key);
    if (status != JSON_OK)
        return status;
    here = json_skip_space(here);
    if (here >= window->end)
        return JSON_TORN;
    if (*here != ':' || key.kind != JSON_STRING)
        return JSON_BAD;
    here = json_skip_space(here + 1);
    if (here >= window->end)
        return JSON_TORN;
    if (json_is(&key, "traceEvents") && *here == '[') {
        *opens = true;
        window->at = here + 1;
    }
    return JSON_OK;
}

/* A top-level member. */
struct member {
    struct json_value key, value;
    bool last;
};

/* Scans a member, for json_repair_scan(). */
static enum json_status scan_member(void *user, const char **at, const char *end)
{
    struct member *member = user;
    return json_scan_member(at, end, &member->key, &member->value, &member->last);
}

/* Moves to the list of events, if it was not seen yet, after a member that cannot be read. */
static int find_events(struct event_stream *stream, struct gput_error *error)
{
    static const char key[] = "\"traceEvents\"";
    struct text_window *window = &stream->window;
    bool more = !stream->seen_events;
    stream->counts.damaged++;
    while (more) {
        size_t length = (size_t)(window->end - window->at);
        const char *found = memmem(window->at, length, key, sizeof key - 1);
        if (found) {
            window->at = found;
            return GPUT_OK;
        }
        if (length >= sizeof key)
            window->at = window->end - sizeof key;
        TRY(text_window_fill(window, &more, error));
    }
    window->at = window->end;
    stream->place = AT_END;
    return GPUT_OK;
}

/* Reads a member of the trace, or begins its events. */
static int next_member(struct event_stream *stream, struct gput_error *error)
{
    struct text_window *window = &stream->window;
    bool more, opens;
    TRY(find_byte(stream, true, &more, error));
    if (!more) {
        end_torn(stream);
        return GPUT_OK;
    }
    if (*window->at == '}') {
        window->at++;
        stream->is_whole = true;
        stream->place = AT_END;
        return GPUT_OK;
    }
    enum json_status status = scan_events_key(window, &opens);
    if (status == JSON_OK && opens) {
        stream->place = IN_EVENTS;
        stream->seen_events = true;
        return GPUT_OK;
    }
    struct member member;
    const char *after = window->at;
    if (status == JSON_OK)
        status = scan_member(&member, &after, window->end);
    if (status == JSON_BAD) {
        after = window->at;
        status = json_repair_scan(&stream->repaired, &after, window->end, scan_member, &member);
        stream->counts.repaired += status == JSON_OK;
    }
    if (status == JSON_TORN)
        return read_more(stream, error);
    if (status == JSON_BAD) {
        window->at++;
        return find_events(stream, error);
    }

    /* Read the members that describe the trace. */
    struct trace_header *header = &stream->header;
    int64_t number;
    if (json_is(&member.key, "baseTimeNanoseconds") && json_int64(&member.value, &number)) {
        *(stream->seen_events ? &header->late_base_ns : &header->base_time_ns) = number;
    } else if (json_is(&member.key, "distributedInfo")) {
        struct json_value rank = json_member(&member.value, "rank");
        struct json_value world_size = json_member(&member.value, "world_size");
        json_int64(&rank, &header->rank);
        json_int64(&world_size, &header->world_size);
    } else if (member.value.length > 2 &&
               (json_is(&member.key, "stackFrames") || json_is(&member.key, "samples") ||
                   json_is(&member.key, "systemTraceEvents") ||
                   json_is(&member.key, "powerTraceAsString"))) {
        /* in Chrome's object form these record activity, as events do */
        str_printf(&stream->left_out, "%s%.*s", stream->left_out.length > 0 ? ", " : "",
            (int)member.key.length, member.key.text);
    }

    window->at = after;
    stream->is_whole = member.last;
    if (member.last)
        stream->place = AT_END;
    return GPUT_OK;
}

/* Finds out by the first byte whether the trace is an object or a list. */
static int start(struct event_stream *stream, struct gput_error *error)
{
    struct text_window *window = &stream->window;
    bool there;
    TRY(find_byte(stream, false, &there, error));
    if (there && window->end - window->at >= 3 && memcmp(window->at, "\xef\xbb\xbf", 3) == 0) {
        window->at += 3;
        TRY(find_byte(stream, false, &there, error));
    }
    if (!there) {
        end_torn(stream); /* an empty file counts as truncated */
        return GPUT_OK;
    }
    stream->header.is_object = *window->at == '{';
    stream->seen_events = *window->at == '[';
    stream->place = stream->header.is_object ? IN_MEMBERS : IN_EVENTS;
    if (*window->at != '{' && *window->at != '[') {
        stream->not_a_trace = true;
        stream->place = AT_END;
    }
    window->at++;
    return GPUT_OK;
}

int event_stream_next(
    struct event_stream *stream, struct trace_event *event, bool *there, struct gput_error *error)
{
    *there = false;
    while (!*there && stream->place != AT_END) {
        if (stream->place == IN_EVENTS)
            TRY(next_in_events(stream, event, there, error));
        else if (stream->place == IN_MEMBERS)
            TRY(next_member(stream, error));
        else
            TRY(start(stream, error));
        if (stream->place == AT_END) {
            /*
             * After a complete trace, read to the end of the file, so that the checksum of
             * compressed data is verified, and count what follows from its first byte that is not
             * white space. A file that is not a trace may have no end.
             */
            struct text_window *window = &stream->window;
            bool more = !stream->counts.truncated && !stream->not_a_trace;
            while (more) {
                if (stream->counts.after == 0)
                    window->at = json_skip_space(window->at);
                if (stream->is_whole)
                    stream->counts.after += (uint64_t)(window->end - window->at);
                window->at = window->end;
                TRY(text_window_fill(window, &more, error));
            }
            return GPUT_OK;
        }
    }
    return GPUT_OK;
}

uint64_t event_stream_place(const struct event_stream *stream)
{
    return stream->is_repaired ? UINT64_MAX : stream->at;
}

/* Returns how many bytes of the file were read, before unpacking. */
static uint64_t bytes_read(const struct event_stream *stream)
{
    return stream->windows ? stream->at : byte_source_bytes_read(stream->window.source);
}

void event_stream_report_progress(
    const struct event_stream *stream, const struct read_report *report)
{
    if (stream->counts.events % 4096 == 0)
        read_report_progress(report, bytes_read(stream));
}

void event_stream_report_end(const struct event_stream *stream, struct read_report *report)
{
    report->bytes_read +=
        stream->windows ? file_windows_file_size(stream->windows) : bytes_read(stream);
    read_report_progress(report, 0);
}

int event_stream_plain_fd(const struct event_stream *stream)
{
    return byte_source_plain_fd(stream->window.source);
}

const char *event_stream_name(const struct event_stream *stream)
{
    return stream->name;
}

const struct trace_header *event_stream_header(const struct event_stream *stream)
{
    return &stream->header;
}

const struct event_counts *event_stream_counts(const struct event_stream *stream)
{
    return &stream->counts;
}

const char *event_stream_left_out(const struct event_stream *stream)
{
    return str_text(&stream->left_out);
}

/* Appends a count to the warning: "; 2 damaged places were skipped", or "NAME: 2 damaged …" where
 * it is the first. */
static void append_count(
    struct event_stream *stream, uint64_t count, const char *noun, const char *what)
{
    struct str *text = &stream->warning;
    if (count == 0)
        return;
    if (text->length == 0)
        str_printf(text, "%s:", stream->name);
    else
        str_append_char(text, ';');
    str_printf(text, " %" PRIu64 "%s%s%s", count, noun, count == 1 ? " was" : "s were", what);
}

const char *event_stream_warning(struct event_stream *stream)
{
    struct str *text = &stream->warning;
    const char *packed = byte_source_damage(stream->window.source);
    uint64_t events = stream->counts.events;
    str_clear(text);
    if (stream->not_a_trace)
        str_printf(text, "%s is not a trace: it starts with neither [ nor {", stream->name);
    else if (!stream->seen_events && !stream->counts.truncated)
        str_printf(text, "%s is not a trace: it has no \"traceEvents\"", stream->name);
    else if (packed)
        str_printf(text, "%s: the packed data %s; the %" PRIu64 " whole events before are used",
            stream->name, packed, events);
    else if (stream->counts.truncated)
        str_printf(
            text, "%s ends too early; its %" PRIu64 " whole events are used", stream->name, events);
    append_count(stream, stream->counts.damaged, " damaged place", " skipped");
    append_count(stream, stream->counts.repaired, " place",
        " read with backslashes or control characters that are not escaped");
    append_count(stream, stream->counts.after, " byte", " not read after the end of the trace");
    if (text->failed)
        return "A warning about a trace is missing: no memory is left";
    return text->length > 0 ? str_text(text) : NULL;
}

void event_stream_close(struct event_stream *stream)
{
    if (!stream)
        return;
    file_windows_destroy(stream->windows);
    text_window_finish(&stream->window);
    event_shapes_destroy(stream->shapes);
    str_finish(&stream->left_out);
    str_finish(&stream->warning);
    str_finish(&stream->repaired);
    free(stream->name);
    free(stream);
}
