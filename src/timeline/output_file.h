/*
 * A file written piece by piece that appears under its name only when it is whole: until then it
 * has no name, or is a temporary file beside it where the file system knows no nameless files. What
 * is no regular file (a pipe, /dev/stdout) is written straight.
 */
#ifndef TIMELINE_OUTPUT_FILE_H
#define TIMELINE_OUTPUT_FILE_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

struct output_file {
    struct str buffer; /* append here; output_file_flow() moves it on */
    char *path;        /* or what messages call the standard output */
    char *temporary;   /* NULL: written straight */
    bool nameless;     /* the temporary name is not taken yet */
    int fd;
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
