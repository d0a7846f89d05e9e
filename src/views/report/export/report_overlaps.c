#include "views/report/export/report_overlaps.h"

#include "base/array.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING_S 1e-6
#define NONE SIZE_MAX

struct end {
    double at;
    size_t call;
};

struct split {
    struct stack_call *calls;
    struct end *ends; /* of the calls, in order of time; owned */
    size_t *below;    /* of each call, the one that is open below it; owned */
    size_t *tops;     /* of each stack, the call that is open; owned */
    double *latest; /* a tree over the stacks: when the top stops, the latest below a node; owned */
    size_t stacks, leaves;
};

/* ---- The stacks ---- */

/* NONE: nothing is open, any call is nested in it. */
static void set_top(struct split *split, size_t stack, size_t call)
{
    double *latest = split->latest;
    size_t i = split->leaves + stack;
    split->tops[stack] = call;
    latest[i] = call == NONE ? INFINITY : split->calls[call].stop;
    while (i /= 2)
        latest[i] = fmax(latest[2 * i], latest[2 * i + 1]);
}

/* Doubles the number of stacks. False without memory. */
static bool grow(struct split *split)
{
    size_t leaves = split->leaves ? split->leaves * 2 : 1;
    if (!ARRAY_RESIZE(split->tops, leaves) || !ARRAY_RESIZE(split->latest, 2 * leaves))
        return false;
    split->leaves = leaves;
    for (size_t i = 0; i < 2 * leaves; i++)
        split->latest[i] = -INFINITY;
    for (size_t i = 0; i < split->stacks; i++)
        set_top(split, i, split->tops[i]);
    return true;
}

/* The first stack on which a call is nested that stops then, else a new one. NONE without memory.
 */
static size_t stack_for(struct split *split, double stop)
{
    if (split->stacks == 0 || split->latest[1] < stop) {
        if (split->stacks == split->leaves && !grow(split))
            return NONE;
        set_top(split, split->stacks, NONE);
        return split->stacks++;
    }
    size_t i = 1;
    while (i < split->leaves)
        i = 2 * i + (split->latest[2 * i] < stop);
    return i - split->leaves;
}

/* ---- Walking over time ---- */

/* Closes what has stopped by then on a stack. */
static void close_stopped(struct split *split, size_t stack, double now)
{
    size_t top = split->tops[stack];
    while (top != NONE && split->calls[top].stop <= now)
        top = split->below[top];
    if (top != split->tops[stack])
        set_top(split, stack, top);
}

/* Puts a call on the stack that it fits into. False without memory. */
static bool open_call(struct split *split, size_t number)
{
    struct stack_call *call = &split->calls[number];
    size_t stack = stack_for(split, call->stop - ROUNDING_S);
    if (stack == NONE)
        return false;
    size_t top = split->tops[stack];
    if (top != NONE)
        call->stop = fmin(call->stop, split->calls[top].stop);
    call->stack = (uint32_t)stack;
    split->below[number] = top;
    if (call->stop > call->start)
        set_top(split, stack, number);
    return true;
}

static bool split_calls(struct split *split, size_t count)
{
    for (size_t i = 0, ended = 0; i < count; i++) {
        for (; ended < count && split->ends[ended].at <= split->calls[i].start; ended++)
            if (split->ends[ended].call < i)
                close_stopped(
                    split, split->calls[split->ends[ended].call].stack, split->calls[i].start);
        if (!open_call(split, i))
            return false;
    }
    return true;
}

static int by_time(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    return ORDER(a->at, b->at);
}

bool report_overlaps_split(struct stack_call *calls, size_t count)
{
    struct split split = {.calls = calls,
        .ends = malloc((count + 1) * sizeof *split.ends),
        .below = malloc((count + 1) * sizeof *split.below)};
    bool done = split.ends && split.below;
    if (done) {
        for (size_t i = 0; i < count; i++)
            split.ends[i] = (struct end){calls[i].stop, i};
        qsort(split.ends, count, sizeof *split.ends, by_time);
        done = split_calls(&split, count);
    }
    free(split.ends);
    free(split.below);
    free(split.tops);
    free(split.latest);
    return done;
}
