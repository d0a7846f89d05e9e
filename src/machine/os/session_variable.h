/*
 * GPUT_SESSION: the one variable that gpu-tracker adds to the environment of a command. It has the
 * ids of the sessions that the command is in, the outermost first: "ID/ID". So a session that is
 * started there knows that its processes are also those of another one.
 *
 * An id is unique, and ends with the process that all processes of the session descend from: its
 * pid, and the inode of its pid namespace.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

#define SESSION_ID_SIZE 48
/* Of more ids, the innermost are kept. */
#define SESSION_IDS_SIZE 256

/* The id of a session whose processes descend from `pid`; `root`: the procfs. */
void session_variable_make_id(const char *root, pid_t pid, char id[SESSION_ID_SIZE]);

/*
 * Of the ids in `value` (NULL: none), those of sessions that have the processes of `pid`, too. A
 * batch system may copy the variable to processes that it starts elsewhere: of a session in the
 * same pid namespace the process must be a descendant.
 */
void session_variable_parse(
    const char *value, const char *root, pid_t pid, char ids[SESSION_IDS_SIZE]);

/*
 * A copy of `environment` in which the variable has `ids`, and then `id`. One block for free(),
 * which has the strings of `environment`; NULL: no memory.
 */
char **session_variable_add(char *const *environment, const char *ids, const char *id);
