/*
 * Indexed jobs of Kubernetes. Neither the name of the job nor a count of starts is in the
 * environment of their pods: the first is in the pod's name, the second is seen from how the
 * sessions of an index follow each other.
 */
#include "views/jobs/jobs.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_of_kubernetes(const struct jobs_rank *rank)
{
    return strcmp(rank->launcher, "Kubernetes") == 0;
}

/* ---- Names ---- */

/* Returns the length of the name before "-INDEX" (host names of pods) or "-INDEX-RANDOM" (names
 * of pods). 0: `pod` has neither form. */
static size_t length_of_job(const char *pod, double rank)
{
    char index[16];
    int length = snprintf(index, sizeof index, "-%.0f", rank);
    const char *end = pod + strlen(pod), *random = strrchr(pod, '-');
    bool is_bare = end - pod > length && strcmp(end - length, index) == 0;
    if (!is_bare && random && random[1])
        end = random;
    return end - pod > length && strncmp(end - length, index, (size_t)length) == 0
               ? (size_t)(end - length - pod)
               : 0;
}

void jobs_set_name_from_pod(struct jobs_rank *rank, const char *pod)
{
    if (!is_of_kubernetes(rank) || rank->job_id[0] || !(rank->rank >= 0))
        return;
    size_t length = length_of_job(pod, rank->rank);
    if (length > 0)
        text_fit(rank->job_id, sizeof rank->job_id, "%.*s", (int)length, pod);
}

/* ---- Indices of runs ---- */

static double end_of(const struct jobs_rank *rank)
{
    return isnan(rank->end) ? rank->start + rank->seconds : rank->end;
}

/* True where a session can be the restart of `before`: an index that succeeded is not restarted.
 * Their times are compared only on one machine, because clocks may be off. */
static bool can_follow(const struct jobs_rank *rank, const struct jobs_rank *before)
{
    bool is_on_another = rank->job_id[0] && strcmp(rank->boot_id, before->boot_id) != 0;
    return (jobs_has_failed(before) || jobs_is_unfinished(before)) &&
           (is_on_another || end_of(before) <= rank->start);
}

bool jobs_is_retry(const struct jobs_rank *rank, const struct jobs_rank *before)
{
    return is_of_kubernetes(rank) && rank->run_index == before->run_index &&
           can_follow(rank, before);
}

static int compare_starts(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_RESULT(jobs_compare_numbers(a->start, b->start));
    return jobs_compare_numbers(a->rank, b->rank);
}

/* Counts the sessions up to the first one that began when none of the earlier ones ran. */
static size_t count_until_pause(const struct jobs_rank *ranks, size_t count)
{
    double end = end_of(&ranks[0]);
    size_t i = 1;
    while (i < count && !(ranks[i].start >= end))
        end = fmax(end, end_of(&ranks[i++]));
    return i;
}

/* True where the sessions from `first` to `end` begin another run. last_of[INDEX] is the last
 * session of an index, from 1; 0: none. */
static bool is_next_run(const struct jobs_rank *ranks, size_t first, size_t end, size_t *last_of)
{
    for (size_t i = first; i < end; i++) {
        size_t last = last_of[(size_t)ranks[i].rank];
        if (last > 0 && last <= first && !can_follow(&ranks[i], &ranks[last - 1]))
            return true;
    }
    return false;
}

/* Numbers the runs. A run begins after a pause in which an index that had succeeded appears
 * again. */
static void index_runs(struct jobs_rank *ranks, size_t count, size_t *last_of)
{
    double run_index = 0, highest = 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + count_until_pause(ranks + first, count - first);
        if (is_next_run(ranks, first, end, last_of))
            run_index = highest + 1;
        for (size_t i = first; i < end; i++) {
            size_t *last = &last_of[(size_t)ranks[i].rank];
            const struct jobs_rank *before = *last > 0 ? &ranks[*last - 1] : NULL;
            if (!before || before->run_index < run_index)
                ranks[i].run_index = run_index;
            else
                ranks[i].run_index = before->run_index + !can_follow(&ranks[i], before);
            highest = fmax(highest, ranks[i].run_index);
            *last = i + 1;
        }
    }
}

bool jobs_index_runs_of_pods(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count)
{
    double highest = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_of_kubernetes(&ranks[i]) || !(ranks[i].rank >= 0) || isnan(ranks[i].start))
            return false;
        highest = fmax(highest, ranks[i].rank);
    }
    CLEANUP_FREE size_t *last_of = calloc((size_t)highest + 1, sizeof *last_of);
    jobs->failed |= !last_of;
    if (!last_of)
        return false;
    qsort(ranks, count, sizeof *ranks, compare_starts);
    index_runs(ranks, count, last_of);
    return true;
}
