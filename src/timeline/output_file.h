/*
 * A file_writing that gathers what is written, packs it for a path that ends in ".gz", and knows
 * "-" as the standard output. Of more than a buffer, one is packed and written by a thread of its
 * own while the next is filled.
 */
#ifndef TIMELINE_OUTPUT_FILE_H
#define TIMELINE_OUTPUT_FILE_H

#include "base/file.h"

#include <pthread.h>
#include <stdbool.h>

struct output_file {
    struct str buffer; /* append here; output_file_flow() moves it on */

    /* The thread's from its start to its end: */
    struct file_writing writing;
    struct gzFile_s *packed; /* NULL: written as it is */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t moved;
    struct str full; /* being written while `is_full` */
    bool is_full;
    bool is_over;
    int code; /* how writing went so far */
    struct gput_error error;
};

/* Whether there is no folder to write next to. */
bool output_file_is_straight(const char *path);

int output_file_open(const char *path, struct output_file *file, struct gput_error *error);

/* Has the buffer written once it holds enough. Call it after each append or so. What could not be
 * written is told by one of the next calls. */
int output_file_flow(struct output_file *file, struct gput_error *error);

/* Writes the rest and gives the file its name. The file is closed in any case. */
int output_file_commit(struct output_file *file, struct gput_error *error);

/* Closes it and leaves nothing after. Nothing to do after a commit. */
void output_file_discard(struct output_file *file);

#endif
