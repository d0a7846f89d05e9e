/*
 * Writing reports to files.
 *
 *     if (gput_file_write("report.txt", "12.3 GB\n", 8, &error) != GPUT_OK)
 *         fprintf(stderr, "%s\n", error.message);
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

#ifdef __cplusplus
}
#endif

#endif
