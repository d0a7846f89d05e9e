/*
 * Byte strings of any length in bounded memory: each keeps its last block, and full blocks go to a
 * spool, an unnamed temporary file that many byte strings share.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At this length a block goes to the spool. */
#define REPORT_BLOCK_BYTES ((size_t)64 << 10)

struct report_spool {
    const char *folder; /* of the file; not owned */
    int fd;             /* -1 until a block comes */
    uint64_t length;
};

struct report_bytes {
    struct report_spool *spool; /* not owned */
    unsigned char *block;       /* the bytes that are not in the spool; owned */
    size_t used, capacity;
    uint64_t *places; /* of its blocks in the spool, in order; owned */
    size_t place_count;
    uint64_t length; /* of all */
};

/* Bytes in order: what report_bytes_pass() calls. Anything but GPUT_OK ends it. */
typedef int report_receiver(void *user, const void *bytes, size_t length, struct gput_error *error);

/* `folder` must outlive the spool. */
void report_spool_init(struct report_spool *spool, const char *folder);
void report_spool_finish(struct report_spool *spool);

/* `spool` must outlive the bytes. */
void report_bytes_init(struct report_bytes *bytes, struct report_spool *spool);
void report_bytes_finish(struct report_bytes *bytes);

/* Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO (the temporary file). */
int report_bytes_add(
    struct report_bytes *bytes, const void *more, size_t length, struct gput_error *error);
int report_bytes_add_zeros(struct report_bytes *bytes, uint64_t count, struct gput_error *error);

/* Whether both are the same bytes of one spool. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_bytes_compare(const struct report_bytes *a, const struct report_bytes *b, bool *same,
    struct gput_error *error);

/* Passes all bytes to the receiver, a block at a time. Errors: GPUT_ERROR_IO, and those of the
 * receiver. */
int report_bytes_pass(const struct report_bytes *bytes, report_receiver *receive, void *user,
    struct gput_error *error);
