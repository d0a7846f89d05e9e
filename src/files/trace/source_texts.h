/*
 * Texts that stay in their files while events are sorted, and are read again by their offset. This
 * replaces a copy of each text by a few bytes. It is made for reading each file roughly in order,
 * in up to thousands of chunks that alternate. In any other order each fetch is a small read.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct source_texts;

#define SOURCE_NONE UINT32_MAX

/* Freed by source_texts_destroy(). Memory: at most 16 MiB and what the largest text takes. */
int source_texts_create(struct source_texts **texts, struct gput_error *error);

/* The same texts for another one of so many threads, once all files were added. `texts` must
 * outlive it. Memory: a part of 16 MiB. */
int source_texts_share(const struct source_texts *texts, unsigned threads,
    struct source_texts **shared, struct gput_error *error);

/*
 * Adds a file by an open descriptor, which belongs to the caller. Returns its number, or
 * SOURCE_NONE: no regular file, or too many, or no descriptor left; then texts of it must be
 * copied.
 */
uint32_t source_texts_add(struct source_texts *texts, int fd, const char *path);

/*
 * Fetches a text that was a whole event of a trace: `*text` holds until the next call. Errors: the
 * file cannot be read, or there no longer is an event at that place.
 */
int source_texts_fetch(struct source_texts *texts, uint32_t file, uint64_t at, size_t length,
    const char **text, struct gput_error *error);

void source_texts_destroy(struct source_texts *texts); /* NULL is fine */
