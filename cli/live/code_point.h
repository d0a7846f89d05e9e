/*
 * Text of others, code point by code point, and the columns of a terminal that each takes. Without
 * a locale: terminals follow Unicode, not the settings of this process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CODE_POINT_INVALID 0xFFFDu

/* The next one of UTF-8 text; `*at` moves after it and must be below `end`. Of bytes that are no
 * UTF-8, each is CODE_POINT_INVALID. */
uint32_t code_point_next(const char **at, const char *end);

/* 0 (combines with the one before, or controls the direction of text), 1 or 2. A control character
 * is -1. */
int code_point_columns(uint32_t code);

/* Encodes it as UTF-8; returns the length. */
size_t code_point_encode(uint32_t code, char text[4]);

/* The columns of text: control characters count as one, the "?" that is shown for each. */
int code_point_text_columns(const char *text, size_t length);
