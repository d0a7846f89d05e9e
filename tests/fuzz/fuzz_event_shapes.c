/* Any bytes as events, form feeds between them: what a known shape gives is what the careful scan
 * gives. */
#include "files/trace/event_shapes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold_against_careful(struct event_shapes *shapes, const char *text, size_t length)
{
    struct trace_event quick, careful;
    const char *quick_end = text, *careful_end = text;
    bool known = event_shapes_scan(shapes, &quick_end, text + length, &quick);
    bool whole = trace_event_scan(&careful_end, text + length, &careful) == JSON_OK;
    if (known && (!whole || quick_end != careful_end || quick.members != careful.members))
        __builtin_trap();
    for (int i = TRACE_OTHER + 1; known && i < TRACE_FIELD_COUNT; i++) {
        const struct json_value *a = quick.values + i, *b = careful.values + i;
        if (a->kind != b->kind ||
            (a->kind != JSON_NONE &&
                (a->text != b->text || a->length != b->length || a->flags != b->flags)))
            __builtin_trap();
    }
    if (whole)
        event_shapes_learn(shapes, &careful);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct event_shapes *shapes = event_shapes_create();
    while (size > 0) {
        const uint8_t *line_break = memchr(data, '\f', size);
        size_t length = line_break ? (size_t)(line_break - data) : size;
        char *text = calloc(1, length + JSON_PADDING);
        if (text && length > 0)
            memcpy(text, data, length);
        if (text && length > 0 && *text == '{')
            hold_against_careful(shapes, text, length);
        free(text);
        length += line_break != NULL;
        data += length;
        size -= length;
    }
    event_shapes_destroy(shapes);
    return 0;
}
