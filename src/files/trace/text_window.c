#include "files/trace/text_window.h"

#include "base/array.h"
#include "base/json_scan.h"

#include <stdlib.h>

#define FIRST_CAPACITY ((256u << 10) + JSON_PADDING)

/* Sets the text to the first `length` bytes of the buffer, and adds the padding. */
static void place_text(struct text_window *window, size_t length)
{
    window->at = window->buffer;
    window->end = window->buffer + length;
    memset(window->buffer + length, 0, JSON_PADDING);
}

int text_window_init(
    struct text_window *window, struct byte_source *source, struct gput_error *error)
{
    *window = (struct text_window){.source = source, .capacity = FIRST_CAPACITY};
    window->buffer = malloc(window->capacity);
    if (!window->buffer) {
        text_window_finish(window);
        return error_memory(error);
    }
    place_text(window, 0);
    return GPUT_OK;
}

int text_window_fill(struct text_window *window, bool *more, struct gput_error *error)
{
    size_t kept = (size_t)(window->end - window->at);
    window->dropped += (size_t)(window->at - window->buffer);
    memmove(window->buffer, window->at, kept);
    place_text(window, kept);
    *more = false;
    if (window->last)
        return GPUT_OK;
    if (kept + JSON_PADDING + window->capacity / 4 > window->capacity) {
        bool grows = window->capacity < TEXT_WINDOW_LIMIT &&
                     ARRAY_RESIZE(window->buffer, window->capacity * 2);
        window->capacity *= grows ? 2 : 1;
        place_text(window, kept);
        if (!grows)
            return GPUT_OK;
    }
    size_t got;
    TRY(byte_source_read(window->source, window->buffer + kept,
        window->capacity - JSON_PADDING - kept, &got, error));
    window->last = got == 0;
    *more = got > 0;
    place_text(window, kept + got);
    return GPUT_OK;
}

int text_window_move(struct text_window *window, uint64_t place, struct gput_error *error)
{
    if (place <= text_window_place(window, window->end)) {
        window->at = window->buffer + (place - window->dropped);
        return GPUT_OK;
    }
    TRY(byte_source_move(window->source, place, error));
    window->dropped = place;
    window->last = false;
    place_text(window, 0);
    return GPUT_OK;
}

void text_window_finish(struct text_window *window)
{
    byte_source_close(window->source);
    free(window->buffer);
    *window = (struct text_window){0};
}
