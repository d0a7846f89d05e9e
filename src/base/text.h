/*
 * How texts begin and end, and which they are. And text in a buffer of fixed size. A text that does
 * not fit ends with "…", so that it is not taken for complete.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

bool text_begins_with(const char *text, const char *begin);
bool text_ends_with(const char *text, const char *end);

/* Whether it is one of `count` texts. */
bool text_is_among(const char *text, const char *const *texts, size_t count);

/* vsnprintf() in the locale "C": a program may have set one in which 1.5 is "1,5". */
int text_print_list(char *text, size_t size, const char *format, va_list arguments);

/* Writes as much as fits into `size` bytes, the final 0 included; characters of UTF-8 are not
 * split. `text` must not be an argument of its own format. */
void text_fit(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void text_fit_list(char *text, size_t size, const char *format, va_list arguments);
