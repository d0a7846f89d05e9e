/*
 * What sessions need alike that one caller has one after the other: it is read or opened once, and
 * passed on to each. A benchmark of short commands has one, for it would take longer than they do.
 *
 * All of them have the same options, except for their files, and launch a command. Limits of our
 * control groups are those of the first.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "machine/os/cgroup.h"
#include "session/sampler/session_events.h"

#include <gputracker/session.h>

#include <stdbool.h>

/* All zero: nothing yet. The caller calls session_shared_finish() after its last session. */
struct session_shared {
    bool has_groups; /* what follows is known */
    bool has_texts;  /* the kernel has control groups */
    struct cgroup_texts texts;
    struct cgroup_limits limits;
    /* Between sessions; with one, it has them. */
    bool has_events;
    struct session_events events;
    struct gpu_set *gpus; /* of a machine without a driver; NULL: there may be GPUs */
};

/* As gput_session_create(). `shared` stays where it is until the session is destroyed; NULL: the
 * session has all of its own. */
int session_create(const struct gput_session_options *options, struct session_shared *shared,
    struct gput_session **session, struct gput_error *error);

void session_shared_finish(struct session_shared *shared);
