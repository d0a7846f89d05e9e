#include "base/spans.h"

#include "base/number.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

/* Orders spans by start; of those that start together the longest comes first. */
static int compare_starts(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    ORDER_BY(a->start, b->start);
    return ORDER(b->end, a->end);
}

/* Orders changes by time. An end counts below 0, and precedes a start at the same moment. */
static int compare_changes(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    ORDER_BY(a->start, b->start);
    return ORDER(a->value, b->value);
}

double spans_highest_at_once(struct span *spans, size_t count)
{
    double sum = 0, highest = NAN;
    size_t n_changes = 0;
    for (size_t i = 0; i < count; i++) {
        struct span span = spans[i];
        if (isnan(span.value))
            continue;
        span.end = fmax(span.end, nextafter(span.start, INFINITY));
        spans[n_changes++] = span;
    }
    for (size_t i = 0, n_known = n_changes; i < n_known; i++)
        spans[n_changes++] = (struct span){.start = spans[i].end, .value = -spans[i].value};
    qsort(spans, n_changes, sizeof *spans, compare_changes);
    for (size_t i = 0; i < n_changes; i++) {
        sum += spans[i].value;
        highest = i + 1 < n_changes ? fmax(highest, sum) : highest; /* the last one is an end */
    }
    return highest;
}

double spans_sum_covered_once(struct span *spans, size_t count)
{
    double sum = NAN, always = NAN, at_once = NAN, read_until = -INFINITY;
    qsort(spans, count, sizeof *spans, compare_starts);
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
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

double spans_covered_seconds(struct span *spans, size_t count)
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
