/* Sessions within others: their processes count once. In `gpu-tracker run -- mpirun gpu-tracker
 * run …` the ranks count, not the session of the launcher. Otherwise the outer session counts,
 * which has more processes. */
#include "views/jobs/jobs.h"

#include "base/human.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tracker ends a moment after its command. */
#define MAX_LATER_SECONDS 1.0
/* Maximum number of names in a sentence. */
#define MAX_NAMED 8

static bool has_rank_of_its_own(const struct jobs_rank *rank)
{
    return !isnan(rank->rank) && !rank->has_ranks_of_descendants;
}

/* True where a rank is among those of the session. */
static bool has_rank(const struct jobs_rank *session, double number)
{
    const char *at = session->ranks;
    double first, last;
    bool has = session->rank == number;
    while (!has && jobs_next_ranks(&at, &first, &last))
        has = first <= number && number <= last;
    return has;
}

/* Returns how many ranks `inner` has if it ran within `session` and `session` has all of them,
 * else 0. A tracked script may itself call `gpu-tracker run -- torchrun`. */
static size_t count_within(const struct jobs_rank *inner, const struct jobs_rank *session)
{
    const char *at = inner->ranks;
    double first, last;
    size_t count = 0;
    bool is_other_run = inner->run[0] && session->run[0] && strcmp(inner->run, session->run) != 0;
    if (!inner->has_ranks_of_descendants || inner->start <= session->start || is_other_run ||
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

/* Counts the ranks of a session that have files of their own. `first` to `end` are the ranks of
 * its machine. */
static size_t count_own(
    const struct gput_jobs *jobs, const struct jobs_rank *session, size_t first, size_t end)
{
    size_t count = 0, within = 0;
    if (!session->has_ranks_of_descendants || !session->boot_id[0])
        return 0;
    for (size_t i = first; i < end; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank == session || !rank->path ||
            !(strcmp(rank->boot_id, session->boot_id) == 0 && rank->start >= session->start &&
                rank->start <= session->start + session->seconds &&
                strcmp(rank->launcher, session->launcher) == 0 &&
                strcmp(rank->job_id, session->job_id) == 0 &&
                strcmp(rank->step, session->step) == 0 && strcmp(rank->task, session->task) == 0))
            continue;
        if (has_rank_of_its_own(rank))
            count += has_rank(session, rank->rank);
        else
            within += count_within(rank, session);
    }
    return count > 0 ? count : within;
}

static void leave_out(struct jobs_rank *session)
{
    free(session->path);
    free(session->report);
    session->path = session->report = NULL;
}

/* Leaves out the session of a launcher whose ranks have files of their own. */
static void leave_out_launcher(struct gput_jobs *jobs, struct jobs_rank *session, size_t count)
{
    char end[JOBS_END_SIZE] = "", cpu[HUMAN_SIZE], evidence[192];
    if (jobs_has_failed(session))
        jobs_format_end(session, end);
    snprintf(evidence, sizeof evidence,
        "its figures are of these ranks together, and are not added: %s of CPU time%s%s",
        human_seconds(session->cpu_seconds, cpu), end[0] ? "; " : "", end);
    jobs_add_finding(jobs, NAN, "launcher", evidence,
        "%s is the session of the launcher, and no rank: %zu of its ranks ha%s files of their own",
        session->path, count, count > 1 ? "ve" : "s");
    leave_out(session);
}

/* ---- By the ids that sessions have of each other ---- */

/* A session, and the sessions that ran within it. */
struct outer {
    struct jobs_rank *session;
    size_t n_ranks, n_inner;
    struct str inner; /* their list, for the finding */
};

static int compare_ids(const void *left, const void *right)
{
    const struct outer *a = left, *b = right;
    return strcmp(a->session->session_id, b->session->session_id);
}

/* Lists the sessions that have an id, sorted by it. The caller frees the list. NULL without
 * memory. */
static struct outer *list_outers(struct gput_jobs *jobs, size_t *count)
{
    struct outer *outers = calloc(jobs->n_ranks + 1, sizeof *outers);
    *count = 0;
    jobs->failed |= !outers;
    for (size_t i = 0; outers && i < jobs->n_ranks; i++) {
        if (jobs->ranks[i].session_id[0])
            outers[(*count)++].session = &jobs->ranks[i];
    }
    if (*count > 1)
        qsort(outers, *count, sizeof *outers, compare_ids);
    return outers;
}

/* Returns the next session, from `at` on in the list of ids, that contains all processes of
 * `rank`. NULL: none is left. Processes that ran longer than a tracked command still carry its id,
 * but are not within it. */
static struct outer *next_outer(
    struct outer *outers, size_t count, const struct jobs_rank *rank, const char **at)
{
    struct jobs_rank wanted;
    struct outer key = {.session = &wanted};
    while (**at) {
        size_t length = strcspn(*at, "/");
        text_fit(wanted.session_id, sizeof wanted.session_id, "%.*s", (int)length, *at);
        *at += length + ((*at)[length] == '/');
        struct outer *outer = bsearch(&key, outers, count, sizeof *outers, compare_ids);
        const struct jobs_rank *session = outer ? outer->session : NULL;
        if (session && session != rank && session->path &&
            strcmp(session->boot_id, rank->boot_id) == 0 &&
            !(rank->start > session->start + session->seconds))
            return outer;
    }
    return NULL;
}

/* Leaves out sessions within others, whose figures already include them. */
static void leave_out_inner(struct gput_jobs *jobs, struct outer *outers, size_t count)
{
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        struct jobs_rank *rank = &jobs->ranks[i];
        const char *at = rank->within;
        struct outer *outer = rank->path ? next_outer(outers, count, rank, &at) : NULL;
        if (!outer)
            continue;

        /* Add a session to the list of those that ran within `outer`. */
        const struct jobs_rank *session = outer->session;
        char cpu[HUMAN_SIZE], later[HUMAN_SIZE];
        double seconds = rank->start + rank->seconds - session->start - session->seconds;
        if (!(outer->n_inner++ >= MAX_NAMED)) {
            str_printf(&outer->inner, "%s%s: %s of CPU time", outer->n_inner > 1 ? "; " : "",
                rank->path, human_seconds(rank->cpu_seconds, cpu));
            if (seconds > MAX_LATER_SECONDS)
                str_printf(&outer->inner, ", of which the last %s are in no sum: it ended later",
                    human_seconds(seconds, later));
        }

        leave_out(rank);
    }
    for (size_t i = 0; i < count; i++) {
        struct outer *outer = &outers[i];
        if (outer->n_inner > MAX_NAMED)
            str_printf(&outer->inner, "; and %zu more", outer->n_inner - MAX_NAMED);
        if (outer->n_inner > 0)
            jobs_add_finding(jobs, NAN, "nested", str_text(&outer->inner),
                "%s has the processes of %zu other session%s, whose figures are included in its "
                "own, and are not added again",
                outer->session->path, outer->n_inner, outer->n_inner > 1 ? "s" : "");
        str_finish(&outer->inner);
    }
}

void jobs_leave_out_nested(struct gput_jobs *jobs)
{
    size_t n_outers;
    struct outer *outers = list_outers(jobs, &n_outers);
    if (!outers)
        return;

    /* Count for each session the ranks that it launched and that have files of their own. */
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        const char *at = rank->within;
        struct outer *innermost = NULL, *outer;
        while ((outer = next_outer(outers, n_outers, rank, &at)))
            innermost = outer;
        if (innermost && has_rank_of_its_own(rank) &&
            (!has_rank_of_its_own(innermost->session) ||
                strcmp(rank->launcher, innermost->session->launcher) != 0))
            innermost->n_ranks++;
    }

    for (size_t i = 0; i < n_outers; i++) {
        if (outers[i].n_ranks > 0)
            leave_out_launcher(jobs, outers[i].session, outers[i].n_ranks);
    }
    for (size_t first = 0, end; first < jobs->n_ranks; first = end) {
        const char *boot_id = jobs->ranks[first].boot_id;
        for (end = first; end < jobs->n_ranks && strcmp(jobs->ranks[end].boot_id, boot_id) == 0;)
            end++;
        for (size_t i = first; i < end; i++) {
            struct jobs_rank *session = &jobs->ranks[i];
            size_t count = session->path ? count_own(jobs, session, first, end) : 0;
            if (count > 0)
                leave_out_launcher(jobs, session, count);
        }
    }
    leave_out_inner(jobs, outers, n_outers);
    free(outers);
}
