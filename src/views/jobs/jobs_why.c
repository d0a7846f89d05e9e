/* Compares where the time of a rank went with the other ranks: why one of them is slow. */
#include "views/jobs/jobs.h"

#include "analysis/why/why_rules.h"
#include "analysis/why/why_shares.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "model/straggler.h"

#include <math.h>

/* Maximum number of names in a sentence. */
#define MAX_NAMED 8

double jobs_cpu_wait_percent(const struct jobs_rank *rank)
{
    const struct gput_wall *wall = &rank->time_went;
    if (!(wall->seconds > 0))
        return NAN;
    return why_percent(wall, WALL_CPU) + why_percent(wall, WALL_QUOTA);
}

/* Returns where the time of a rank went. NULL if that is not known, or only for the last session
 * of a restarted rank. */
static const struct gput_wall *wall_of(const struct jobs_rank *rank)
{
    bool is_whole = !rank->is_retried && !(rank->tried_seconds > 0);
    return is_whole && why_is_telling(&rank->time_went) ? &rank->time_went : NULL;
}

struct jobs_walls jobs_add_walls(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    struct jobs_walls walls = {0};
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct gput_wall *wall = wall_of(&jobs->ranks[i]);
        if (!wall)
            continue;
        walls.count++;
        walls.sum.seconds += wall->seconds;
        for (int k = 0; k < WALL_CAUSE_COUNT; k++)
            walls.sum.seconds_of[k] += fmax(wall->seconds_of[k], 0); /* NaN: none */
    }
    return walls;
}

/* Returns the mean of the other ranks. `seconds` is 0 if nothing is known of them. */
static struct gput_wall mean_of_others(const struct jobs_walls *walls, const struct gput_wall *wall)
{
    struct gput_wall mean = {0};
    double n_others = (double)walls->count - 1;
    if (!(n_others > 0))
        return mean;
    mean.seconds = (walls->sum.seconds - wall->seconds) / n_others;
    for (int k = 0; k < WALL_CAUSE_COUNT; k++)
        mean.seconds_of[k] =
            fmax(walls->sum.seconds_of[k] - fmax(wall->seconds_of[k], 0), 0) / n_others;
    return mean;
}

/* Appends "waiting for a CPU for 41 % of its time (41 s), the others for 3 % (1.5 s)". */
static void write_share(const struct gput_wall *wall, const struct gput_wall *others,
    enum wall_cause cause, struct str *text)
{
    char own[HUMAN_SIZE], other[HUMAN_SIZE];
    str_printf(text, "%s for %.0f %% of its time (%s), the others for %.0f %% (%s)",
        why_word(cause), why_percent(wall, cause), human_seconds(wall->seconds_of[cause], own),
        why_percent(others, cause), human_seconds(others->seconds_of[cause], other));
}

void jobs_append_slower_cause(
    const struct jobs_rank *rank, const struct jobs_walls *walls, struct str *text)
{
    struct why_share shares[WALL_CAUSE_COUNT];
    const struct gput_wall *wall = wall_of(rank);
    struct gput_wall others = wall ? mean_of_others(walls, wall) : (struct gput_wall){0};
    size_t count = others.seconds > 0 ? why_shares(wall, shares) : 0;
    double most = STRAGGLER_MIN_SECONDS;
    enum wall_cause cause = WALL_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        enum wall_cause next = shares[i].cause;
        double more = wall->seconds_of[next] - others.seconds_of[next];
        bool is_sure = more > shares[i].half_width / 100 * wall->seconds;
        if (next == WALL_UNKNOWN || !is_sure || !(more > most))
            continue;
        most = more;
        cause = next;
    }
    if (cause == WALL_UNKNOWN)
        return;
    str_append(text, "; ");
    write_share(wall, &others, cause, text);
}

/* Returns the cause that holds a rank up, such as waiting for a CPU. WALL_UNKNOWN: none. */
static enum wall_cause cause_of_hold(const struct gput_wall *wall, const struct gput_wall *others)
{
    enum wall_cause cause = WALL_UNKNOWN;
    double most = 0;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        enum wall_cause next = (enum wall_cause)i;
        double more = why_percent(wall, next) - why_percent(others, next);
        if (!(more > why_held_points(next) && more > most))
            continue;
        most = more;
        cause = next;
    }
    return cause;
}

void jobs_find_held(struct gput_jobs *jobs, const struct jobs_job *job)
{
    CLEANUP_STR struct str list = {0};
    size_t n_held = 0;
    struct jobs_walls walls = jobs_add_walls(jobs, job);
    for (size_t i = job->first; i < job->first + job->count && !job->is_list; i++) {
        char name[96], busy[HUMAN_SIZE];
        const struct jobs_rank *rank = &jobs->ranks[i];
        const struct gput_wall *wall = wall_of(rank);
        struct gput_wall others = wall ? mean_of_others(&walls, wall) : (struct gput_wall){0};
        enum wall_cause cause = others.seconds > 0 ? cause_of_hold(wall, &others) : WALL_UNKNOWN;
        if (cause == WALL_UNKNOWN || n_held++ >= MAX_NAMED)
            continue;
        jobs_name_rank(rank, name, sizeof name);
        str_printf(&list, "%s%s: ", n_held > 1 ? "; " : "", name);
        write_share(wall, &others, cause, &list);
        if (cause == WALL_CPU && rank->system_busy_cores > 0 && rank->system_cores > 0)
            str_printf(&list, ". All programs there used %s of %g cores",
                human_cores(rank->system_busy_cores, busy), rank->system_cores);
    }
    if (n_held > 0)
        jobs_add_finding(jobs, (double)(job - jobs->jobs), "held_ranks", str_text(&list),
            "%zu %s%s held up far longer than the others%s", n_held, job->noun,
            n_held > 1 ? "s were" : " was", job->are_independent ? "" : ", which may wait for it");
}
