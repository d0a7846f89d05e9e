/*
 * Results as bytes: what the file of results so far consists of. They are not the results in
 * memory, so that other versions of gpu-tracker and other machines read them.
 *
 * A file is a pickle, as the older package's is: pickle.load() gives the bytes of its copies to
 * gpu_tracker._usage.load_kept(). It has RESULTS_HEAD, two copies, one every RESULTS_COPY_DISTANCE
 * bytes, and RESULTS_TAIL. Numbers are little-endian. A copy:
 *
 *     at   bytes
 *      0   16     "gpu-tracker res\n"
 *     16    4     form: 2
 *     20    4     bytes of the body
 *     24    4     CRC-32 of all that follows this
 *     28   20     version of gpu-tracker, padded with NULs
 *     48    8     number of the update: of two valid copies the higher one is the later
 *     56          the body
 *
 * The body is a sequence of fields, each with the name of a column of model/results_columns.c:
 *
 *     type  1     'd', 'i', 't' or 'L'
 *     size  1     bytes of the name
 *     name
 *     value       'd': 8 bytes, a double (one that is not known, NaN, is omitted)
 *                 'i': 8 bytes, a count or flag (one that is 0 is omitted)
 *                 't': 2 bytes of length, and the text (one that is empty is omitted); enums by
 *                      their words
 *                 'L': none: the fields that follow are of a new item of the list of that name
 *
 * A reader skips fields that it does not know, and takes what is not there as unknown: columns can
 * be added without a new form. (Form 1 was the struct in memory.)
 */
#pragma once

#include "base/str.h"
#include "model/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULTS_VERSION_SIZE 20
#define RESULTS_COPIES 2
/* Space for a thousand GPUs; what is not used of it takes no space on disk. */
#define RESULTS_COPY_DISTANCE ((size_t)1 << 20)

/* Pickle's opcodes: PROTO 4, GLOBAL, BINBYTES with the size of what follows (two copies); and
 * TUPLE1, REDUCE, STOP. */
#define RESULTS_HEAD                                                                               \
    "\x80\x04"                                                                                     \
    "cgpu_tracker._usage\nload_kept\nB\x00\x00\x20\x00"
#define RESULTS_HEAD_SIZE (sizeof RESULTS_HEAD - 1)
#define RESULTS_TAIL "\x85R."
#define RESULTS_TAIL_SIZE (sizeof RESULTS_TAIL - 1)

/* Whether bytes begin as such a file does, or as its copies do; `*at` is where they begin. */
bool results_is_kept(const char *bytes, size_t length, size_t *at);

/* Replaces `copy` by a copy with that number. */
void results_encode(const struct gput_results *results, uint64_t number, struct str *copy);

struct results_copy {
    const char *bytes;
    size_t length;        /* of these, what follows the copy included */
    uint64_t better_than; /* copies of lower numbers are not wanted */
    /* Set by results_decode(): */
    uint64_t number;
    char version[RESULTS_VERSION_SIZE]; /* terminated */
};

enum results_decoded {
    RESULTS_DECODED,
    RESULTS_DAMAGED, /* or not wanted, or there is no memory */
    RESULTS_OTHER_FORM,
};

/* Decodes a copy to `results`, which are all zero, or decoded before; unless it says so, they stay
 * as they are. Whatever the bytes are, later code can rely on results: indexes are within bounds
 * and texts terminated. */
enum results_decoded results_decode(struct results_copy *copy, struct gput_results *results);
