/*
 * What a path for output means. Links are followed as the kernel does with
 * fs.protected_symlinks=1, whatever that is here: in a sticky folder that everybody can write to
 * (/tmp), the last part of a path may be a link only if it is ours or of the folder's owner.
 * Another's would let us write to where only we may.
 */
#ifndef BASE_FILE_TARGET_H
#define BASE_FILE_TARGET_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The file that is meant by `path`: where its links lead, whether it is there or not. On success
 * `*target` is to be freed. Errors: GPUT_ERROR_PERMISSION (a link that is not followed), and what
 * the system says.
 */
int file_target(const char *path, char **target, struct gput_error *error);

/*
 * Whether what is at `path` has to be written straight: a pipe, a terminal, and /dev/stdout also
 * where it leads to a regular file, since the link there is the system's. To be opened with
 * O_APPEND. All else, as what is not there, can be written next to its target and renamed. False
 * also where file_target() refuses.
 */
bool file_is_straight(const char *path);

/*
 * open() of what is meant by `path`, to write to it. A link that takes its place meanwhile is not
 * followed. The caller closes `*fd`; on failure errno is open()'s. Errors: those of file_target(),
 * GPUT_ERROR_EXISTS (O_EXCL) and what the system says.
 */
int file_target_open(const char *path, int flags, mode_t mode, int *fd, struct gput_error *error);

#endif
