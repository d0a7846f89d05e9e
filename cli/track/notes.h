/*
 * Sentences for the report, about what was recorded next to the samples.
 */
#pragma once

#include <stddef.h>

enum { NOTES_MAX = 16 };

/* An empty one is all zeroes. */
struct notes {
    char *lines[NOTES_MAX + 1]; /* owned; NULL at the end */
    size_t count;
};

/* Adds one; what is too much, or has no memory, is skipped. */
void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

void notes_finish(struct notes *notes);
