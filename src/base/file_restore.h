/*
 * Files that somebody else removes or moves while they are being written, as 'make clean' does: the
 * open file still has its content, and gets a name again.
 */
#pragma once

#include "base/error.h"

enum file_fate {
    FILE_IN_PLACE, /* or nothing is known of it */
    FILE_MOVED,
    FILE_REMOVED,
    FILE_EMPTIED, /* or overwritten; only who writes it can tell */
};

/* Finds out what happened to the file that is open as `fd` and was made at `path`. `*now` is the
 * path to which it was moved, owned by the caller; else it is unchanged. */
enum file_fate file_fate(int fd, const char *path, char **now);

/*
 * A name for a new file in the place of a removed one: `path`, or "x.1.csv" where there is another
 * file now. Missing folders are made. `*name` is the caller's. Errors: GPUT_ERROR_MEMORY, those of
 * making folders.
 */
int file_restore_name(const char *path, char **name, struct gput_error *error);

/*
 * Copies what a removed file has to a new one, which is open for appending then as `*fd`, in place
 * of the removed one. `*path` becomes its name. Errors: GPUT_ERROR_MEMORY, those of the system.
 */
int file_restore(int *fd, char **path, struct gput_error *error);

/* Says that a removed file was written again, as an error for a warning: GPUT_ERROR_GONE. */
int file_restore_say(const char *path, const char *now, struct gput_error *error);
