/*
 * Writes messages of Protocol Buffers to a text, and reads them in place.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Writing. If memory runs out, the text is marked as failed. ---- */

void protobuf_add_uint(struct str *message, unsigned field, uint64_t value);
void protobuf_add_fixed64(struct str *message, unsigned field, uint64_t value);
void protobuf_add_double(struct str *message, unsigned field, double value);

/* Adds a text; bytes that are not UTF-8 are replaced. NULL or "", the default, is omitted. */
void protobuf_add_text(struct str *message, unsigned field, const char *text);

/* Begins and ends a nested message: all that is added in between belongs to it. */
size_t protobuf_begin(struct str *message, unsigned field);
void protobuf_end(struct str *message, size_t begin);

/* ---- Reading ---- */

struct protobuf_field {
    unsigned number;
    bool has_bytes;    /* true: `bytes` is set; false: `value` is */
    uint64_t value;    /* a varint, or the bits of a value of fixed size */
    const char *bytes; /* a text or a message; points into the message that is read */
    size_t length;
};

/* Reads the next field of a message of `length` bytes, at `*position`. Returns false at its end,
 * and where it is damaged: `*position` is then not the end. */
bool protobuf_next(
    const char *message, size_t length, size_t *position, struct protobuf_field *field);
