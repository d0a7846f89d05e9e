/*
 * Limits on what is tracked: warns of those that are exceeded, and ends the processes where limits
 * are enforced.
 */
#pragma once

#include "machine/os/own_cgroup.h"
#include "machine/process/process_tree.h"
#include "session/ledger/ledger.h"
#include "session/ledger/session_settings.h"
#include "session/sampler/snapshot.h"

#include <gputracker/limits.h>

#include <stdbool.h>
#include <stdint.h>

struct limits {
    /* Borrowed. */
    const struct session_settings *settings;
    const struct ledger *ledger;
    struct process_tree *tree; /* of the last scan, to be ended */
    struct own_cgroup *cgroup; /* the same */
    void (*scan)(void *user);  /* scans the tree again */
    void *user;                /* its argument */

    unsigned is_passed;                                     /* a bit for each kind */
    struct gput_limit_passed passed[GPUT_LIMIT_KIND_COUNT]; /* in order */
    uint32_t n_passed;
    int64_t gpu_ram_unknown_ns; /* from when on no driver reported all of it; 0: one does */
    bool warned_of_gpu_ram;     /* a warning said that it cannot be watched */
    int64_t terminated_ns;      /* when SIGTERM was sent for a limit; 0: it was not */
    bool gave_up_ending;        /* even SIGKILL did not end the whole tree */
};

/* At the start: warns of limits that cannot be checked. */
void limits_begin(struct limits *limits);

/* After a tick: warns of exceeded limits, or ends the tree. */
void limits_check(struct limits *limits);

/* Kills the whole tree at once, for another reason than a limit. Returns how many processes were
 * alive as of the last scan. */
size_t limits_kill_tree(struct limits *limits);

/* At the end: warns where what is tracked may hold GPU RAM that no driver reports, so that its
 * limit can be exceeded unseen. */
void limits_end(struct limits *limits);

/* The latest time of the next tick that a limit needs (monotonic clock); INT64_MAX: none. */
int64_t limits_due_ns(const struct limits *limits);

/* Sets those that were exceeded. */
void limits_fill(const struct limits *limits, struct gput_results *results);

/* True where even SIGKILL did not end the whole tree; a warning was given. */
bool limits_gave_up(const struct limits *limits);

/* Whether the tree is being ended for a limit and some of it is alive, as of a scan after
 * `since_ns`. False once nothing more can be done, which is warned of. */
bool limits_are_ending_tree(struct limits *limits, int64_t since_ns);
