/* Traces of PyTorch's profiler, or any other in Chrome's format. */
#include "views/report/loaders/report_events.h"
#include "views/report/loaders/report_kineto.h"
#include "views/report/loaders/report_loader.h"

#include "files/trace/byte_source.h"
#include "files/trace/trace_event.h"

#include <string.h>

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
