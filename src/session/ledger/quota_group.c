#include "session/ledger/quota_group.h"

#include <math.h>
#include <stdlib.h>

void quota_group_begin(
    struct quota_group *group, const struct cgroup *cgroup, const struct cgroup_limits *limits)
{
    quota_group_finish(group);
    group->cpu = cgroup_above(&cgroup->cpu, limits->cpu_length);
    group->before_seconds = cgroup_throttled_read(&group->cpu);
    group->held_seconds = group->cpu.path ? group->before_seconds - group->before_seconds : NAN;
}

void quota_group_finish(struct quota_group *group)
{
    free(group->cpu.path);
    *group = (struct quota_group){.held_seconds = NAN};
}

void quota_group_update(struct quota_group *group)
{
    if (group->cpu.path)
        group->held_seconds = cgroup_throttled_read(&group->cpu) - group->before_seconds;
}
