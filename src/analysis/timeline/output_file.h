/*
 * A file that is written through a buffer. It is compressed if the path ends in ".gz"; "-" is
 * standard output. Output longer than a buffer is compressed and written by a separate thread while
 * the next buffer is filled.
 */
#pragma once

#include "base/error.h"
#include "base/file.h"
#include "base/str.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gzip_part {
    struct str bytes;
    uint64_t length; /* length of the uncompressed text */
    uint32_t check;  /* CRC-32 of the uncompressed text */
};

#define GZIP_HEAD_BYTES 10
#define GZIP_END_BYTES 10

/* A part of the output, written in one go. */
struct output_piece {
    struct gzip_part part; /* if not compressed, `bytes` is the text */
    bool is_packed;
};

struct output_file {
    struct str buffer; /* append here, then call output_file_flow() */
    bool packs;        /* the file is compressed; set by output_file_open() */

    /* Used only by the thread while it runs: */
    struct file_writing writing;
    bool has_head;
    struct gzip_part whole; /* length and check of all parts so far, without bytes */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t moved;
    struct output_piece full; /* the piece being written, while `is_full` */
    bool is_full;
    bool is_over;
    int code; /* result of the first failed write, or GPUT_OK */
    struct gput_error error;
};

/* Whether the path is written directly, so that it has no folder for temporary files. */
bool output_file_is_straight(const char *path);

int output_file_open(const char *path, struct output_file *file, struct gput_error *error);

/* Hands the buffer over for writing once it is full enough. Call it after appending. A failed write
 * is reported by a later call. */
int output_file_flow(struct output_file *file, struct gput_error *error);

/* Adds a text like output_file_flow(). The text is empty afterwards, and may have another
 * buffer. */
int output_file_add(struct output_file *file, struct str *text, struct gput_error *error);

/* Adds a compressed part to a file that is compressed; `part` may have another buffer
 * afterwards. */
int output_file_add_part(
    struct output_file *file, struct gzip_part *part, struct gput_error *error);

/* Writes the rest and renames the file to its path. Closes it in any case. */
int output_file_commit(struct output_file *file, struct gput_error *error);

/* Closes it and removes the temporary file. Does nothing after a commit. */
void output_file_discard(struct output_file *file);

/* Replaces the part by a compressed text. It uses the fastest level, as compression takes longer
 * than everything else even then. Errors: GPUT_ERROR_MEMORY. */
int gzip_part_pack(const struct str *text, struct gzip_part *part, struct gput_error *error);

void gzip_part_finish(struct gzip_part *part);
