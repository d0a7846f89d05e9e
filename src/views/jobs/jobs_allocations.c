/*
 * Everything that ran in one job of a scheduler: its steps together, the time between them, and
 * what to request next time.
 */
#include "views/jobs/jobs.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "base/number.h"
#include "base/order.h"
#include "base/text.h"
#include "model/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shorter allocations give no advice. */
#define SHORT_SECONDS 10.0
/* A lower request is suggested below this part of the allocation. */
#define ASK_LESS_PART 0.75

/* Orders sessions by their machine. */
static int by_node(const void *left, const void *right)
{
    const struct jobs_rank *a = *(const struct jobs_rank *const *)left;
    const struct jobs_rank *b = *(const struct jobs_rank *const *)right;
    ORDER_BY_TEXT(a->node, b->node);
    ORDER_BY_TEXT(a->boot_id, b->boot_id);
    return ORDER(a, b);
}

/* Adds up what the sessions of one machine used at one moment, and what they were allowed. */
static void add_node(struct gput_jobs *jobs, struct jobs_allocation *allocation,
    const struct jobs_rank **ranks, size_t count)
{
    CLEANUP_FREE struct span *spans = calloc(2 * count, sizeof *spans);
    double cores = NAN, allowed = NAN;
    jobs->failed |= !spans;
    if (!spans)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct jobs_machine *machine = &jobs->machines[ranks[i]->machine];
        spans[i] = jobs_span_of(ranks[i], ranks[i]->ram_of_limit_bytes);
        cores = fmax(cores, machine->cores);
        allowed = fmax(allowed, machine->allowed_ram_bytes);
    }
    double ram = spans_highest_at_once(spans, count), percent = 100 * ram / allowed;
    allocation->n_machines++;
    number_add_known(&allocation->cores, cores);
    if (percent > allocation->ram_percent || isnan(allocation->ram_percent)) {
        allocation->ram_percent = percent;
        allocation->allowed_ram_bytes = allowed;
    }
    if (!(ram <= allocation->machine_ram_bytes) && !isnan(ram)) {
        allocation->machine_ram_bytes = ram;
        allocation->fullest = ranks[0]->node;
    }
}

/* Adds up the sessions of an allocation, machine by machine. */
static void add_sessions(struct gput_jobs *jobs, struct jobs_allocation *allocation)
{
    const struct jobs_job *first = &jobs->jobs[allocation->first_job];
    const struct jobs_job *last = first + allocation->n_jobs - 1;
    size_t count = last->first + last->count - first->first;
    CLEANUP_FREE const struct jobs_rank **ranks = calloc(count + 1, sizeof *ranks);
    CLEANUP_FREE struct span *spans = calloc(2 * count + 1, sizeof *spans);
    double end = NAN;
    jobs->failed |= !ranks || !spans;
    if (!ranks || !spans)
        return;
    allocation->n_sessions = count;
    bool has_all_cpu = true;
    for (size_t i = 0; i < count; i++) {
        const struct jobs_rank *rank = ranks[i] = &jobs->ranks[first->first + i];
        spans[i] = jobs_span_of(rank, NAN);
        allocation->has_no_times |=
            isnan(rank->start + rank->seconds) || jobs->machines[rank->machine].clock_is_doubtful;
        allocation->start = fmin(allocation->start, rank->start);
        end = fmax(end, rank->start + rank->seconds);
        number_add_known(&allocation->cpu_seconds, rank->cpu_seconds);
        has_all_cpu &= !isnan(rank->cpu_seconds) || rank->seconds == 0;
        allocation->max_busy_cores = fmax(allocation->max_busy_cores, rank->busy_cores);
        allocation->share_cores = fmax(allocation->share_cores, rank->share_cores);
        allocation->time_limit_seconds =
            fmax(allocation->time_limit_seconds, rank->time_limit_seconds);
        allocation->slurm_cores = fmax(allocation->slurm_cores, rank->slurm_cores);
        allocation->slurm_ram_bytes = fmax(allocation->slurm_ram_bytes, rank->slurm_ram_bytes);
        allocation->ram_is_at_least |= rank->ram_is_at_least;
        allocation->n_failed += jobs_has_failed(rank);
        allocation->n_unfinished += jobs_is_unfinished(rank);
        if (!allocation->job_name[0])
            allocation->job_name = rank->job_name;
        if (!allocation->user[0])
            allocation->user = rank->user;
    }
    allocation->seconds = allocation->has_no_times ? NAN : end - allocation->start;
    allocation->run_seconds = allocation->has_no_times ? NAN : spans_covered_seconds(spans, count);
    allocation->idle_seconds = allocation->seconds - allocation->run_seconds;
    allocation->time_percent = 100 * allocation->seconds / allocation->time_limit_seconds;

    qsort(ranks, count, sizeof *ranks, by_node);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && strcmp(ranks[next]->node, ranks[i]->node) == 0 &&
                           strcmp(ranks[next]->boot_id, ranks[i]->boot_id) == 0;)
            next++;
        add_node(jobs, allocation, ranks + i, next - i);
    }
    allocation->core_seconds = allocation->cores * allocation->seconds;
    if (has_all_cpu)
        allocation->efficiency_percent = 100 * allocation->cpu_seconds / allocation->core_seconds;
}

/* Suggests a request where it differs from Slurm's allocation. Runs that failed, or whose end is
 * unknown, may have needed more, so they give no advice. */
static void advise(struct gput_jobs *jobs, struct jobs_allocation *allocation)
{
    CLEANUP_STR struct str options = {0};
    CLEANUP_STR struct str evidence = {0};
    char used[HUMAN_SIZE], given[HUMAN_SIZE];
    bool is_of_slurm = !isnan(allocation->slurm_cores) || !isnan(allocation->slurm_ram_bytes);
    double ram = request_ram_bytes(allocation->machine_ram_bytes);
    double cores = request_cores(allocation->max_busy_cores);
    double seconds = request_seconds(allocation->seconds);
    if (!is_of_slurm || allocation->n_failed > 0 || allocation->n_unfinished > 0 ||
        !(allocation->seconds >= SHORT_SECONDS))
        return;
    if (allocation->ram_is_at_least || isnan(allocation->slurm_ram_bytes) ||
        (ram >= ASK_LESS_PART * allocation->slurm_ram_bytes &&
            allocation->machine_ram_bytes * (1 + REQUEST_RAM_MARGIN / 2) <=
                allocation->slurm_ram_bytes))
        ram = NAN;
    if (isnan(allocation->slurm_cores) || !(cores < ASK_LESS_PART * allocation->share_cores))
        cores = NAN;
    if (isnan(allocation->time_limit_seconds) ||
        (seconds >= ASK_LESS_PART * allocation->time_limit_seconds &&
            allocation->time_percent < 90))
        seconds = NAN;
    request_add_slurm(ram, cores, seconds, &options);
    if (options.length == 0)
        return;
    if (!isnan(ram))
        str_printf(&evidence, "; %s of %s of RAM on the fullest machine, and %.0f %%",
            human_bytes(allocation->machine_ram_bytes, used),
            human_bytes(allocation->slurm_ram_bytes, given), 100 * REQUEST_RAM_MARGIN);
    if (!isnan(cores))
        str_printf(&evidence, "; %s of %.0f cores busy on average in the busiest, and %.0f %%",
            human_cores(allocation->max_busy_cores, used), allocation->share_cores,
            100 * REQUEST_CORES_MARGIN);
    if (!isnan(seconds))
        str_printf(&evidence, "; %s of %s, and %.0f %%", human_seconds(allocation->seconds, used),
            human_seconds(allocation->time_limit_seconds, given), 100 * REQUEST_TIME_MARGIN);
    str_append(&evidence, ". From one run");
    text_fit(allocation->ask, sizeof allocation->ask, "%s", str_text(&options));
    jobs_add_finding(jobs, (double)(allocation->first_job + allocation->n_jobs - 1), "ask",
        str_text(&evidence) + 2, "Ask for %s", str_text(&options));
}

/* Adds an allocation without figures. NULL without memory. */
static struct jobs_allocation *begin(struct gput_jobs *jobs, size_t first_job, const char *job_id)
{
    if (!ARRAY_EXTEND(jobs->allocations, jobs->n_allocations)) {
        jobs->failed = true;
        return NULL;
    }
    struct jobs_allocation *allocation = &jobs->allocations[jobs->n_allocations++];
    *allocation = (struct jobs_allocation){.job_id = job_id,
        .job_name = "",
        .user = "",
        .fullest = "",
        .first_job = first_job,
        .start = NAN,
        .cpu_seconds = NAN,
        .cores = NAN,
        .efficiency_percent = NAN,
        .machine_ram_bytes = NAN,
        .allowed_ram_bytes = NAN,
        .ram_percent = NAN,
        .time_limit_seconds = NAN,
        .slurm_cores = NAN,
        .slurm_ram_bytes = NAN,
        .max_busy_cores = NAN,
        .share_cores = NAN};
    return allocation;
}

void jobs_add_allocations(struct gput_jobs *jobs)
{
    for (size_t i = 0, next; i < jobs->n_jobs && !jobs->failed; i = next) {
        const char *job_id = jobs->ranks[jobs->jobs[i].first].job_id;
        for (next = i + 1; next < jobs->n_jobs && job_id[0] &&
                           strcmp(jobs->ranks[jobs->jobs[next].first].job_id, job_id) == 0;)
            next++;
        if (!job_id[0] || jobs->jobs[i].is_array)
            continue;
        struct jobs_allocation *allocation = begin(jobs, i, job_id);
        if (!allocation)
            return;
        allocation->n_jobs = next - i;
        for (size_t k = i; k < next; k++)
            jobs->jobs[k].allocation = jobs->n_allocations;
        add_sessions(jobs, allocation);
        if (jobs->failed)
            return;

        /* Find jobs whose allocation was idle between their steps. */
        char idle[HUMAN_SIZE], all[HUMAN_SIZE], share[HUMAN_SIZE], evidence[160];
        if (!(allocation->n_jobs < 2) && allocation->idle_seconds > SHORT_SECONDS &&
            !(allocation->idle_seconds < 0.1 * allocation->seconds)) {
            text_fit(evidence, sizeof evidence, "%s of %s, from the first start to the last end",
                human_seconds(allocation->idle_seconds, idle),
                human_seconds(allocation->seconds, all));
            jobs_add_finding(jobs, (double)(allocation->first_job + allocation->n_jobs - 1),
                "idle_time", evidence, "Nothing that was tracked ran for %s of the time of job %s",
                human_share(100 * allocation->idle_seconds / allocation->seconds, share),
                allocation->job_id);
        }

        advise(jobs, allocation);
    }
}
