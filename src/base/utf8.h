/*
 * Validates and repairs UTF-8 text.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

#include <stddef.h>

/* The length of the UTF-8 sequence at `bytes`; 0 when it is invalid or NUL. `left` is above 0. */
size_t utf8_length(const char *bytes, size_t left);

/* Appends `length` bytes of text; NUL and every byte that is not UTF-8 become U+FFFD. */
void utf8_append(const char *bytes, size_t length, struct str *text);

#endif
