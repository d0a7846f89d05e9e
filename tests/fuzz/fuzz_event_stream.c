/* Any bytes as a trace file: plain or packed, whole or broken. */
#include "base/json_text.h"
#include "base/str.h"
#include "files/trace/event_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct byte_source *source;
    struct event_stream *stream;
    struct trace_event event;
    struct str text = {0};
    bool there;
    if (byte_source_open_memory(data, size, &source, NULL) != GPUT_OK)
        return 0;
    if (event_stream_open_source(source, "fuzz", &stream, NULL) != GPUT_OK)
        return 0;
    while (event_stream_next(stream, &event, &there, NULL) == GPUT_OK && there) {
        str_clear(&text);
        if (event.name.kind == JSON_STRING)
            json_append_string(&event.name, &text);
        json_write_value(&event.args, &text);
        json_member(&event.args, "name");
    }
    event_stream_warning(stream);
    event_stream_close(stream);
    str_finish(&text);
    return 0;
}
