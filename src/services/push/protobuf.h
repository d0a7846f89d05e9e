/*
 * Messages of Protocol Buffers: what is written is appended to a text, what is read is walked over
 * in place.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Writing. Without memory the text has failed. ---- */

void protobuf_add_uint(struct str *message, unsigned field, uint64_t value);
void protobuf_add_fixed64(struct str *message, unsigned field, uint64_t value);
void protobuf_add_double(struct str *message, unsigned field, double value);

/* Adds a text; what of it is not UTF-8 is replaced. NULL or "" is omitted, as it is the default.
 */
void protobuf_add_text(struct str *message, unsigned field, const char *text);

/* A message in the message: what is added between these two belongs to it. */
size_t protobuf_begin(struct str *message, unsigned field);
void protobuf_end(struct str *message, size_t begin);

/* ---- Reading ---- */

struct protobuf_field {
    unsigned number;
    bool has_bytes;    /* else `value` */
    uint64_t value;    /* of a varint, or the bits of what has a fixed size */
    const char *bytes; /* of a text or a message; in the message that is read */
    size_t length;
};

/* The next field of a message of `length` bytes, at `*position`. False at its end, and where it is
 * damaged: then `*position` is not the end. */
bool protobuf_next(
    const char *message, size_t length, size_t *position, struct protobuf_field *field);
