/*
 * For how long the control group with the tightest CPU quota was held back by it, all its CPUs
 * together. Threads that it holds are ready to run: it is within the time that they waited for a
 * CPU.
 */
#pragma once

#include "machine/os/cgroup.h"

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
