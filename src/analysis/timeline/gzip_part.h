/*
 * Compresses a gzip file in parts, each possibly in a thread of its own. A header, the parts one
 * after the other and a trailer form an ordinary file with one member.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>

struct gzip_part {
    struct str bytes;
    uint64_t length; /* length of the uncompressed text */
    uint32_t check;  /* CRC-32 of the uncompressed text */
};

/* Replaces the part by a compressed text. It uses the fastest level, as compression takes longer
 * than everything else even then. Errors: GPUT_ERROR_MEMORY. */
int gzip_part_pack(const struct str *text, struct gzip_part *part, struct gput_error *error);

void gzip_part_finish(struct gzip_part *part);

/* Adds a part to the length and the check of `whole`, which are zero at first. */
void gzip_part_count(struct gzip_part *whole, const struct gzip_part *part);

#define GZIP_HEAD_BYTES 10
#define GZIP_END_BYTES 10

extern const unsigned char gzip_head[GZIP_HEAD_BYTES];

/* Makes the trailer of a file with all parts that were counted. */
void gzip_end(const struct gzip_part *whole, unsigned char end[GZIP_END_BYTES]);
