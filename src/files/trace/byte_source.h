/*
 * Bytes from a file in order, decompressed if it is gzip or Zstandard (recognized by its first
 * bytes, never by its name). Memory: a few small buffers, whatever the size of the file; for
 * Zstandard also the window that the writer chose, at most 128 MiB.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct byte_source;

/* Opens a file. The source is freed by byte_source_close(); `path` is copied. Errors:
 * GPUT_ERROR_UNSUPPORTED when the library that decompresses it is missing. */
int byte_source_open(const char *path, struct byte_source **source, struct gput_error *error);

/* The same over bytes in memory, which must outlive the source. For tests and fuzzing. */
int byte_source_open_memory(
    const void *bytes, size_t length, struct byte_source **source, struct gput_error *error);

/* Lets a separate thread unpack ahead from now on, if the file is packed and large. */
void byte_source_read_ahead(struct byte_source *source);

/*
 * Reads up to `capacity` bytes; `*length` is 0 at the end. Packed data that is truncated or damaged
 * ends there, after all that could be unpacked; byte_source_damage() then describes it. Errors:
 * GPUT_ERROR_IO and similar ones when the file cannot be read.
 */
int byte_source_read(struct byte_source *source, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error);

/* Continues at that offset of a plain file. */
int byte_source_move(struct byte_source *source, uint64_t place, struct gput_error *error);

/* NULL, or what is wrong with the packed data: "ends too early", "is damaged". Static text. */
const char *byte_source_damage(const struct byte_source *source);

/* Returns how many bytes of the file were read, before unpacking. */
uint64_t byte_source_bytes_read(const struct byte_source *source);

/* Returns the descriptor of a plain file; -1 if it is packed or in memory. Belongs to the
 * source. */
int byte_source_plain_fd(const struct byte_source *source);

void byte_source_close(struct byte_source *source); /* NULL is fine */
CLEANUP_DEFINE(struct byte_source, byte_source_close)
