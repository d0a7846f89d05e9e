/*
 * Files that are written in a folder of this machine first, and moved to their places at the end:
 * for places on file systems that are slow, far away or full. Each has a folder of its own there,
 * so that what belongs to it, by its name, moves with it.
 *
 * While they are there, a file PLACE.spooled says where: it remains when gpu-tracker is killed.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>

struct spool {
    char *folder; /* owned; NULL: nothing is spooled */
    char *note;   /* PLACE.spooled of the first file that could have one; owned */
};

/* Makes a folder in `root`. All zeroes: nothing is spooled. To be ended by spool_finish(). Errors:
 * GPUT_ERROR_STATE (it is full), GPUT_ERROR_IO, GPUT_ERROR_MEMORY. */
int spool_begin(struct spool *spool, const char *root, struct gput_error *error);

/* The path, in the folder, of the file or folder of that number whose place is `place`. NULL:
 * results so far, which are not moved. `*local` is the caller's. Errors: GPUT_ERROR_MEMORY. */
int spool_place(
    struct spool *spool, size_t number, const char *place, char **local, struct gput_error *error);

/*
 * Moves it, with what belongs to it by its name, to its place, where a file is replaced; NULL:
 * removes it. `warn` gets a line for each that could not be moved, with where it stays. Returns
 * false if there was one.
 */
bool spool_move(
    const char *local, const char *place, void (*warn)(void *user, const char *text), void *user);

/* When all are at their places. */
void spool_remove_note(struct spool *spool);

/* Removes the folder where it is empty. */
void spool_finish(struct spool *spool);
