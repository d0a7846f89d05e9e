/* What ranks of one machine had at the same time, and one after the other. */
#include "views/jobs/jobs.h"

#include "base/number.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of those that start together, the longest first. */
static int compare_starts(const void *left, const void *right)
{
    const struct jobs_span *a = left, *b = right;
    ORDER_BY(a->start, b->start);
    return ORDER(b->end, a->end);
}

struct jobs_span jobs_span_of(const struct jobs_rank *rank, double value)
{
    struct jobs_span span = {rank->start, rank->start + rank->seconds, value};
    if (isnan(span.end)) {
        span.start = -INFINITY;
        span.end = INFINITY;
    }
    return span;
}

/* What ends at a moment counts below 0, and comes before what starts then. */
static int compare_changes(const void *left, const void *right)
{
    const struct jobs_span *a = left, *b = right;
    ORDER_BY(a->start, b->start);
    return ORDER(a->value, b->value);
}

double jobs_highest_at_once(struct jobs_span *spans, size_t count)
{
    double sum = 0, highest = NAN;
    size_t n_changes = 0;
    for (size_t i = 0; i < count; i++) {
        struct jobs_span span = spans[i];
        if (isnan(span.value))
            continue;
        span.end = fmax(span.end, nextafter(span.start, INFINITY));
        spans[n_changes++] = span;
    }
    for (size_t i = 0, n_known = n_changes; i < n_known; i++)
        spans[n_changes++] = (struct jobs_span){.start = spans[i].end, .value = -spans[i].value};
    qsort(spans, n_changes, sizeof *spans, compare_changes);
    for (size_t i = 0; i < n_changes; i++) {
        sum += spans[i].value;
        highest = i + 1 < n_changes ? fmax(highest, sum) : highest; /* the last one is an end */
    }
    return highest;
}

double jobs_sum_covered_once(struct jobs_span *spans, size_t count)
{
    double sum = NAN, always = NAN, at_once = NAN, read_until = -INFINITY;
    qsort(spans, count, sizeof *spans, compare_starts);
    for (size_t i = 0; i < count; i++) {
        const struct jobs_span *span = &spans[i];
        double seconds = span->end - span->start, later = span->end - read_until, part = NAN;
        if (isinf(span->end)) {
            always = fmax(always, span->value);
            continue;
        }
        if (isnan(span->value))
            continue;
        if (span->start >= read_until) {
            number_add_known(&sum, at_once);
            at_once = span->value;
        } else if (later > 0) {
            part = span->value * later / seconds;
        }
        number_add_known(&at_once, part);
        at_once = fmax(at_once, span->value); /* no less than each of them read */
        read_until = fmax(read_until, span->end);
    }
    number_add_known(&sum, at_once);
    return fmax(sum, always);
}

double jobs_covered_seconds(struct jobs_span *spans, size_t count)
{
    double sum = 0, until = -INFINITY;
    qsort(spans, count, sizeof *spans, compare_starts);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].end > until) {
            sum += spans[i].end - fmax(spans[i].start, until);
            until = spans[i].end;
        }
    }
    return sum;
}

/* Started again by torchrun, ranks can be fewer. */
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
            earlier->is_at_once = later->is_at_once = true;
    }
}
