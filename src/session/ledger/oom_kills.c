#include "session/ledger/oom_kills.h"

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
