/*
 * Writing reports to files.
 *
 *     struct gput_file *file;
 *     if (gput_file_open("report.txt", &file, &error) == GPUT_OK) {
 *         if (gput_file_add(file, "one part\n", 9, &error) == GPUT_OK)
 *             gput_file_close(file, &error);
 *         else
 *             gput_file_discard(file);
 *     }
 */
#ifndef GPUTRACKER_FILE_H
#define GPUTRACKER_FILE_H

#include <gputracker/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a file atomically: `path` has either its old content or all of the new. A link stays, and
 * its target is written; in a sticky world-writable folder (/tmp) a link is only followed when it
 * belongs to the caller or the folder's owner. Files that are not regular (a pipe), and
 * /dev/stdout, are written directly.
 *
 * Errors, which name the file: GPUT_ERROR_IO, GPUT_ERROR_PERMISSION, GPUT_ERROR_NOT_FOUND (the
 * folder), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_file_write(
    const char *path, const void *bytes, size_t length, struct gput_error *error);

/** The same, cancellable by `stop_fd` (a signalfd, an eventfd …; -1: none): waiting for the reader
 * of a pipe ends when it is readable. Errors: also GPUT_ERROR_IO when cancelled. */
GPUT_API int gput_file_write_until(
    const char *path, const void *bytes, size_t length, int stop_fd, struct gput_error *error);

/**
 * Whether gput_file_write() could write there, as far as can be known beforehand: to be called
 * before hours of work. Errors, which name the file: GPUT_ERROR_NOT_FOUND (the folder),
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID (it is a folder), GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_file_check(const char *path, struct gput_error *error);

struct gput_file; /**< a file that is written in parts */

/** The same in parts: the file gets its name in gput_file_close(), when all is written. */
GPUT_API int gput_file_open(const char *path, struct gput_file **file, struct gput_error *error);
GPUT_API int gput_file_add(
    struct gput_file *file, const void *bytes, size_t length, struct gput_error *error);
/** Completes the file and frees `file`, also on failure. */
GPUT_API int gput_file_close(struct gput_file *file, struct gput_error *error);
/** Removes what was written and frees `file`. NULL is fine. */
GPUT_API void gput_file_discard(struct gput_file *file);

#ifdef __cplusplus
}
#endif

#endif
