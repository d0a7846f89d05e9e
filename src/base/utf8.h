/*
 * UTF-8 text: decoded, encoded, repaired, and the columns of a terminal that it takes. These need
 * no locale: terminals follow Unicode, not the settings of this process.
 */
#pragma once

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffd

/* The length of the character at `bytes`, and in `*point` its code point; 0 when it is invalid or
 * NUL. `left` is above 0. */
size_t utf8_decode(const char *bytes, size_t left, uint32_t *point);

/* The next code point of a text; `*at` moves after it and must be below `end`. Each byte that is
 * not UTF-8 is UTF8_REPLACEMENT. */
uint32_t utf8_next(const char **at, const char *end);

/* Encodes a code point below 0x110000; returns the length. */
size_t utf8_bytes_of(uint32_t point, char bytes[4]);

/* Appends it. */
void utf8_append_point(uint32_t point, struct str *text);

/* Appends `length` bytes of text; NUL and every byte that is not UTF-8 become U+FFFD. */
void utf8_append(const char *bytes, size_t length, struct str *text);

/* The columns of a code point on a terminal: 0 (it combines with the one before, or controls the
 * direction of text), 1 or 2. A control character is -1. */
int utf8_columns(uint32_t point);

/* The columns of a text; control characters count as one, the "?" that is shown for each. */
size_t utf8_width(const char *text);

/* The width that printf's %*s needs, which counts bytes, for `text` to take `columns`. */
int utf8_field(const char *text, int columns);

/* Cuts a text to `width` columns, above 0, and ends it in "…" then. */
void utf8_cut(struct str *text, size_t width);
