/*
 * What is packed in a file, in order: all its members, and where it breaks off or is damaged, what
 * stands before. What is read comes from a function, so that this knows no file.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct unpacking;

/* Gives up to `capacity` bytes; `*length` 0 at the end. */
typedef int unpacking_read(
    void *user, void *buffer, size_t capacity, size_t *length, struct gput_error *error);

/* Whether what begins with these bytes is packed. */
bool unpacking_is_packed(const unsigned char *bytes, size_t length);

/*
 * `input` has `capacity` bytes, the first `length` of which are read and say which format it is. It
 * belongs to the caller, and `read` fills it again. Errors: GPUT_ERROR_UNSUPPORTED (a library is
 * missing).
 */
int unpacking_create(unsigned char *input, size_t length, size_t capacity, unpacking_read *read,
    void *user, struct unpacking **unpacking, struct gput_error *error);

/* Gives up to `capacity` bytes; `*length` 0 at the end, and at what breaks off or is damaged. */
int unpacking_next(struct unpacking *unpacking, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error);

/* After the end: NULL, or "ends too early", "is damaged". Static text. */
const char *unpacking_damage(const struct unpacking *unpacking);

void unpacking_destroy(struct unpacking *unpacking); /* NULL is fine */
