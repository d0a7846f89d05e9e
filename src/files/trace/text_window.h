/*
 * A window that slides over the text of a byte source. Its text is contiguous and padded as
 * json_scan.h needs it. The window grows only if one element is larger than it.
 */
#pragma once

#include "base/error.h"
#include "files/trace/byte_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An element larger than this is given up as damaged. */
#define TEXT_WINDOW_LIMIT (64u << 20)

struct text_window {
    struct byte_source *source; /* owned */
    char *buffer;
    size_t capacity;
    const char *at;   /* the next byte to read; the user advances it */
    const char *end;  /* after the last byte in the window; NUL bytes follow */
    bool last;        /* the source has no more text */
    uint64_t dropped; /* bytes of the source before the window */
};

/* Takes ownership of the source, also on failure. */
int text_window_init(
    struct text_window *window, struct byte_source *source, struct gput_error *error);

/*
 * Drops the text before `at` and reads more after the rest. Pointers into the window become
 * invalid, except `at` and `end`. `*more` is false when there is nothing more, or when the window
 * is full at its limit.
 */
int text_window_fill(struct text_window *window, bool *more, struct gput_error *error);

/* Returns the offset of that byte in the source. */
static inline uint64_t text_window_place(const struct text_window *window, const char *at)
{
    return window->dropped + (uint64_t)(at - window->buffer);
}

/* Continues at that offset of a plain file, which must not be before that of `at`. */
int text_window_move(struct text_window *window, uint64_t place, struct gput_error *error);

void text_window_finish(struct text_window *window);
