/*
 * The members of a rank (gputracker/rank.h), and what the library knows of names besides.
 */
#pragma once

#include "machine/os/environment.h"
#include "machine/os/launcher.h"

#include <gputracker/rank.h>
#include <limits.h>
#include <sys/types.h>

struct gput_rank {
    struct launcher launcher; /* its texts are the environment's, and may be gone */
    char *id;                 /* with the element of an array; NULL: there is none; owned */
    char *element;            /* of an array, of GNU parallel's jobs, or both; NULL; owned */
    char host[HOST_NAME_MAX + 1];
    char time[32];
    pid_t pid;
    const char *const *environment; /* NULL: the process' own */
    struct environment read;        /* that of another process, in its place; else empty */
};

/*
 * As gput_rank_path(), also with the rank where a name has the process id: which rank a process is
 * of is not known from its id. `*path` is the caller's. Errors: those of gput_rank_path().
 */
int rank_path_of_marks(
    const struct gput_rank *rank, const char *name, char **path, struct gput_error *error);

/* A pattern of glob(3) for all files that processes make of a name, with their placeholders, ranks
 * and numbers. The caller frees it; NULL: no memory. */
char *rank_path_glob(const char *name);
