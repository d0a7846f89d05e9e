/*
 * The note of a file that is written somewhere else first (run --spool): it lies at the place of
 * that file, and stays there if the tracker is killed.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* "samples.csv.spooled" */
#define SPOOL_NOTE_EXTENSION ".spooled"

struct spool_note {
    char host[HOST_NAME_MAX + 1];
    char folder[PATH_MAX]; /* on that host; it has the files of the session */
};

/* False: there is none, or it is not complete. */
bool spool_note_read(const char *path, struct spool_note *note);

/* The note of a file that is empty, since it is spooled or its tracker was killed. False: it is not
 * empty, or has no note. */
bool spool_note_of(const char *path, struct spool_note *note);

/* Where the file is on this machine; false: not here, or not any more. */
bool spool_note_find(const struct spool_note *note, const char *path, char found[PATH_MAX]);

bool spool_note_is_of_this_host(const struct spool_note *note);
