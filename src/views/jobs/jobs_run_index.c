/*
 * Tells to which of several consecutive runs of one name a session belongs. Their order is the same
 * on each machine, even where its clock is off.
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

/* Like jobs_index_runs(). Returns false and changes nothing unless all of them are indices of
 * Kubernetes. An index that failed and was restarted belongs to the same run. */
static bool index_runs_of_pods(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count)
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

/* A rank that starts this long after another rank of its machine ended belongs to a later run.
 * The starts of one run are closer together. */
#define LATER_RUN_SECONDS 5.0

static int compare_run_index(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_RESULT(jobs_compare_numbers(a->run_index, b->run_index));
    return jobs_compare_numbers(a->rank, b->rank);
}

/* ---- Machines compared ---- */

/* The starts of the runs of a machine, by its clock. */
struct starts {
    double *times; /* owned */
    size_t count, capacity;
};

static int compare_run_index_of_machine(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_TEXT(a->boot_id, b->boot_id);
    ORDER_BY_RESULT(jobs_compare_numbers(a->run_index, b->run_index));
    return jobs_compare_numbers(a->start, b->start);
}

/* Lists the starts of the runs on the machine of the first rank. Returns how many of `ranks` are
 * on that machine; 0: no memory. */
static size_t list_starts(const struct jobs_rank *ranks, size_t count, struct starts *starts)
{
    size_t i;
    starts->count = 0;
    for (i = 0; i < count && strcmp(ranks[i].boot_id, ranks[0].boot_id) == 0; i++) {
        if (i > 0 && ranks[i].run_index == ranks[i - 1].run_index)
            continue;
        if (!ARRAY_RESERVE(starts->times, starts->count, starts->capacity))
            return 0;
        starts->times[starts->count++] = ranks[i].start;
    }
    return i;
}

static bool are_together(double start, double other)
{
    return fabs(start - other) <= LATER_RUN_SECONDS;
}

/* True where, if both clocks are right, a run of `a` began with a run of `b` that has another
 * index: one machine took no part in some runs. */
static bool are_shifted(const struct starts *a, const struct starts *b)
{
    for (size_t i = 0, k = 0; i < a->count; i++) {
        while (k < b->count && b->times[k] < a->times[i] - LATER_RUN_SECONDS)
            k++;
        if (k < b->count && are_together(a->times[i], b->times[k]) &&
            !(i < b->count && are_together(a->times[i], b->times[i])))
            return true;
    }
    return false;
}

static bool are_in_step(const struct starts *a, const struct starts *b)
{
    return !are_shifted(a, b);
}

/* True where both machines had the same runs, even if one clock is off by a constant. */
static bool are_off_alike(const struct starts *a, const struct starts *b)
{
    if (a->count != b->count || are_shifted(a, b))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!are_together(a->times[i] - a->times[0], b->times[i] - b->times[0]))
            return false;
    }
    return true;
}

/* Checks run indices that were found for each machine alone: they are right if each machine fits
 * the first one. */
static bool do_all_fit(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count,
    bool (*fit)(const struct starts *a, const struct starts *b))
{
    struct starts first = {0}, starts = {0};
    bool do_fit = true;
    qsort(ranks, count, sizeof *ranks, compare_run_index_of_machine);
    for (size_t i = 0, of_machine; i < count && do_fit; i += of_machine) {
        of_machine = list_starts(ranks + i, count - i, i == 0 ? &first : &starts);
        jobs->failed |= of_machine == 0;
        do_fit = of_machine > 0 && (i == 0 || fit(&starts, &first));
    }
    free(first.times);
    free(starts.times);
    return do_fit;
}

/* ---- Runs that are whole ---- */

static int compare_sessions_of_rank(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_TEXT(a->boot_id, b->boot_id);
    ORDER_BY_RESULT(jobs_compare_numbers(a->rank, b->rank));
    return jobs_compare_numbers(a->start, b->start);
}

/* True where each run has every rank once. `ranks` are in the order of their run indices. */
static bool are_whole(const struct jobs_rank *ranks, size_t count)
{
    double world_size = ranks[0].world_size;
    for (size_t i = 0; i < count; i++) {
        if (ranks[i].world_size != world_size || ranks[i].rank != fmod((double)i, world_size) ||
            ranks[i].run_index != floor((double)i / world_size))
            return false;
    }
    return fmod((double)count, world_size) == 0;
}

/* Numbers the sessions of each rank. True where all runs are complete. */
static bool find_whole(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count)
{
    qsort(ranks, count, sizeof *ranks, compare_sessions_of_rank);
    for (size_t i = 0; i < count; i++) {
        bool is_next = i > 0 && strcmp(ranks[i - 1].boot_id, ranks[i].boot_id) == 0 &&
                       ranks[i - 1].rank == ranks[i].rank;
        ranks[i].run_index = is_next ? ranks[i - 1].run_index + 1 : 0;
    }
    qsort(ranks, count, sizeof *ranks, compare_run_index);
    return are_whole(ranks, count) && do_all_fit(jobs, ranks, count, are_in_step);
}

/* ---- Runs of which ranks are lost ---- */

static int compare_sessions_of_machine(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_TEXT(a->boot_id, b->boot_id);
    return jobs_compare_numbers(a->start, b->start);
}

/* False where runs cannot be told apart, for example because single ranks were restarted. */
static bool are_plain(const struct jobs_rank *ranks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (ranks[i].world_size != ranks[0].world_size || !(ranks[i].rank >= 0) ||
            !(ranks[i].rank < ranks[i].world_size) || ranks[i].restarts > 0 ||
            !ranks[i].boot_id[0] || isnan(ranks[i].start))
            return false;
    }
    return true;
}

/* True where no rank is twice in one run. */
static bool are_distinct(struct jobs_rank *ranks, size_t count)
{
    qsort(ranks, count, sizeof *ranks, compare_run_index);
    for (size_t i = 1; i < count; i++) {
        if (compare_run_index(&ranks[i - 1], &ranks[i]) == 0)
            return false;
    }
    return true;
}

/* Numbers runs of which some sessions are missing. False: they cannot be told apart. */
static bool find_with_gaps(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count)
{
    if (!are_plain(ranks, count))
        return false;
    CLEANUP_FREE size_t *last_of = calloc((size_t)ranks[0].world_size, sizeof *last_of);
    jobs->failed |= !last_of;
    if (!last_of)
        return false;
    qsort(ranks, count, sizeof *ranks, compare_sessions_of_machine);

    /* Number the runs of each machine. A run begins where a rank appears again, or starts long
     * after the first one ended. last_of[RANK] is the last run of a rank, numbered from 1 over all
     * machines. */
    size_t run = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        size_t *last = &last_of[(size_t)ranks[i].rank];
        bool is_other = i == 0 || strcmp(ranks[i].boot_id, ranks[i - 1].boot_id) != 0;
        if (is_other || *last == run || jobs_is_much_later(&ranks[i], &ranks[first])) {
            ranks[i].run_index = is_other ? 0 : ranks[i - 1].run_index + 1;
            first = i;
            run++;
        } else {
            ranks[i].run_index = ranks[i - 1].run_index;
        }
        *last = run;
    }
    return do_all_fit(jobs, ranks, count, are_off_alike) && are_distinct(ranks, count);
}

bool jobs_is_much_later(const struct jobs_rank *rank, const struct jobs_rank *before)
{
    return rank->start - before->end > LATER_RUN_SECONDS;
}

void jobs_index_runs(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count)
{
    bool is_known = index_runs_of_pods(jobs, ranks, count) ||
                    (ranks[0].world_size > 1 &&
                        (find_whole(jobs, ranks, count) || find_with_gaps(jobs, ranks, count)));
    for (size_t i = 0; i < count && !is_known; i++)
        ranks[i].run_index = NAN;
}
