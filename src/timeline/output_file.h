/*
 * A file_writing that gathers what is written, packs it for a path that ends in ".gz", and knows
 * "-" as the standard output.
 */
#ifndef TIMELINE_OUTPUT_FILE_H
#define TIMELINE_OUTPUT_FILE_H

#include "base/file.h"

struct output_file {
    struct str buffer; /* append here; output_file_flow() moves it on */
    struct file_writing writing;
    struct gzFile_s *packed; /* NULL: written as it is */
};

/* Whether there is no folder to write beside. */
bool output_file_is_straight(const char *path);

int output_file_open(const char *path, struct output_file *file, struct gput_error *error);

/* Writes the buffer out once it holds enough. Call it after each append or so. */
int output_file_flow(struct output_file *file, struct gput_error *error);

/* Writes the rest and gives the file its name. The file is closed in any case. */
int output_file_commit(struct output_file *file, struct gput_error *error);

/* Closes it and leaves nothing behind. Nothing to do after a commit. */
void output_file_discard(struct output_file *file);

#endif
