#include "views/report/export/report_stacks.h"

#include "base/array.h"
#include "base/order.h"
#include "views/report/document/report_column_reader.h"
#include "views/report/export/report_overlaps.h"

#include <math.h>
#include <stdlib.h>

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
        "There are no code blocks and no events: nothing to make stacks of. --stf names a "
        "sub-tracking file.");
}

/* ---- Reading ---- */

static int read_call(
    struct report_column_reader readers[COLUMNS], struct stacks *stacks, struct gput_error *error)
{
    double values[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        TRY(report_column_reader_next(&readers[i], &values[i], error));
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
    return GPUT_OK;
}

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
    for (uint64_t i = 0; i < count; i++)
        TRY(read_call(readers, stacks, error));
    for (size_t i = 0; i < stacks->count; i++) {
        struct stack_call *call = &stacks->calls[i];
        call->stop = fmax(isnan(call->stop) ? stacks->end : call->stop, call->start);
    }
    return GPUT_OK;
}

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

static int close_until(struct walk *walk, double until, struct gput_error *error)
{
    for (; walk->depth > 0 && walk->open[walk->depth - 1]->stop <= until; walk->depth--) {
        const struct stack_call *call = walk->open[walk->depth - 1];
        TRY(walk->visitor->call(walk->visitor->user, false, call->name, call->stop, error));
    }
    return GPUT_OK;
}

static int open_call(struct walk *walk, const struct stack_call *call, struct gput_error *error)
{
    if (!ARRAY_RESERVE(walk->open, walk->depth, walk->capacity))
        return error_memory(error);
    walk->open[walk->depth++] = call;
    return walk->visitor->call(walk->visitor->user, true, call->name, call->start, error);
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
        TRY(open_call(walk, &first[i], error));
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
        if (!report_overlaps_split(&stacks->calls[first], count))
            return error_memory(error);
    }
    qsort(stacks->calls, stacks->count, sizeof *stacks->calls, compare);
    return GPUT_OK;
}

int report_stacks_walk(const struct report_payload *payload, const struct doc *session,
    const struct report_stack_visitor *visitor, struct gput_error *error)
{
    const struct doc *calls = doc_get(session, "calls"), *identity = doc_get(session, "identity");
    const struct doc *end = identity ? doc_get(identity, "end_s") : NULL;
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
