/*
 * A folder for temporary files that does not outlive this process, however it ends: SQLite needs
 * names for its files, so they cannot be unnamed.
 */
#pragma once

#include <gputracker/error.h>

struct temporary_folder {
    char *path;   /* NULL: there is none; owned */
    int alive_fd; /* the end of a pipe that closes with this process; -1: none */
};

/*
 * Makes a folder in `root` (NULL: /tmp), and a process that removes it when this one has ended
 * without temporary_folder_remove(), as by SIGKILL. `purpose` is for the message: "samples for
 * --report". To be called before there are threads. Errors: GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int temporary_folder_make(struct temporary_folder *folder, const char *root, const char *purpose,
    struct gput_error *error);

/* Removes it with its files; folders in it stay. All zeroes are fine. */
void temporary_folder_remove(struct temporary_folder *folder);
