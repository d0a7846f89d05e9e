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

enum { SPOOL_FILES = 8 };

struct spool {
    char *folder; /* owned; NULL: nothing is spooled */
    char *note;   /* PLACE.spooled of the first file that could have one; owned */
    size_t count;
    char *local[SPOOL_FILES]; /* owned */
    char *place[SPOOL_FILES]; /* owned */
};

/* Makes a folder in `root`. All zeroes: nothing is spooled. To be ended by spool_finish(). Errors:
 * GPUT_ERROR_STATE (it is full), GPUT_ERROR_IO, GPUT_ERROR_MEMORY. */
int spool_begin(struct spool *spool, const char *root, struct gput_error *error);

/* Replaces a path by one in the folder; "-" and names in /dev stay. NULL: a place for results so
 * far, which are not moved. The text belongs to the spool. Errors: those above. */
int spool_add(struct spool *spool, const char **path, struct gput_error *error);

/*
 * Moves every file to its place, which is replaced. `warn` gets a line for each that could not be
 * moved, with where it stays. Returns false if there was one.
 */
bool spool_deliver(struct spool *spool, void (*warn)(void *user, const char *text), void *user);

/* Removes the folder where it is empty. */
void spool_finish(struct spool *spool);
