/*
 * Parts of a file that is packed by gzip. Each can be packed by a thread of its own: a head, parts
 * one after the other and an end are one ordinary file, of one member.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>

struct gzip_part {
    struct str bytes;
    uint64_t length; /* of the text that is packed in them */
    uint32_t check;  /* of it: CRC-32 */
};

/* Replaces the part. At the quickest level: packing takes longer than all else even so. Errors:
 * GPUT_ERROR_MEMORY. */
int gzip_part_pack(const struct str *text, struct gzip_part *part, struct gput_error *error);

void gzip_part_finish(struct gzip_part *part);

/* Counts another part: `whole` has the length and the check of all so far, zeroes at first. */
void gzip_part_count(struct gzip_part *whole, const struct gzip_part *part);

#define GZIP_HEAD_BYTES 10
#define GZIP_END_BYTES 10

extern const unsigned char gzip_head[GZIP_HEAD_BYTES];

/* The end of a file of all that was counted. */
void gzip_end(const struct gzip_part *whole, unsigned char end[GZIP_END_BYTES]);
