/*
 * Texts that stay in their files while events are sorted, and are read again by their offset. This
 * takes a few bytes a text in place of a copy. It is made for reading each file roughly in order,
 * at up to thousands of alternating places. In any other order each fetch is a small read.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct source_texts;

#define SOURCE_NONE UINT32_MAX

/* Makes an empty set, which source_texts_destroy() frees. Memory: at most 16 MiB and the size of
 * the largest text. */
int source_texts_create(struct source_texts **texts, struct gput_error *error);

/* Makes the same set for another one of `threads` threads, once all files were added. `texts` must
 * outlive it. Memory: its part of 16 MiB. */
int source_texts_share(const struct source_texts *texts, unsigned threads,
    struct source_texts **shared, struct gput_error *error);

/*
 * Adds a file by an open descriptor, which belongs to the caller. Returns its number. SOURCE_NONE:
 * it is no regular file, there are too many files, or no descriptor is left; its texts must then be
 * copied.
 */
uint32_t source_texts_add(struct source_texts *texts, int fd, const char *path);

/*
 * Fetches a text that was a complete event of a trace; `*text` is valid until the next call.
 * Errors: the file cannot be read, or there no longer is an event at that place.
 */
int source_texts_fetch(struct source_texts *texts, uint32_t file, uint64_t at, size_t length,
    const char **text, struct gput_error *error);

void source_texts_destroy(struct source_texts *texts); /* NULL is fine */
