/*
 * Unpacks a packed file in order: all its members, up to the place where it is truncated or
 * damaged. The input comes from a function, so that this code knows no files.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct unpacking;

/* Reads up to `capacity` bytes; `*length` is 0 at the end. */
typedef int unpacking_read(
    void *user, void *buffer, size_t capacity, size_t *length, struct gput_error *error);

/* Whether data that begins with these bytes is packed. */
bool unpacking_is_packed(const unsigned char *bytes, size_t length);

/*
 * Begins to unpack. `input` has `capacity` bytes, of which the first `length` are already read and
 * tell the format. It belongs to the caller; further calls of `read` fill it. Errors:
 * GPUT_ERROR_UNSUPPORTED (a library is missing).
 */
int unpacking_create(unsigned char *input, size_t length, size_t capacity, unpacking_read *read,
    void *user, struct unpacking **unpacking, struct gput_error *error);

/* Unpacks up to `capacity` bytes; `*length` is 0 at the end, which may be a truncation or
 * damage. */
int unpacking_next(struct unpacking *unpacking, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error);

/* After the end: NULL, or "ends too early", "is damaged". Static text. */
const char *unpacking_damage(const struct unpacking *unpacking);

void unpacking_destroy(struct unpacking *unpacking); /* NULL is fine */
