/*
 * Public structs that carry their size, so that later versions can add members; see
 * gputracker/sized.h. `size_t size` is their first member.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* Sets the defaults in a program's struct of `size` bytes; what we do not know of it is 0. */
void sized_init(void *to, size_t size, const void *defaults, size_t known);

/*
 * Copies the members that a program gave to our own struct of `known` bytes, which holds the
 * defaults of the others. `given` NULL: none. Errors: GPUT_ERROR_INVALID (no size),
 * GPUT_ERROR_UNSUPPORTED (a member that we do not know, and that is not 0).
 */
int sized_read(void *to, size_t known, const void *given, struct gput_error *error);

/* Copies a result of ours to a program's struct, as much as that has space for. */
void sized_write(void *to, const void *result, size_t known);
