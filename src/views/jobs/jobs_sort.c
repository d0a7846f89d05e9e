/* Sorting: sessions become ranks of jobs and of machines. */
#include "views/jobs/jobs.h"

#include "base/array.h"
#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No job has as many ranks. */
#define MAX_RANK 10000000.0

/* ---- Jobs ---- */

/* Returns the element of an array within a job's id: "_7", "[7].server" (PBS) or ":7" (AWS
 * Batch). NULL: it is not an element. Ids of torchrun are chosen by users, so "_7" means nothing
 * there. */
static const char *element_of(const struct jobs_rank *rank)
{
    const char *mark = strpbrk(rank->job_id, "[");
    bool is_alone = isnan(rank->world_size) || rank->world_size == 1, is_pbs = mark;
    if (!mark && (rank->task[0] || strcmp(rank->launcher, "torchrun") != 0))
        mark = strrchr(rank->job_id, '_');
    if (!mark && rank->task[0])
        mark = strrchr(rank->job_id, ':');
    size_t digits = mark ? strspn(mark + 1, "0123456789") : 0;
    return is_alone && digits > 0 && mark[digits + 1] == (is_pbs ? ']' : '\0') ? mark : NULL;
}

/* Names the job of a rank. */
static void name_job(const struct jobs_rank *rank, char *name, size_t size)
{
    const char *element = element_of(rank);
    bool has_step = rank->step[0] && strcmp(rank->launcher, "Slurm") == 0;
    if (element)
        text_fit(name, size, "%.*s%s%s (array)", (int)(element - rank->job_id), rank->job_id,
            *element == '[' ? "[" : "", *element == '[' ? strchr(element, ']') : "");
    else if (rank->job_id[0])
        text_fit(
            name, size, "%s%s%s", rank->job_id, has_step ? "." : "", has_step ? rank->step : "");
    else if (!rank->launcher[0] && rank->task[0] && rank->step[0])
        text_fit(name, size, "of GNU parallel (pid %s)", rank->step);
    else
        text_fit(name, size, "%s",
            rank->launcher[0] ? rank->launcher
            : rank->task[0]   ? "of GNU parallel"
                              : "without a launcher");
}

/* Returns the run of a rank; "" where it is unknown or does not matter (elements of an array).
 * */
static const char *run_of(const struct jobs_rank *rank)
{
    return element_of(rank) ? "" : rank->run;
}

/* True for a session of a job that is no rank, such as a command of a batch script before its
 * ranks. */
static bool is_apart(const struct jobs_rank *rank)
{
    return rank->job_id[0] && isnan(rank->rank) && !rank->ranks[0] && !jobs_is_task(rank) &&
           !element_of(rank);
}

/* Orders sessions by the name of their job, those that are no ranks last. */
static int compare_names(const struct jobs_rank *a, const struct jobs_rank *b)
{
    char name[160], other[160];
    name_job(a, name, sizeof name);
    name_job(b, other, sizeof other);
    ORDER_BY_TEXT(name, other);
    return is_apart(a) - is_apart(b);
}

static int compare_names_and_runs(const struct jobs_rank *a, const struct jobs_rank *b)
{
    ORDER_BY_RESULT(compare_names(a, b));
    ORDER_BY_TEXT(run_of(a), run_of(b));
    return jobs_compare_numbers(a->run_size, b->run_size);
}

static int compare_runs(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_RESULT(compare_names_and_runs(a, b));
    return jobs_compare_numbers(a->start, b->start);
}

/* Sets the runs of `count` sessions of one name, in the order of compare_runs(). Sessions whose
 * run is unknown (of earlier versions, or in containers) get the run of the others if that is only
 * one. */
static void find_runs(struct jobs_rank *ranks, size_t count)
{
    const char *last = run_of(&ranks[count - 1]);
    size_t unknown = 0;
    while (unknown < count && !run_of(&ranks[unknown])[0])
        unknown++;
    if (unknown < count && strcmp(run_of(&ranks[unknown]), last) == 0) {
        for (size_t i = 0; i < unknown; i++)
            text_fit(ranks[i].run, sizeof ranks[i].run, "%s", last);
    }
    if (!last[0])
        jobs_find_run_sizes(ranks, count);
    qsort(ranks, count, sizeof *ranks, compare_runs);
    for (size_t i = 0; i < count; i++) {
        bool is_first = i == 0 || compare_names_and_runs(&ranks[i], &ranks[i - 1]) != 0;
        ranks[i].run_start = is_first ? ranks[i].start : ranks[i - 1].run_start;
    }
}

/* Orders sessions by job, the runs of a job by their starts. */
static int compare_jobs(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_RESULT(compare_names(a, b));
    ORDER_BY_RESULT(jobs_compare_numbers(a->run_start, b->run_start));
    ORDER_BY_RESULT(compare_names_and_runs(a, b));
    ORDER_BY_RESULT(jobs_compare_numbers(a->run_index, b->run_index));
    ORDER_BY_RESULT(jobs_compare_numbers(a->start, b->start));
    ORDER_BY_RESULT(jobs_compare_numbers(a->rank, b->rank));
    return strcmp(a->path, b->path);
}

/* The run of a job that is being filled. */
struct run {
    size_t *ranks; /* by rank: its latest session, from 1; 0: none; owned */
    size_t capacity;
    double end; /* of the latest session so far */
    char name[160];
    size_t first, number; /* its first session; the number of earlier runs of that name */
};

/* Notes that a session restarts an earlier one of its rank. */
static void follow_try(struct jobs_rank *rank, struct jobs_rank *before)
{
    before->is_retried = true;
    rank->tried_seconds = before->tried_seconds + (isnan(before->seconds) ? 0 : before->seconds);
    rank->tried_cpu_seconds =
        before->tried_cpu_seconds + (isnan(before->cpu_seconds) ? 0 : before->cpu_seconds);
    rank->has_failed_try = before->has_failed_try || jobs_has_failed(before);
}

/* True for a restart of a failed task, and not for a further command of the same task. */
static bool is_retry_of_task(const struct jobs_rank *rank, const struct jobs_rank *before)
{
    return jobs_has_failed(before) && before->start + before->seconds <= rank->start;
}

/* Adds a session to a run, as a restart where the run has its rank already. */
static void note_rank(struct gput_jobs *jobs, struct run *run, size_t session)
{
    const struct jobs_rank *noted = &jobs->ranks[session];

    /* Its place is its rank, or the number of a task of GNU parallel, which can be restarted, too
     * (--retries). NaN: neither. */
    bool is_number = noted->task[0] && noted->task[strspn(noted->task, "0123456789")] == '\0';
    double rank = isnan(noted->rank) && is_number && jobs_is_task(noted) && noted->run[0]
                      ? strtod(noted->task, NULL)
                      : noted->rank;
    run->end = fmax(run->end, noted->start + noted->seconds);
    if (!(rank >= 0 && rank < MAX_RANK))
        return;
    size_t needed = (size_t)rank + 1, before = run->capacity;
    if (needed > before) {
        if (!ARRAY_RESIZE(run->ranks, 2 * needed)) {
            jobs->failed = true;
            return;
        }
        run->capacity = 2 * needed;
        memset(run->ranks + before, 0, (run->capacity - before) * sizeof *run->ranks);
    }
    size_t earlier = run->ranks[(size_t)rank];
    if (earlier > 0 && (!isnan(noted->rank) || is_retry_of_task(noted, &jobs->ranks[earlier - 1])))
        follow_try(&jobs->ranks[session], &jobs->ranks[earlier - 1]);
    run->ranks[(size_t)rank] = session + 1;
}

/* True where the launcher restarted a rank while others of the run went on. */
static bool is_again(const struct gput_jobs *jobs, const struct run *run, size_t index)
{
    const struct jobs_rank *rank = &jobs->ranks[index];
    const struct jobs_rank *before = &jobs->ranks[run->ranks[(size_t)rank->rank] - 1];
    if (jobs_is_retry(rank, before))
        return true;
    return rank->restarts > fmax(before->restarts, 0) &&
           before->start + before->seconds <= rank->start && run->end > rank->start;
}

/* True where a session belongs to a later run: its launcher says so, its rank is already in this
 * run, or it starts long after a rank of its machine ended (ranks start together). */
static bool is_later_run(const struct gput_jobs *jobs, const struct run *run, size_t index)
{
    const struct jobs_rank *rank = &jobs->ranks[index];
    if (is_apart(rank) || is_apart(&jobs->ranks[run->first]))
        return is_apart(rank) != is_apart(&jobs->ranks[run->first]);
    if (rank->run_index > jobs->ranks[run->first].run_index ||
        compare_names_and_runs(&jobs->ranks[run->first], rank) != 0)
        return true;
    if (rank->rank >= 0 && rank->rank < (double)run->capacity && run->ranks[(size_t)rank->rank] > 0)
        return !is_again(jobs, run, index);
    if (!isnan(rank->run_index) || isnan(rank->world_size) || rank->world_size <= 1)
        return false;
    const struct jobs_rank *before = &jobs->ranks[run->first];
    return strcmp(before->boot_id, rank->boot_id) == 0 && rank->boot_id[0] &&
           jobs_is_much_later(rank, before);
}

/* Adds a job, or the next run of one. */
static void begin_job(struct gput_jobs *jobs, struct run *run, size_t index, const char *name)
{
    bool is_next = jobs->n_jobs > 0 && strcmp(run->name, name) == 0;
    run->number = is_next ? run->number + 1 : 0;
    run->first = index;
    run->end = NAN;
    text_fit(run->name, sizeof run->name, "%s", name);
    if (run->ranks)
        memset(run->ranks, 0, run->capacity * sizeof *run->ranks);
    if (!ARRAY_EXTEND(jobs->jobs, jobs->n_jobs)) {
        jobs->failed = true;
        return;
    }
    struct jobs_job *job = &jobs->jobs[jobs->n_jobs++];
    *job = (struct jobs_job){.first = index, .is_next_run = is_next};
    if (run->number > 0 && is_apart(&jobs->ranks[index]))
        text_fit(job->name, sizeof job->name, "%s, sessions without a rank", name);
    else if (run->number > 0)
        text_fit(job->name, sizeof job->name, "%s, run %zu", name, run->number + 1);
    else
        text_fit(job->name, sizeof job->name, "%s", name);
}

/* Makes a job for each name and run of the sorted sessions. */
static void split_into_jobs(struct gput_jobs *jobs)
{
    struct run run = {0};
    char name[160];
    for (size_t i = 0; i < jobs->n_ranks && !jobs->failed; i++) {
        struct jobs_rank *rank = &jobs->ranks[i];
        const char *element = element_of(rank);
        name_job(rank, name, sizeof name);
        if (element)
            rank->rank = strtod(element + 1, NULL);
        if (jobs->n_jobs == 0 || strcmp(name, run.name) != 0 || is_later_run(jobs, &run, i))
            begin_job(jobs, &run, i, name);
        if (jobs->failed)
            break;
        note_rank(jobs, &run, i);
        rank->job = jobs->n_jobs - 1;
        jobs->jobs[rank->job].count++;
        jobs->jobs[rank->job].is_array |= element != NULL;
        jobs->jobs[rank->job].are_independent |= element || jobs_is_task(rank);
        jobs->jobs[rank->job].has_tasks |= jobs_is_task(rank);
        jobs->jobs[rank->job].has_ranks |= !isnan(rank->rank) || rank->ranks[0];
    }
    free(run.ranks);
}

/* ---- Machines ---- */

/* Orders sessions by job, machine and rank. */
static int compare_machines(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY(a->job, b->job);
    ORDER_BY_TEXT(a->node, b->node);
    ORDER_BY_TEXT(a->boot_id, b->boot_id);
    ORDER_BY_RESULT(jobs_compare_numbers(a->rank, b->rank));
    return strcmp(a->path, b->path);
}

/* Makes machines of the sorted sessions of each job. */
static void split_into_machines(struct gput_jobs *jobs)
{
    for (size_t i = 0; i < jobs->n_ranks && !jobs->failed; i++) {
        struct jobs_rank *rank = &jobs->ranks[i];
        const struct jobs_rank *before = i > 0 ? &jobs->ranks[i - 1] : NULL;
        if (!before || before->job != rank->job || strcmp(before->node, rank->node) != 0 ||
            strcmp(before->boot_id, rank->boot_id) != 0) {
            if (!ARRAY_EXTEND(jobs->machines, jobs->n_machines)) {
                jobs->failed = true;
                return;
            }
            jobs->machines[jobs->n_machines++] =
                (struct jobs_machine){.job = rank->job, .first = i};
            if (jobs->jobs[rank->job].n_machines++ == 0)
                jobs->jobs[rank->job].first_machine = jobs->n_machines - 1;
        }
        rank->machine = jobs->n_machines - 1;
        jobs->machines[rank->machine].count++;
    }
}

/* True where a session has several ranks, as in `gpu-tracker run -- mpirun …`. */
static bool has_sessions_of_ranks(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    for (size_t i = job->first; i < job->first + job->count; i++) {
        if (jobs->ranks[i].ranks[0])
            return true;
    }
    return false;
}

/* Numbers the ranks in `machine`, so that GPUs find theirs after sorting. Returns the map from
 * numbers to merged ranks. */
static size_t *number_ranks(struct gput_jobs *jobs)
{
    size_t *alias = calloc(jobs->n_ranks + 1, sizeof *alias);
    jobs->failed |= !alias;
    for (size_t i = 0; alias && i < jobs->n_ranks; i++)
        alias[i] = jobs->ranks[i].machine = i;
    return alias;
}

static int compare_ranks_of_gpus(const void *left, const void *right)
{
    const struct jobs_gpu *a = left, *b = right;
    ORDER_BY(a->rank, b->rank);
    return ORDER(a->position, b->position);
}

/* Sets the rank of each GPU to its place after sorting. GPUs of sessions that were left out are
 * removed. */
static void move_gpus(struct gput_jobs *jobs, const size_t *alias, size_t n_numbers)
{
    size_t kept = 0, *places = calloc(n_numbers + 1, sizeof *places);
    jobs->failed |= !places;
    if (!places)
        return;
    for (size_t i = 0; i < n_numbers; i++)
        places[i] = JOBS_NO_RANK;
    for (size_t i = 0; i < jobs->n_ranks; i++)
        places[jobs->ranks[i].machine] = i;
    for (size_t i = 0; i < jobs->n_gpus; i++) {
        jobs->gpus[kept] = jobs->gpus[i];
        jobs->gpus[kept].rank = places[alias[jobs->gpus[i].rank]];
        jobs->gpus[kept].position = i;
        kept += jobs->gpus[kept].rank != JOBS_NO_RANK;
    }
    jobs->n_gpus = kept;
    if (jobs->n_gpus > 1)
        qsort(jobs->gpus, jobs->n_gpus, sizeof *jobs->gpus, compare_ranks_of_gpus);
    free(places);
}

/* ---- As people count ---- */

/* Orders tasks by their numbers, 2 before 10; sessions without one by their starts. */
static int compare_for_people(const void *left, const void *right)
{
    const struct jobs_rank *a = *(const struct jobs_rank *const *)left;
    const struct jobs_rank *b = *(const struct jobs_rank *const *)right;
    ORDER_BY(a->job, b->job);
    ORDER_BY_RESULT(jobs_compare_numbers(a->rank, b->rank));
    ORDER_BY_RESULT(jobs_compare_numbers(strtod(a->task, NULL), strtod(b->task, NULL)));
    ORDER_BY_RESULT(jobs_compare_numbers(strtod(a->ranks, NULL), strtod(b->ranks, NULL)));
    ORDER_BY_RESULT(jobs_compare_numbers(a->start, b->start));
    return strcmp(a->path, b->path);
}

/* True where all sessions ran at one moment, as ranks do; always true for one session. */
static bool ran_together(const struct gput_jobs *jobs, size_t first, size_t count)
{
    double last_start = NAN, first_end = NAN;
    for (size_t i = first; i < first + count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        last_start = fmax(last_start, rank->start);
        first_end = fmin(first_end, rank->start + rank->seconds);
    }
    return !(last_start >= first_end);
}

/* True where only their folder groups the sessions: no launcher gave them a rank or a task, and
 * they did not run together. */
static bool is_list(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    if (job->is_array || job->has_tasks || job->count == 0)
        return false;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank->launcher[0] || rank->ranks[0] || !isnan(rank->world_size))
            return false;
    }
    return job->count == 1 ? !job->has_ranks : !ran_together(jobs, job->first, job->count);
}

/* Sets the range of ranks of each job, and what they are called. */
static void describe_jobs(struct gput_jobs *jobs)
{
    size_t first = 0;
    for (size_t i = 0; i < jobs->n_jobs; i++) {
        struct jobs_job *job = &jobs->jobs[i];
        job->first = first;
        job->is_list = is_list(jobs, job);
        for (size_t k = first; job->is_list && k < first + job->count; k++)
            jobs->ranks[k].rank = NAN; /* it was only a number in the name of its file */
        job->has_ranks &= !job->is_list;
        job->noun = job->is_list     ? "session"
                    : job->is_array  ? "element"
                    : job->has_tasks ? "task"
                    : job->has_ranks ? "rank"
                                     : "session";
        job->session_noun = has_sessions_of_ranks(jobs, job) ? "session" : job->noun;
        /* Steps of a workflow do not wait for each other. */
        job->are_independent |=
            strcmp(job->noun, "session") == 0 && !jobs->ranks[first].launcher[0];
        if (jobs_runs_pods_in_sequence(jobs, job))
            job->is_array = job->are_independent = true;
        first += job->count;
    }
}

void jobs_sort(struct gput_jobs *jobs)
{
    size_t n_numbers = jobs->n_ranks, *alias = number_ranks(jobs);
    if (!alias)
        return;
    jobs_unite_files(jobs, alias);
    jobs_leave_out_nested(jobs);
    jobs_drop_empty(jobs);
    jobs_sort_ranks(jobs, compare_runs);

    for (size_t first = 0, end; first < jobs->n_ranks; first = end) {
        for (end = first + 1;
             end < jobs->n_ranks && compare_names(&jobs->ranks[first], &jobs->ranks[end]) == 0;)
            end++;
        find_runs(&jobs->ranks[first], end - first);
    }

    /* Give sessions of one job their runs. */
    struct jobs_rank *ranks = jobs->ranks;
    for (size_t first = 0, end; first < jobs->n_ranks; first = end) {
        for (end = first + 1;
             end < jobs->n_ranks && compare_names_and_runs(&ranks[first], &ranks[end]) == 0;)
            end++;
        jobs_index_runs(jobs, &ranks[first], end - first);
    }

    jobs_sort_ranks(jobs, compare_jobs);
    split_into_jobs(jobs);
    jobs_sort_ranks(jobs, compare_machines);
    move_gpus(jobs, alias, n_numbers);
    free(alias);
    describe_jobs(jobs);
    split_into_machines(jobs);

    /* Copy the names, boot ids and clock states of machines from their sessions. */
    for (size_t i = 0; i < jobs->n_machines; i++) {
        const struct jobs_rank *rank = &jobs->ranks[jobs->machines[i].first];
        jobs->machines[i].name = rank->node;
        jobs->machines[i].boot_id = rank->boot_id;
        jobs->machines[i].kernel_clock = rank->clock;
    }

    jobs_find_runs_at_once(jobs);

    jobs->order = calloc(jobs->n_ranks + 1, sizeof *jobs->order);
    jobs->failed |= !jobs->order;
    for (size_t i = 0; jobs->order && i < jobs->n_ranks; i++)
        jobs->order[i] = &jobs->ranks[i];
    if (jobs->order)
        qsort(jobs->order, jobs->n_ranks, sizeof *jobs->order, compare_for_people);
}
