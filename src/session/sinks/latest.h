/*
 * The latest results and the latest snapshot, passed from the sampling thread to any other. Neither
 * waits for the other: while one of them is being taken, the sampling thread skips it and publishes
 * the next.
 */
#pragma once

#include "model/results.h"

#include <gputracker/snapshot.h>

#include <pthread.h>
#include <stdint.h>

struct latest {
    pthread_mutex_t lock;         /* held only while copying */
    uint64_t number;              /* of the results; 0: none yet */
    struct gput_results *results; /* owned; NULL: none yet */
    struct gput_results *next;    /* owned; the sampling thread's: results that it makes; or NULL */
    struct gput_snapshot *snapshot; /* NULL: none yet */
};

void latest_init(struct latest *latest);
void latest_finish(struct latest *latest);

/* What the sampling thread makes its next results in; NULL without memory. */
struct gput_results *latest_next_results(struct latest *latest);

/* The sampling thread publishes them, without a copy. It may read them until it makes the next. */
void latest_publish_results(struct latest *latest);

bool latest_has_results(struct latest *latest);

/* The number of the latest results; 0: none. When it is not `known`, they are copied to `results`;
 * without memory for that it is `known`. */
uint64_t latest_results(struct latest *latest, uint64_t known, struct gput_results *results);

/* The sampling thread publishes a snapshot, which becomes the latest's. */
void latest_set_snapshot(struct latest *latest, struct gput_snapshot *snapshot);

/* The latest snapshot, which the caller releases; NULL: none. */
struct gput_snapshot *latest_snapshot(struct latest *latest);
