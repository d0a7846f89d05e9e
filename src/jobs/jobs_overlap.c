/* What ranks of one machine had at the same time, and one after the other. */
#include "jobs/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of those that start together, the shortest first. */
static int compare_starts(const void *left, const void *right)
{
    const struct jobs_span *a = left, *b = right;
    int order = (a->start > b->start) - (a->start < b->start);
    return order ? order : (a->end < b->end) - (a->end > b->end);
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

double jobs_highest_at_once(struct jobs_span *spans, size_t count)
{
    double highest = NAN;
    qsort(spans, count, sizeof *spans, compare_starts);
    for (size_t i = 0; i < count; i++) {
        double sum = NAN;
        for (size_t k = 0; k < count && spans[k].start <= spans[i].start; k++) {
            if (k == i || spans[k].end > spans[i].start)
                jobs_add(&sum, spans[k].value);
        }
        highest = fmax(highest, sum);
    }
    return highest;
}

double jobs_sum_in_turns(struct jobs_span *spans, size_t count)
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
            jobs_add(&sum, at_once);
            at_once = span->value;
        } else if (later > 0) {
            part = span->value * later / seconds;
        }
        jobs_add(&at_once, part);
        at_once = fmax(at_once, span->value); /* no less than each of them read */
        read_until = fmax(read_until, span->end);
    }
    jobs_add(&sum, at_once);
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

bool jobs_takes_turns(const struct gput_jobs *jobs, const struct jobs_job *job)
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
