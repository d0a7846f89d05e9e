/*
 * Writing reports to files.
 */
#ifndef GPUTRACKER_FILE_H
#define GPUTRACKER_FILE_H

#include <gputracker/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a file so that `path` holds either its old content or all of the new, whatever happens on
 * the way. Of a link, what it leads to is written, and the link stays; but in a sticky folder that
 * everybody can write to (/tmp) a link is only followed where it is ours or of the folder's owner.
 * What is no regular file (a pipe), and /dev/stdout wherever it leads, is written straight.
 *
 * Errors, which name the file: GPUT_ERROR_IO, GPUT_ERROR_PERMISSION, GPUT_ERROR_NOT_FOUND (the
 * folder), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_file_write(
    const char *path, const void *bytes, size_t length, struct gput_error *error);

/**
 * The same, where somebody may have to read what is written: of a pipe that nobody opens or reads
 * on, waiting ends when `stop_fd` (a signalfd, an eventfd …) can be read. -1: it waits for ever.
 * Errors besides: GPUT_ERROR_IO when it did not wait any longer.
 */
GPUT_API int gput_file_write_until(
    const char *path, const void *bytes, size_t length, int stop_fd, struct gput_error *error);

/**
 * Whether gput_file_write() could write there, as far as can be known without trying: to be asked
 * before hours of work. Errors, which name the file: GPUT_ERROR_NOT_FOUND (the folder),
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID (it is a folder), GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_file_check(const char *path, struct gput_error *error);

struct gput_file; /**< a file that is written piece by piece */

/** The same piece by piece: the file takes its name in gput_file_end(), when all is written. */
GPUT_API int gput_file_begin(const char *path, struct gput_file **file, struct gput_error *error);
GPUT_API int gput_file_add(
    struct gput_file *file, const void *bytes, size_t length, struct gput_error *error);
/** Closes and frees it, also on failure. */
GPUT_API int gput_file_end(struct gput_file *file, struct gput_error *error);
/** Closes and frees it, and leaves nothing after. NULL is fine. */
GPUT_API void gput_file_discard(struct gput_file *file);

#ifdef __cplusplus
}
#endif

#endif
