/*
 * /proc/PID/environ: the variables that a process had when its program was started.
 */
#pragma once

#include "base/bounded_calls.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <sys/types.h>

/* Variables one after the other, each with a NUL at its end. All zeroes: none. */
struct environment {
    struct str text;
};

/* Replaces it by that of a process. Errors: those of procfs_read_bounded(); GPUT_ERROR_MEMORY. */
int environment_read(struct bounded_calls *calls, const char *root, pid_t pid,
    struct environment *environment, struct gput_error *error);

void environment_finish(struct environment *environment);

/* The value of a variable, valid as long as it is not read again; NULL: it is not set.
 * `environment` is a struct environment. */
const char *environment_variable(void *environment, const char *name);

/* The same of the calling process, as it is now; the first argument is not used. */
const char *environment_own_variable(void *nothing, const char *name);

/*
 * Where the system gave this program rights that its user lacks (AT_SECURE), the dynamic loader has
 * removed LD_LIBRARY_PATH, LD_PRELOAD, TMPDIR and the like from its environment, so that its
 * children lack them, too.
 */
bool environment_was_cut(void);

/* Our own variables for a child, with those that were removed; the caller frees the list alone.
 * NULL: memory ran out. */
char **environment_with_removed(void);
