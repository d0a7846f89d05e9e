/*
 * Files that are written next to their target, `TARGET.PID-N.part`, and renamed when they are
 * whole. Each holds a lock while its writer lives: one that is free was left by a writer that was
 * killed, and the next writer of that target removes it.
 */
#ifndef BASE_PART_FILE_H
#define BASE_PART_FILE_H

#include "base/error.h"

struct part_file {
    char *path;
    int lock_fd; /* of the file itself; whoever else opens it may close it before this */
};

/*
 * Makes an empty file next to `target`, with the mode that the umask gives (this may be another
 * program's process, whose umask must not be changed even for a moment), and removes those that
 * were left. `*fd` is open for reading and writing and the caller's. `path` is for messages.
 */
int part_file_create(const char *target, const char *path, struct part_file *part, int *fd,
    struct gput_error *error);

/* Gives it its name. It remains to be closed, also after a failure. */
int part_file_keep(
    struct part_file *part, const char *target, const char *path, struct gput_error *error);

/* Removes it, unless it was given its name, and lets go of the lock. */
void part_file_close(struct part_file *part);

#endif
