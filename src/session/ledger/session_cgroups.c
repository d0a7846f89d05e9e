#include "session/ledger/session_cgroups.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void oom_kills_begin(struct oom_kills *kills, const struct cgroup_directory *memory)
{
    oom_kills_finish(kills);
    kills->memory = *memory;
    kills->memory.path = memory->path ? strdup(memory->path) : NULL;
    kills->before = cgroup_oom_kills_read(&kills->memory);
    kills->own = kills->shared = NAN;
}

void oom_kills_finish(struct oom_kills *kills)
{
    free(kills->memory.path);
    *kills = (struct oom_kills){.before = NAN, .own = NAN, .shared = NAN};
}

/* Who is killed ends: while no process ends, files of control groups need not be read, and once
 * after tracking has ended. */
static bool is_due(const struct oom_kills *kills, uint64_t ended, bool is_final)
{
    bool is_read = !isnan(kills->own) || !isnan(kills->shared);
    return !is_read || kills->is_final != is_final || (!is_final && kills->ended != ended);
}

void oom_kills_update(
    struct oom_kills *kills, const struct own_cgroup *own, uint64_t ended, bool is_final)
{
    if (!is_due(kills, ended, is_final))
        return;
    kills->ended = ended;
    kills->is_final = is_final;
    /* fmax() takes what is known. */
    kills->own = fmax(kills->own, own_cgroup_oom_kills(own));
    kills->shared = fmax(kills->shared, cgroup_oom_kills_read(&kills->memory) - kills->before);
}

void oom_kills_fill(const struct oom_kills *kills, struct gput_accounting *accounting)
{
    bool is_own = !isnan(kills->own), is_shared = !isnan(kills->shared);
    bool is_counted = is_own || is_shared;
    accounting->oom_killed = is_own ? kills->own : kills->shared;
    text_fit(accounting->oom_killed_reason, sizeof accounting->oom_killed_reason, "%s%s",
        is_own      ? "counted by the command's own control group"
        : is_shared ? "counted by its control group, possibly shared with other processes"
                    : "no control group counts OOM kills",
        is_counted && !kills->memory.is_v2 ? "; version 1: without groups below it" : "");
}

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
