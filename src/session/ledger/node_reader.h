/*
 * Which of the trackers of a job reads what is the machine's: system RAM and CPU, energy of the
 * CPU, GPUs that the command does not see. Of the ranks on one machine one does, and another when
 * it has ended; a tracker that is not a rank reads all for itself.
 */
#pragma once

#include "machine/os/launcher.h"
#include "machine/os/node_lock.h"

#include <stdbool.h>
#include <stdint.h>

struct node_reader {
    struct node_lock lock;
    bool is_shared;   /* there may be other trackers: the lock decides which one reads */
    bool reads;       /* this tracker does */
    int64_t since_ns; /* from when on it does (monotonic clock) */
    int64_t tried_ns; /* when that was last decided */
    int64_t held_ns;  /* when another one was last known to read */
    char self[64];    /* "rank 3, process 4711" */
};

/* Without other trackers: it reads everything. */
void node_reader_init(struct node_reader *reader);

/* As one of the ranks that `launcher` has started on this machine, the calling process at
 * `now_ns`. `variable` gives the environment that the launcher was read from. */
void node_reader_join(struct node_reader *reader, const struct launcher *launcher,
    launcher_variable *variable, void *user, int64_t now_ns);

/* Decides again which tracker reads, once a second at most. */
void node_reader_update(struct node_reader *reader, int64_t now_ns);

/* Returns how long it has read during a session that began at `start_ns`. NaN: there is no other
 * tracker. */
double node_reader_seconds(const struct node_reader *reader, int64_t start_ns, int64_t now_ns);

/* Why a figure of the machine is missing, or has a gap; "" where neither is the case. */
void node_reader_explain(
    const struct node_reader *reader, int64_t start_ns, char *text, unsigned long size);

/* Lets another one read; what is known of the session stays. */
void node_reader_finish(struct node_reader *reader);
