/*
 * Copies of snapshots for front ends (gputracker/snapshot.h): a snapshot is only valid until the
 * next tick, a copy as long as somebody has it.
 */
#pragma once

#include "session/sampler/snapshot.h"

#include <gputracker/snapshot.h>

/*
 * Copies a snapshot, which is that of tick `number`, `elapsed_seconds` after the start. CPU
 * percents are of the time since `before` (NULL: not known). The caller has the copy and releases
 * it by gput_snapshot_release(). NULL without memory.
 */
struct gput_snapshot *snapshot_copy(const struct snapshot *snapshot, uint64_t number,
    double elapsed_seconds, const struct gput_snapshot *before);

/* Another owner. Returns `snapshot`. */
struct gput_snapshot *snapshot_copy_retain(struct gput_snapshot *snapshot);
