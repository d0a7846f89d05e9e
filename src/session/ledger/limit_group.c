#include "session/ledger/limit_group.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

static void read_group(const struct limit_group *group, struct cgroup_usage *usage)
{
    struct cgroup cgroup = {.memory = group->memory};
    cgroup_usage_read(&cgroup, usage);
}

void limit_group_begin(
    struct limit_group *group, const struct cgroup *cgroup, const struct cgroup_limits *limits)
{
    struct cgroup_usage usage;
    limit_group_finish(group);
    group->memory = cgroup_above(&cgroup->memory, limits->memory_length);
    read_group(group, &usage);
    group->before = group->peak = usage.memory_peak_bytes;
    group->highest = usage.memory_current_bytes;
}

void limit_group_finish(struct limit_group *group)
{
    free(group->memory.path);
    *group = (struct limit_group){.before = NAN, .highest = NAN, .peak = NAN};
}

void limit_group_update(struct limit_group *group)
{
    struct cgroup_usage usage;
    if (!group->memory.path)
        return;
    read_group(group, &usage); /* fmax() takes what is known */
    group->highest = fmax(group->highest, usage.memory_current_bytes);
    group->peak = fmax(group->peak, usage.memory_peak_bytes);
}

void limit_group_fill(const struct limit_group *group, double own_bytes, struct gput_peak *peak)
{
    bool has_risen = group->peak > group->before;
    peak->bytes = has_risen ? group->peak : fmax(group->highest, own_bytes);
    peak->at_most_bytes = group->peak;
    if (!group->memory.path)
        peak->bytes = peak->at_most_bytes = NAN;
    text_fit(peak->source, sizeof peak->source, "%s",
        !group->memory.path  ? "no control group has a limit"
        : isnan(peak->bytes) ? "its control group does not say what it is charged for"
        : has_risen ? "the kernel's peak of that group, possibly shared with other processes"
                    : "at least: seen of that group, possibly shared with other processes; at "
                      "most: its peak, which is older than the session");
}
