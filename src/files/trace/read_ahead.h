/*
 * Reads ahead: a thread that calls a function which gives bytes, while what it gave before is used.
 * Memory: a few blocks, whatever is read.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct read_ahead;

/* Gives up to `capacity` bytes; `*length` 0 at the end. */
typedef int read_ahead_read(
    void *user, void *buffer, size_t capacity, size_t *length, struct gput_error *error);

/* From now on `read` is called by the thread alone, until read_ahead_stop(). */
int read_ahead_start(
    read_ahead_read *read, void *user, struct read_ahead **ahead, struct gput_error *error);

/* As `read`; its error comes after all that it gave before. */
int read_ahead_take(struct read_ahead *ahead, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error);

/* Waits for a call of `read` to return. NULL is fine. */
void read_ahead_stop(struct read_ahead *ahead);
