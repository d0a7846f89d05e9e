/* gpu-tracker run -- mpirun gpu-tracker run …: the session of a launcher has what its ranks have.
 */
#include "jobs/jobs.h"

#include "output/human.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Trackers need a moment to end after what they track. */
#define MAX_LATER_SECONDS 1.0

static bool has_rank_of_its_own(const struct jobs_rank *rank)
{
    return !isnan(rank->rank) && !rank->are_of_descendants;
}

static bool has_rank(const struct jobs_rank *session, double number)
{
    const char *at = session->ranks;
    double first, last;
    bool has = session->rank == number;
    while (!has && jobs_next_ranks(&at, &first, &last))
        has = first <= number && number <= last;
    return has;
}

/* It began while the session ran, on its machine, in its job. */
static bool is_within(const struct jobs_rank *rank, const struct jobs_rank *session)
{
    return strcmp(rank->boot_id, session->boot_id) == 0 && rank->start >= session->start &&
           rank->start <= session->start + session->seconds &&
           strcmp(rank->launcher, session->launcher) == 0 &&
           strcmp(rank->job_id, session->job_id) == 0 && strcmp(rank->step, session->step) == 0 &&
           strcmp(rank->task, session->task) == 0;
}

/* Of a session that is within another one: how many ranks both have, if that has all of them. A
 * script that is tracked may call gpu-tracker run -- torchrun. */
static size_t count_within(const struct jobs_rank *inner, const struct jobs_rank *session)
{
    const char *at = inner->ranks;
    double first, last;
    size_t count = 0;
    bool is_other_run = inner->run[0] && session->run[0] && strcmp(inner->run, session->run) != 0;
    if (!inner->are_of_descendants || inner->start <= session->start || is_other_run ||
        !(inner->start + inner->seconds <= session->start + session->seconds + MAX_LATER_SECONDS))
        return 0;
    if (!inner->ranks[0])
        return has_rank(session, inner->rank);
    while (jobs_next_ranks(&at, &first, &last)) {
        for (double number = first; number <= last; number++, count++) {
            if (!has_rank(session, number))
                return 0;
        }
    }
    return count;
}

/* How many of a session's ranks have files of their own. `first` and `end` are those of its
 * machine. */
static size_t count_own(
    const struct gput_jobs *jobs, const struct jobs_rank *session, size_t first, size_t end)
{
    size_t count = 0, within = 0;
    if (!session->are_of_descendants || !session->boot_id[0])
        return 0;
    for (size_t i = first; i < end; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank == session || !rank->path || !is_within(rank, session))
            continue;
        if (has_rank_of_its_own(rank))
            count += has_rank(session, rank->rank);
        else
            within += count_within(rank, session);
    }
    return count > 0 ? count : within;
}

static void leave_out(struct gput_jobs *jobs, struct jobs_rank *session, size_t count)
{
    char end[JOBS_END_SIZE] = "", cpu[HUMAN_SIZE], evidence[192];
    if (jobs_has_failed(session))
        jobs_say_end(session, end);
    snprintf(evidence, sizeof evidence,
        "its figures are of these ranks together, and are not added: %s of CPU time%s%s",
        human_seconds(session->cpu_seconds, cpu), end[0] ? "; " : "", end);
    jobs_find(jobs, NAN, "launcher", evidence,
        "%s is the session of the launcher, and no rank: %zu of its ranks ha%s files of their own",
        session->path, count, count > 1 ? "ve" : "s");
    free(session->path);
    free(session->report);
    session->path = session->report = NULL;
}

void jobs_leave_out_launchers(struct gput_jobs *jobs)
{
    for (size_t first = 0, end; first < jobs->n_ranks; first = end) {
        const char *boot_id = jobs->ranks[first].boot_id;
        for (end = first; end < jobs->n_ranks && strcmp(jobs->ranks[end].boot_id, boot_id) == 0;)
            end++;
        for (size_t i = first; i < end; i++) {
            size_t count = count_own(jobs, &jobs->ranks[i], first, end);
            if (count > 0)
                leave_out(jobs, &jobs->ranks[i], count);
        }
    }
}
