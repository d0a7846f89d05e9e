/*
 * The folder of a history, and the names of what is in it:
 *
 *     history.on            sessions are kept
 *     history.HOST.sqlite   rows of this machine, in a table `sessions`
 *     history.HOST.rows/    rows that wait for it, a file each: where the database was locked, is
 *                           damaged, or is on a network file system, or SQLite is missing
 *
 * All of it is the user's alone (modes 0700 and 0600).
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

struct history_folder {
    const char *path; /* not owned */
    char *database;   /* paths; owned */
    char *rows;
    char *mark;      /* history.on */
    bool is_network; /* on a file system whose locks other machines take part in */
};

/* Finds the names of this machine's files in a folder, which need not be there; `path` must stay.
 * To be freed by history_folder_finish(), also after a failure. Errors: GPUT_ERROR_MEMORY. */
int history_folder_init(struct history_folder *folder, const char *path, struct gput_error *error);
void history_folder_finish(struct history_folder *folder);

/* Makes a folder, with those above it, of mode 0700. Errors: those of the system. */
int history_folder_make(const char *path, struct gput_error *error);

/* Writes a small file of mode 0600 as a whole, or not at all; does not wait for the disk. Errors:
 * those of the system. */
int history_folder_write(
    const char *path, const char *bytes, size_t length, struct gput_error *error);
