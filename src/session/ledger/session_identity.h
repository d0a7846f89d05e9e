/*
 * Who a session is: its machine, its command, its part of a job. What launchers say is in the
 * environment of the command, or, where the command is a launcher itself, in that of its
 * descendants.
 */
#pragma once

#include "machine/os/launcher.h"
#include "machine/os/mountinfo.h"
#include "machine/process/process_log.h"
#include "model/results.h"
#include "session/ledger/session_settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define IDENTITY_MAX_RANKS 1024

struct session_identity {
    struct gput_identity known;

    /* The innermost launcher so far. */
    int depth;
    long ranks[IDENTITY_MAX_RANKS]; /* each once, ascending */
    size_t n_ranks;
    bool has_run;            /* one was seen; `known` has none where there are several */
    bool are_of_descendants; /* ranks that lived between two scans may be missing */

    unsigned unsuccessful; /* readings that found no launcher */
};

/* Nothing is known. */
void session_identity_init(struct session_identity *identity);

/* At the start of tracking. `pid` 0: the machine alone; `argv` NULL: the process runs already;
 * `container`: in which it runs. */
void session_identity_begin(struct session_identity *identity,
    const struct session_settings *settings, const struct container *container, pid_t pid,
    char *const argv[]);

/* Adds what the environment of main or of a descendant says: a launcher nested inside another one
 * replaces what is known. */
void session_identity_add(
    struct session_identity *identity, launcher_variable *variable, void *user, bool is_descendant);

/* Reads the environments of descendants, each once for a program that it runs (exec generation). */
void session_identity_read_processes(struct session_identity *identity, const char *procfs_root,
    const struct process_log *log, int64_t now_ns);

/* Notes the time of the first sample, since the epoch: that of the first row of the tracking file.
 * Later ones change nothing. */
void session_identity_add_sample(struct session_identity *identity, int64_t time_ns);

/* Call it at the end. `status`: as of wait(2); neither exited nor killed: unknown. */
void session_identity_end(struct session_identity *identity, int status);

/* Writes ascending numbers as ranges: "0-3,8". */
void session_identity_format_ranks(const long *ranks, size_t count, char *text, size_t size);
