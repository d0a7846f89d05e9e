/*
 * The unpackers of gzip and Zstandard, each a vtable. Several may unpack the same format; the first
 * available one is used. Libraries that only make reading faster, or that few files need, are
 * loaded at run time, so that gpu-tracker does not load them to measure.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum unpack_status {
    UNPACK_ON, /* all input is used, or all space is filled */
    UNPACK_MEMBER_ENDED,
    UNPACK_DAMAGED, /* everything before the damage was unpacked */
    UNPACK_NO_MEMORY,
};

/* Input and output of a step; both pointers are advanced. */
struct unpack_step {
    const unsigned char *in;
    size_t in_length;
    unsigned char *out;
    size_t out_length;
};

struct unpacker_class {
    /* Whether a member may begin with these bytes, of which there may be fewer than a whole magic
     * number. */
    bool (*begins)(const unsigned char *bytes, size_t length);
    size_t magic_length; /* number of bytes that identify a file of this format */
    bool is_zero_padded; /* zeroes may follow the last member */
    /* Makes the state. Errors: GPUT_ERROR_UNSUPPORTED with a message, if its library is missing. */
    int (*create)(void **state, struct gput_error *error);
    enum unpack_status (*unpack)(void *state, struct unpack_step *step);
    void (*next_member)(void *state);
    void (*destroy)(void *state);
};

extern const struct unpacker_class unpacker_zlib; /* gzip */
extern const struct unpacker_class unpacker_isal; /* gzip, several times as fast; optional */
extern const struct unpacker_class unpacker_zstd; /* Zstandard; optional */

/* Whether these are the first bytes of a gzip file. */
bool unpacker_begins_gzip(const unsigned char *bytes, size_t length);
