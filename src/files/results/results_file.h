/*
 * The results so far, written during tracking, so that they survive the tracker's own death:
 * gput_results_load() reads them.
 *
 * The file has two copies, each with a header and a checksum. Updates alternate between them, so
 * that one is valid at any moment, also when the tracker dies during a write. Python's
 * pickle.load() reads it, too (results_codec.h).
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include "model/results.h"

struct results_file;

/*
 * Creates the file at `path`, which is only replaced when it is one of ours. NULL stands for a
 * hidden file of a random name, `.gpu-tracker_<uuid>.pkl`, in the current working directory,
 * and what ends in '/' for one in that folder; the first update creates it, and if that fails,
 * tracking goes on without.
 *
 * On success the caller ends it by results_file_remove() or results_file_close().
 * Errors: GPUT_ERROR_EXISTS (another kind of file), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION,
 * GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int results_file_create(const char *path, struct results_file **file, struct gput_error *error);

/* Its absolute path, which stays valid when the program changes its directory. */
const char *results_file_path(const struct results_file *file);

/* Writes a copy of the results (results_codec.h), each with a higher number than the last, by one
 * write. A failure is ignored: the next one may succeed. NULL is fine. */
void results_file_write(struct results_file *file, const struct str *copy);

/* Removes the file and frees `file`, after a regular end. NULL is fine. */
void results_file_remove(struct results_file *file);

/* Frees `file` and leaves the file on disk. NULL is fine. */
void results_file_close(struct results_file *file);

/* The newest results in the content of such a file. `path` is used in messages. Errors:
 * GPUT_ERROR_FORMAT when the file is not one of ours, or damaged. */
int results_file_parse(const char *path, const struct str *content, struct gput_results *results,
    struct gput_error *error);
