/*
 * Results so far, kept on disk while tracking runs, so that they survive the tracker's own death.
 */
#ifndef STORE_RESULTS_FILE_H
#define STORE_RESULTS_FILE_H

#include "base/error.h"

#include <gputracker/results.h>

struct results_file;

/*
 * Creates the file: at `path`, or with NULL as a hidden file of a random name in the working directory.
 * On success the caller ends it by results_file_remove() or results_file_close().
 */
int results_file_create(const char *path, struct results_file **file, struct gput_error *error);

/* Replaces what it holds, by one write. A failure is passed over: the next one may succeed. */
void results_file_update(struct results_file *file, const struct gput_results *results);

/* Removes the file and frees `file`: a good end. NULL is fine. */
void results_file_remove(struct results_file *file);

/* Frees `file` and leaves the file on disk. NULL is fine. */
void results_file_close(struct results_file *file);

#endif
