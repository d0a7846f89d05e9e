/*
 * Processes that the OOM killer ended, as the control group of a session counts them: also where
 * the command itself keeps running.
 */
#pragma once

#include "machine/os/own_cgroup.h"
#include "model/results.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeroes: nothing is counted. */
struct oom_kills {
    struct cgroup_directory memory; /* in which main was when tracking began, or will be without a
                                       group of its own; the path is owned */
    double before;                  /* what that had counted by then; NaN: it does not count */
    double own, shared;             /* since then, as last read; NaN: not counted */
    uint64_t ended;                 /* processes that had ended by then */
    bool is_final;                  /* tracking had ended by then */
};

/* Tracking begins. `memory` is copied; without memory for that nothing is known. */
void oom_kills_begin(struct oom_kills *kills, const struct cgroup_directory *memory);

void oom_kills_finish(struct oom_kills *kills);

/*
 * Reads how many there are by now: of the group made for the command, which has no other processes,
 * and of the one around it. What was counted once stays when a group is gone. `ended` is how many
 * processes have ended by now: it reads nothing while that stays the same. With `is_final`,
 * tracking has ended: it reads for the last time.
 */
void oom_kills_update(
    struct oom_kills *kills, const struct own_cgroup *own, uint64_t ended, bool is_final);

/* Without a group made for the command it is the group around it, possibly shared with others.
 * Version 1 counts those of each group by itself, which is said. */
void oom_kills_fill(const struct oom_kills *kills, struct gput_accounting *accounting);
