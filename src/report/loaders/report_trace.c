/* Traces of PyTorch's profiler, or any other in Chrome's format. */
#include "report/loaders/report_events.h"
#include "report/loaders/report_kineto.h"
#include "report/loaders/report_loader.h"

#include "trace/byte_source.h"

#include <string.h>

static int load(struct report_session *session, struct gput_error *error)
{
    TRY(report_events_add(session, timeline_add_trace, error));
    return report_kineto_add(session, error);
}

/* What a trace begins with: an array of objects, or an object with a list of events in it. The rest
 * is too long to be read twice. */
static bool looks_like_trace(const char *text, size_t length)
{
    const char *at = text + strspn(text, " \t\r\n");
    if (*at == '[')
        return at[1 + strspn(at + 1, " \t\r\n")] == '{';
    return *at == '{' && (memmem(text, length, "\"traceEvents\"", 13) ||
                             memmem(text, length, "\"schemaVersion\"", 15));
}

static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    char text[65536];
    size_t got = 0;
    struct byte_source *source;
    if (is_folder)
        return report_session_refuse(path, error);
    TRY(byte_source_open(path, &source, error));
    int code = byte_source_read(source, text, sizeof text - 1, &got, error);
    byte_source_close(source);
    text[got] = '\0';
    return code == GPUT_OK && looks_like_trace(text, got) ? GPUT_OK
                                                          : report_session_refuse(path, error);
}

const struct report_loader report_trace_loader = {"trace", probe, load};
