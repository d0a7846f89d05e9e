/*
 * /proc/PID/environ: the variables that a process had when its program was started.
 */
#pragma once

#include "base/bounded_calls.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
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

/*
 * GPUT_SESSION: the one variable that gpu-tracker adds to the environment of a command. It has the
 * ids of the sessions that the command is in, the outermost first: "ID/ID". So a session that is
 * started there knows that its processes are also those of another one.
 *
 * An id is unique, and ends with the process that all processes of the session descend from: its
 * pid, and the inode of its pid namespace.
 */
#define SESSION_ID_SIZE 48
/* If there are more ids, the innermost are kept. */
#define SESSION_IDS_SIZE 256

/* The id of a session whose processes descend from `pid`; `root`: the procfs. */
void session_variable_make_id(const char *root, pid_t pid, char id[SESSION_ID_SIZE]);

/*
 * Keeps those ids in `value` (NULL: none) whose sessions include the processes of `pid`. A batch
 * system may copy the variable to processes that it starts elsewhere, so for a session in the
 * same pid namespace the process must be a descendant.
 */
void session_variable_parse(
    const char *value, const char *root, pid_t pid, char ids[SESSION_IDS_SIZE]);

/*
 * A copy of `environment` in which the variable has `ids`, and then `id`. One block for free(),
 * which has the strings of `environment`; NULL: no memory.
 */
char **session_variable_add(char *const *environment, const char *ids, const char *id);
