/*
 * The formats of packed files: gzip and Zstandard, a vtable each. Several may unpack the same
 * format; the first one that is there is used. Libraries that only make reading faster, or that few
 * files need, are loaded at run time: a gpu-tracker that measures loads none of them.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum unpack_status {
    UNPACK_ON, /* all input is used, or all space filled */
    UNPACK_MEMBER_ENDED,
    UNPACK_DAMAGED, /* what stands before the damage was given */
    UNPACK_NO_MEMORY,
};

/* What is unpacked, and where to: both move on. */
struct unpack_step {
    const unsigned char *in;
    size_t in_length;
    unsigned char *out;
    size_t out_length;
};

struct unpacker_class {
    /* Whether a member may begin with these bytes, as far as there are any. */
    bool (*begins)(const unsigned char *bytes, size_t length);
    size_t magic_length; /* a file that begins so, with all of these bytes, is of this format */
    bool is_zero_padded; /* zeroes may follow the last member */
    /* Errors: GPUT_ERROR_UNSUPPORTED: its library is missing, as the message says. */
    int (*create)(void **state, struct gput_error *error);
    enum unpack_status (*unpack)(void *state, struct unpack_step *step);
    void (*next_member)(void *state);
    void (*destroy)(void *state);
};

extern const struct unpacker_class unpacker_zlib; /* gzip */
extern const struct unpacker_class unpacker_isal; /* gzip, several times as fast; optional */
extern const struct unpacker_class unpacker_zstd; /* Zstandard; optional */

/* What gzip files begin with. */
bool unpacker_begins_gzip(const unsigned char *bytes, size_t length);
