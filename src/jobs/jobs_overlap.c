/* What ranks of one machine had at the same time, and one after the other. */
#include "jobs/jobs.h"

#include <math.h>
#include <stdlib.h>

static int compare_starts(const void *left, const void *right)
{
    const struct jobs_span *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
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
    double sum = NAN, highest = NAN, end = -INFINITY;
    qsort(spans, count, sizeof *spans, compare_starts);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && spans[i].start >= end) {
            jobs_add(&sum, highest);
            highest = NAN;
        }
        highest = fmax(highest, spans[i].value);
        end = fmax(end, spans[i].end);
    }
    jobs_add(&sum, highest);
    return sum;
}
