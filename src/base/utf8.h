/*
 * Text that claims to be UTF-8, made so.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

#include <stddef.h>

/* The length of the UTF-8 sequence at `bytes`, 0 when it is none; NUL is none. `left` is above 0.
 */
size_t utf8_length(const char *bytes, size_t left);

/* Appends `length` bytes of text; NUL and every byte that is no UTF-8 become U+FFFD. */
void utf8_append(const char *bytes, size_t length, struct str *text);

#endif
