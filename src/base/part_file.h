/*
 * Files that are written in the folder of their target as `TARGET.PID-N.part`, and renamed when
 * they are complete. Each is locked while its writer lives: an unlocked one was left by a killed
 * writer, and the next writer of that target removes it.
 */
#pragma once

#include "base/error.h"

struct part_file {
    char *path;
    int lock_fd; /* of the file itself */
};

/*
 * Creates an empty file in the folder of `target`, with the mode that the umask gives, and removes
 * leftover files. The umask is not changed, even for a moment: the process may be another
 * program's.
 * `*fd` is open for reading and writing; the caller closes it. `path` is for
 * messages.
 */
int part_file_create(const char *target, const char *path, struct part_file *part, int *fd,
    struct gput_error *error);

/* Renames it to its target. It is still to be closed, also after a failure. */
int part_file_keep(
    struct part_file *part, const char *target, const char *path, struct gput_error *error);

/* Removes it, unless it was renamed, and releases the lock. */
void part_file_close(struct part_file *part);
