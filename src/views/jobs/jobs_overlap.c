/* Which sessions ran at the same time, and which one after the other. */
#include "views/jobs/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct span jobs_span_of(const struct jobs_rank *rank, double value)
{
    struct span span = {rank->start, rank->start + rank->seconds, value};
    if (isnan(span.end)) {
        span.start = -INFINITY;
        span.end = INFINITY;
    }
    return span;
}

/* True where the world size identifies a run. Ranks that torchrun restarted can be fewer. */
static bool has_run_size(const struct jobs_rank *rank)
{
    return rank->world_size > 0 && !(rank->restarts > 0) && !jobs_is_task(rank);
}

void jobs_find_run_sizes(struct jobs_rank *ranks, size_t count)
{
    const struct jobs_rank *last = NULL; /* the one that ended last so far */
    bool are_at_once = false;
    for (size_t i = 0; i < count; i++) {
        const struct jobs_rank *rank = &ranks[i];
        double end = rank->start + rank->seconds;
        if (!has_run_size(rank) || isnan(end))
            continue;
        are_at_once |= last && rank->world_size != last->world_size &&
                       rank->start < last->start + last->seconds;
        if (!last || end > last->start + last->seconds)
            last = rank;
    }
    for (size_t i = 0; i < count && are_at_once; i++)
        ranks[i].run_size = has_run_size(&ranks[i]) ? ranks[i].world_size : 0;
}

bool jobs_runs_pods_in_sequence(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    double last_start = NAN, first_end = NAN;
    if (strcmp(jobs->ranks[job->first].launcher, "Kubernetes") != 0)
        return false;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        last_start = fmax(last_start, rank->start);
        if (!rank->is_retried)
            first_end = fmin(first_end, rank->start + rank->seconds);
    }
    return last_start > first_end;
}

static bool have_no_runs(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    return job->has_ranks && !job->are_independent && jobs->ranks[job->first].world_size > 1 &&
           !jobs->ranks[job->first].run[0];
}

static double first_start(const struct gput_jobs *jobs, const struct jobs_machine *machine)
{
    double start = NAN;
    for (size_t i = machine->first; i < machine->first + machine->count; i++)
        start = fmin(start, jobs->ranks[i].start);
    return start;
}

static double last_end(const struct gput_jobs *jobs, const struct jobs_machine *machine)
{
    double end = NAN;
    for (size_t i = machine->first; i < machine->first + machine->count; i++)
        end = fmax(end, jobs->ranks[i].start + jobs->ranks[i].seconds);
    return end;
}

/* True where two runs were on one machine at the same time. */
static bool are_at_once(
    const struct gput_jobs *jobs, const struct jobs_job *earlier, const struct jobs_job *later)
{
    for (size_t i = later->first_machine; i < later->first_machine + later->n_machines; i++) {
        const struct jobs_machine *own = &jobs->machines[i];
        for (size_t k = 0; k < earlier->n_machines; k++) {
            const struct jobs_machine *other = &jobs->machines[earlier->first_machine + k];
            if (strcmp(own->boot_id, other->boot_id) == 0 &&
                first_start(jobs, own) < last_end(jobs, other))
                return true;
        }
    }
    return false;
}

void jobs_find_runs_at_once(struct gput_jobs *jobs)
{
    for (size_t i = 1; i < jobs->n_jobs; i++) {
        struct jobs_job *later = &jobs->jobs[i], *earlier = later - 1;
        if (later->is_next_run && have_no_runs(jobs, earlier) && have_no_runs(jobs, later) &&
            jobs->ranks[earlier->first].world_size == jobs->ranks[later->first].world_size &&
            are_at_once(jobs, earlier, later))
            earlier->overlaps_another_run = later->overlaps_another_run = true;
    }
}
