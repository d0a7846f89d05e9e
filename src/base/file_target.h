/*
 * Resolves paths for output. Links are followed as the kernel does with fs.protected_symlinks=1,
 * whatever its setting: in a sticky world-writable folder (/tmp), the last part of a path may be a
 * link only if it belongs to us or the folder's owner. Another user's link could make us overwrite
 * our own files.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The file to which `path` resolves, whether it exists or not. On success the caller frees
 * `*target`. Errors: GPUT_ERROR_PERMISSION (a link that is not followed), and those of the system.
 */
int file_target(const char *path, char **target, struct gput_error *error);

/* The folder of a path; the caller frees it. NULL without memory. */
char *file_target_folder(const char *path);

/*
 * Whether `path` has to be written directly, opened with O_APPEND: a pipe, a terminal, and
 * /dev/stdout also when it is a regular file, since its link is a magic link. All else, also a
 * missing file, can be written to a temporary path and renamed. False also where file_target()
 * refuses.
 */
bool file_is_written_directly(const char *path);

/*
 * Opens the file to which `path` resolves, for writing. A link that replaces it meanwhile is not
 * followed. The caller closes `*fd`; on failure errno is open()'s. Errors: those of file_target(),
 * GPUT_ERROR_EXISTS (O_EXCL) and those of the system.
 */
int file_target_open(const char *path, int flags, mode_t mode, int *fd, struct gput_error *error);
