/*
 * UTF-8 text: decoded, encoded, repaired.
 */
#pragma once

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffd

/* The length of the character at `bytes`, and in `*point` its code point; 0 when it is invalid or
 * NUL. `left` is above 0. */
size_t utf8_decode(const char *bytes, size_t left, uint32_t *point);

/* Appends a code point below 0x110000. */
void utf8_append_point(uint32_t point, struct str *text);

/* Appends `length` bytes of text; NUL and every byte that is not UTF-8 become U+FFFD. */
void utf8_append(const char *bytes, size_t length, struct str *text);

/* How many columns of a terminal a text takes, near enough: its characters. */
size_t utf8_width(const char *text);

/* The width that printf's %*s needs, which counts bytes, for `text` to take `columns`. */
int utf8_field(const char *text, int columns);

/* Cuts a text to `width` columns, above 0, and ends it in "…" then. */
void utf8_cut(struct str *text, size_t width);
