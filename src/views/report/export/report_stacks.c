#include "views/report/export/report_stacks.h"

#include "base/array.h"
#include "base/order.h"
#include "views/report/document/report_column_reader.h"

#include <math.h>
#include <stdlib.h>

/* A call, and the stack of its thread that it is in. */
struct stack_call {
    double start, stop; /* stop >= start */
    int64_t thread;
    uint32_t process, name;
    uint32_t stack; /* of the thread, from 0 */
};

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

/* Walks the calls and their ends in the order of time. False without memory. */
static bool split_calls(struct split *split, size_t count)
{
    for (size_t i = 0, ended = 0; i < count; i++) {
        for (; ended < count && split->ends[ended].at <= split->calls[i].start; ended++)
            if (split->ends[ended].call < i) {
                /* Close what has stopped by then on a stack. */
                size_t stack = split->calls[split->ends[ended].call].stack;
                size_t top = split->tops[stack];
                while (top != NONE && split->calls[top].stop <= split->calls[i].start)
                    top = split->below[top];
                if (top != split->tops[stack])
                    set_top(split, stack, top);
            }
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

/*
 * Sets the stacks of a thread's calls, which come in order of their starts, of equal starts the
 * longer first. A call goes onto the first stack in which it is nested. One that stops up to a
 * microsecond after the call around it, as rounded times do, is made to stop with that. Takes
 * O(n log n). False without memory.
 */
static bool split_overlaps(struct stack_call *calls, size_t count)
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

struct stacks {
    struct stack_call *calls; /* owned */
    size_t count;
    double begin, end; /* of all that is known of the session */
};

enum { START, STOP, NAME, PROCESS, THREAD, COLUMNS };

int report_stacks_check(const struct report_payload *payload, struct gput_error *error)
{
    const struct doc *session = doc_get(payload->root, "sessions")->first;
    for (; session; session = session->next)
        if (doc_get(session, "calls"))
            return GPUT_OK;
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "There are no code blocks and no slices of a trace: nothing to make stacks of. --stf names "
        "a "
        "sub-tracking file.");
}

/* ---- Reading ---- */

/* Reads the calls of a session; those that have not ended end with it. */
static int read_calls(const struct report_payload *payload, const struct doc *calls,
    struct report_column_reader readers[COLUMNS], struct stacks *stacks, struct gput_error *error)
{
    static const char *const keys[COLUMNS] = {"start", "stop", "name", "process", "thread"};
    for (int i = 0; i < COLUMNS; i++)
        TRY(report_column_reader_init(&readers[i], payload, doc_get(calls, keys[i]), error));
    uint64_t count = readers[START].count;
    stacks->calls = malloc((size_t)(count + 1) * sizeof *stacks->calls);
    if (!stacks->calls)
        return error_memory(error);
    for (uint64_t i = 0; i < count; i++) {
        double values[COLUMNS];
        for (int k = 0; k < COLUMNS; k++)
            TRY(report_column_reader_next(&readers[k], &values[k], error));
        stacks->calls[stacks->count++] = (struct stack_call){
            .start = values[START],
            .stop = values[STOP],
            .name = values[NAME] >= 0 ? (uint32_t)values[NAME] : 0,
            .process = values[PROCESS] >= 0 ? (uint32_t)values[PROCESS] : 0,
            .thread = isnan(values[THREAD]) ? 0 : (int64_t)values[THREAD],
        };
        stacks->begin = fmin(stacks->begin, values[START]);
        stacks->end = fmax(stacks->end, values[START]);
        stacks->end = fmax(stacks->end, values[STOP]); /* fmax() ignores a missing one */
    }
    for (size_t i = 0; i < stacks->count; i++) {
        struct stack_call *call = &stacks->calls[i];
        call->stop = fmax(isnan(call->stop) ? stacks->end : call->stop, call->start);
    }
    return GPUT_OK;
}

/* Orders calls by thread and stack, then as brackets open. */
static int compare(const void *left, const void *right)
{
    const struct stack_call *a = left, *b = right;
    ORDER_BY(a->process, b->process);
    ORDER_BY(a->thread, b->thread);
    ORDER_BY(a->stack, b->stack);
    ORDER_BY(a->start, b->start);
    return ORDER(b->stop, a->stop); /* the outer one first */
}

/* ---- Walking ---- */

struct walk {
    const struct report_stack_visitor *visitor;
    const struct doc *process; /* of the last stack; the one after it is never far */
    uint32_t process_number;
    const struct stack_call **open; /* owned */
    size_t depth, capacity;
};

/* Closes the calls that stopped by then. */
static int close_until(struct walk *walk, double until, struct gput_error *error)
{
    for (; walk->depth > 0 && walk->open[walk->depth - 1]->stop <= until; walk->depth--) {
        const struct stack_call *call = walk->open[walk->depth - 1];
        TRY(walk->visitor->call(walk->visitor->user, false, call->name, call->stop, error));
    }
    return GPUT_OK;
}

/* The label of a process. Stacks are sorted by process, so the list is walked once. */
static const char *label_of(struct walk *walk, uint32_t process)
{
    for (; walk->process && walk->process_number < process; walk->process_number++)
        walk->process = walk->process->next;
    return doc_get_string(walk->process, "label");
}

/* The calls of one stack of a thread. */
static int walk_stack(struct walk *walk, const struct stacks *stacks,
    const struct stack_call *first, size_t count, struct gput_error *error)
{
    const struct report_stack_visitor *visitor = walk->visitor;
    const struct report_stack stack = {
        label_of(walk, first->process), first->thread, first->stack, stacks->begin, stacks->end};
    TRY(visitor->begin(visitor->user, &stack, error));
    for (size_t i = 0; i < count; i++) {
        TRY(close_until(walk, first[i].start, error));
        if (!ARRAY_RESERVE(walk->open, walk->depth, walk->capacity))
            return error_memory(error);
        walk->open[walk->depth++] = &first[i];
        TRY(walk->visitor->call(walk->visitor->user, true, first[i].name, first[i].start, error));
    }
    TRY(close_until(walk, INFINITY, error));
    return visitor->end(visitor->user, error);
}

/* How many of the calls from there on are of the same thread and stack. */
static size_t run_length(const struct stacks *stacks, size_t first)
{
    const struct stack_call *one = &stacks->calls[first];
    size_t next = first + 1;
    while (next < stacks->count && stacks->calls[next].process == one->process &&
           stacks->calls[next].thread == one->thread && stacks->calls[next].stack == one->stack)
        next++;
    return next - first;
}

/* Walks all stacks, one after the other. */
static int walk_all(const struct stacks *stacks, const struct doc *calls,
    const struct report_stack_visitor *visitor, struct gput_error *error)
{
    const struct doc *processes = doc_get(calls, "processes");
    struct walk walk = {.visitor = visitor, .process = processes ? processes->first : NULL};
    int code = GPUT_OK;
    for (size_t first = 0, count; code == GPUT_OK && first < stacks->count; first += count) {
        count = run_length(stacks, first);
        code = walk_stack(&walk, stacks, &stacks->calls[first], count, error);
    }
    free(walk.open);
    return code;
}

/* Puts the calls in order: by thread, by stack, and as brackets there. */
static int sort_calls(struct stacks *stacks, struct gput_error *error)
{
    qsort(stacks->calls, stacks->count, sizeof *stacks->calls, compare);
    for (size_t first = 0, count; first < stacks->count; first += count) {
        count = run_length(stacks, first);
        if (!split_overlaps(&stacks->calls[first], count))
            return error_memory(error);
    }
    qsort(stacks->calls, stacks->count, sizeof *stacks->calls, compare);
    return GPUT_OK;
}

int report_stacks_walk(const struct report_payload *payload, const struct doc *session,
    const struct report_stack_visitor *visitor, struct gput_error *error)
{
    const struct doc *calls = doc_get(session, "calls"), *identity = doc_get(session, "identity");
    const struct doc *end = doc_get(identity, "end_s");
    if (identity && !end)
        end = doc_get(identity, "seconds");
    struct report_column_reader readers[COLUMNS] = {0};
    struct stacks stacks = {.end = end && end->kind == DOC_DOUBLE ? end->number : 0};
    if (!calls)
        return GPUT_OK;
    int code = read_calls(payload, calls, readers, &stacks, error);
    for (int i = 0; i < COLUMNS; i++)
        report_column_reader_finish(&readers[i]);
    if (code == GPUT_OK)
        code = sort_calls(&stacks, error);
    if (code == GPUT_OK)
        code = walk_all(&stacks, calls, visitor, error);
    free(stacks.calls);
    return code;
}
