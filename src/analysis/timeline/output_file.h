/*
 * A file that is written through a buffer. It is compressed if the path ends in ".gz"; "-" is
 * standard output. Output longer than a buffer is compressed and written by a separate thread while
 * the next buffer is filled.
 */
#pragma once

#include "analysis/timeline/gzip_part.h"
#include "base/file.h"

#include <pthread.h>
#include <stdbool.h>

/* What the thread writes at once. */
struct output_piece {
    struct gzip_part part; /* if not packed, its bytes are the text */
    bool is_packed;
};

struct output_file {
    struct str buffer; /* append here, then call output_file_flow() */
    bool packs;        /* it compresses; set when it is opened */

    /* Used by the thread alone while it runs: */
    struct file_writing writing;
    bool has_head;
    struct gzip_part whole; /* what was packed so far, without bytes */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t moved;
    struct output_piece full; /* being written while `is_full` */
    bool is_full;
    bool is_over;
    int code; /* the first error of writing, or GPUT_OK */
    struct gput_error error;
};

/* Whether there is no folder to write next to. */
bool output_file_is_straight(const char *path);

int output_file_open(const char *path, struct output_file *file, struct gput_error *error);

/* Writes the buffer once it is full enough. To be called after appending. A failed write is
 * reported by a later call. */
int output_file_flow(struct output_file *file, struct gput_error *error);

/* Adds a text, which is empty afterwards and may have another buffer, and does the same. */
int output_file_add(struct output_file *file, struct str *text, struct gput_error *error);

/* Adds what was packed elsewhere to a file that packs; `part` may have another buffer afterwards.
 */
int output_file_add_part(
    struct output_file *file, struct gzip_part *part, struct gput_error *error);

/* Writes the rest and renames the file to its path. Closes it in any case. */
int output_file_commit(struct output_file *file, struct gput_error *error);

/* Closes it and removes the temporary file. Does nothing after a commit. */
void output_file_discard(struct output_file *file);
