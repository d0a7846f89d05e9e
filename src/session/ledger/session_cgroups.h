/*
 * Processes that the OOM killer ended, as the control group of a session counts them: also where
 * the command itself keeps running.
 */
#pragma once

#include "machine/os/cgroup.h"
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

/* Memory that the control group with the tightest limit is charged for: the limit counts it. RSS
 * differs: it includes pages of files that another group was charged for. */

/* All zeroes: there is none. */
struct limit_group {
    struct cgroup_directory memory; /* path NULL: no group has a limit; owned */
    double before;                  /* its peak when tracking began */
    double highest;                 /* seen since then */
    double peak;                    /* as the kernel keeps it, since the group was made */
};

/* Tracking begins. Without memory nothing is known. */
void limit_group_begin(
    struct limit_group *group, const struct cgroup *cgroup, const struct cgroup_limits *limits);

void limit_group_finish(struct limit_group *group);

void limit_group_update(struct limit_group *group);

/* `own_bytes`: the peak of a group below it; may be NaN. */
void limit_group_fill(const struct limit_group *group, double own_bytes, struct gput_peak *peak);

/*
 * For how long the control group with the tightest CPU quota was held back by it, all its CPUs
 * together. Threads that it holds are ready to run: it is within the time that they waited for a
 * CPU.
 */

/* All zeroes: there is none. */
struct quota_group {
    struct cgroup_directory cpu; /* path NULL: no group has a quota; owned */
    double before_seconds;       /* when tracking began */
    double held_seconds;         /* since then, as of the last update; NaN: not known */
};

/* Tracking begins. Without memory nothing is known. */
void quota_group_begin(
    struct quota_group *group, const struct cgroup *cgroup, const struct cgroup_limits *limits);

void quota_group_finish(struct quota_group *group);

void quota_group_update(struct quota_group *group);
