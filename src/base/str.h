/*
 * A growing byte string. Appending never returns an error: when memory runs out the string becomes
 * `failed`, later appends do nothing, and one check is enough where the text is used. Only
 * str_finish() and str_restart() end that.
 */
#pragma once

#include <gputracker/error.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    char *data;      /* terminated by a NUL that `length` does not count; NULL while empty */
    size_t length;   /* bytes in use */
    size_t capacity; /* bytes allocated */
    bool failed;     /* an append ran out of memory: the text is incomplete */
};

/* An empty string is all zeroes: `struct str text = {0};` */

/* Frees the string's memory and makes it empty again. */
void str_finish(struct str *string);

/* Makes it empty and keeps the memory. One that has failed stays so until str_finish(): one check
 * is enough for all texts that were in it, and what goes on without one of them says so. */
void str_clear(struct str *string);

/* Makes it empty, keeps the memory, and it has not failed any more. */
void str_restart(struct str *string);

/* Removes bytes at the beginning, at most all of them. */
void str_drop(struct str *string, size_t length);

/* Reserves space for `extra` bytes more and a NUL. Returns false, and marks `failed`, without
 * memory.
 */
bool str_reserve(struct str *string, size_t extra);

void str_append(struct str *string, const char *text);
/* Appends a sentence, with a full stop where it has none, and a blank. */
void str_append_sentence(struct str *string, const char *sentence);
void str_append_bytes(struct str *string, const void *bytes, size_t length);
/* As a word of a shell's command line: in single quotes where a shell would read it otherwise. */
void str_append_shell_word(struct str *string, const char *text);
void str_append_char(struct str *string, char byte);
/* Numbers as number.h writes them. */
void str_append_int64(struct str *string, int64_t value);
void str_append_double(struct str *string, double value);
void str_append_repeated(struct str *string, char byte, size_t count);
void str_printf(struct str *string, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_print_list(struct str *string, const char *format, va_list arguments);

/*
 * Transfers the text: the caller frees it with free(). NULL when an append failed (the partial text
 * is freed). The string is empty afterwards. An empty string gives "".
 */
char *str_steal(struct str *string);

/* The same with its length, which may be NULL, as gput_…_render() have it: GPUT_ERROR_MEMORY, with
 * `*bytes` NULL, when an append failed. */
int str_steal_bytes(struct str *string, char **bytes, size_t *length, struct gput_error *error);

/* The text, "" while empty. Valid until the next change. */
const char *str_text(const struct str *string);
