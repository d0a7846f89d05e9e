/*
 * What the control group with the tightest memory limit is charged for: what that limit counts. RSS
 * is another figure: it has pages of files that another group was charged for.
 */
#pragma once

#include "machine/os/cgroup.h"
#include "model/results.h"

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
