#include "analysis/analyze/sweep.h"

#include "analysis/analyze/call_table.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Finds the calls that run at a moment: a tree of the latest stops over calls sorted by start.
 */
#define LEAF_CALLS 16

struct call_search {
    const struct call *calls; /* not owned */
    size_t n_calls;
    size_t n_leaves;      /* a power of two */
    double *latest_stops; /* node k has the children 2k and 2k + 1; leaves come last */
};

static void call_search_destroy(struct call_search *search)
{
    if (search)
        free(search->latest_stops);
    free(search);
}

/* `calls` are not copied and must outlive it. About one byte a call. */
static int call_search_create(
    const struct call *calls, size_t n_calls, struct call_search **result, struct gput_error *error)
{
    struct call_search *search = calloc(1, sizeof *search);
    if (!search)
        return error_memory(error);
    search->calls = calls;
    search->n_calls = n_calls;
    search->n_leaves = 1;
    while (search->n_leaves * LEAF_CALLS < n_calls)
        search->n_leaves *= 2;
    search->latest_stops = malloc(2 * search->n_leaves * sizeof *search->latest_stops);
    if (!search->latest_stops) {
        call_search_destroy(search);
        return error_memory(error);
    }
    for (size_t i = 0; i < 2 * search->n_leaves; i++)
        search->latest_stops[i] = -INFINITY;
    for (size_t i = 0; i < n_calls; i++) {
        double *leaf = &search->latest_stops[search->n_leaves + i / LEAF_CALLS];
        *leaf = fmax(*leaf, calls[i].stop);
    }
    for (size_t i = search->n_leaves - 1; i > 0; i--)
        search->latest_stops[i] =
            fmax(search->latest_stops[2 * i], search->latest_stops[2 * i + 1]);
    *result = search;
    return GPUT_OK;
}

/* The next leaf after `leaf` whose latest stop is not before `time`; n_leaves when there is none.
 */
static size_t next_leaf(const struct call_search *search, size_t leaf, double time)
{
    size_t node = search->n_leaves + leaf;
    for (;;) { /* up, until a right sibling has one */
        while (node & 1)
            node >>= 1;
        if (node == 0)
            return search->n_leaves;
        if (search->latest_stops[++node] >= time)
            break;
    }
    while (node < search->n_leaves) { /* down, leftmost first */
        node *= 2;
        if (search->latest_stops[node] < time)
            node++;
    }
    return node - search->n_leaves;
}

/*
 * The first call at or after `*place` and before `end` that does not stop before `time`: its place,
 * or false when there is none. Every call found costs the logarithm of their number.
 */
static bool call_search_next(
    const struct call_search *search, size_t end, double time, size_t *place)
{
    size_t i = *place;
    while (i < end) {
        size_t leaf_end = (i / LEAF_CALLS + 1) * LEAF_CALLS;
        for (; i < end && i < leaf_end; i++) {
            if (search->calls[i].stop >= time) {
                *place = i;
                return true;
            }
        }
        if (i < end)
            i = next_leaf(search, leaf_end / LEAF_CALLS - 1, time) * LEAF_CALLS;
    }
    return false;
}

struct sweep {
    struct sweep_input input;
    struct sweep_target *targets;
    struct sweep_target session;
    bool quantiles;

    uint32_t *running; /* targets with a call at `time`, in no order */
    size_t n_running;
    size_t next;                /* first call that starts after `time` */
    double time;                /* of the last row */
    double next_start;          /* of call `next` */
    double next_end;            /* no running target ends before this */
    double *first_row;          /* for each call: the earliest row before the next call starts */
    struct call_search *search; /* made at the first row that goes back in time */

    struct row_run run; /* rows since the last change of `running` */
    double *run_rows;   /* their values, with quantiles */
};

int sweep_create(const struct sweep_input *input, bool quantiles, struct sweep **result,
    struct gput_error *error)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return error_memory(error);
    sweep->input = *input;
    sweep->quantiles = quantiles;
    sweep->targets = calloc(input->n_targets + 1, sizeof *sweep->targets);
    sweep->running = malloc((input->n_targets + 1) * sizeof *sweep->running);
    sweep->first_row = malloc((input->n_calls + 1) * sizeof *sweep->first_row);
    if (quantiles)
        sweep->run_rows = malloc(ROW_RUN_MAX * ROW_COLUMNS * sizeof *sweep->run_rows);
    if (!sweep->targets || !sweep->running || !sweep->first_row ||
        (quantiles && !sweep->run_rows)) {
        sweep_destroy(sweep);
        return error_memory(error);
    }
    for (size_t i = 0; i < input->n_calls; i++)
        sweep->first_row[i] = INFINITY;
    sweep->time = -INFINITY;
    sweep->next_start = input->n_calls > 0 ? input->calls[0].start : INFINITY;
    sweep->next_end = INFINITY;
    row_run_clear(&sweep->run);
    *result = sweep;
    return GPUT_OK;
}

/* Frees what a target has. */
static void target_finish(struct sweep_target *target)
{
    free(target->total);
    if (target->sketches) {
        for (unsigned c = 0; c < SWEEP_QUANTILE_COLUMNS; c++)
            quantile_sketch_finish(&target->sketches[c]);
        free(target->sketches);
    }
}

void sweep_destroy(struct sweep *sweep)
{
    if (!sweep)
        return;
    for (size_t i = 0; sweep->targets && i < sweep->input.n_targets; i++)
        target_finish(&sweep->targets[i]);
    target_finish(&sweep->session);
    free(sweep->targets);
    free(sweep->running);
    free(sweep->first_row);
    free(sweep->run_rows);
    call_search_destroy(sweep->search);
    free(sweep);
}

/* Adds the values of the rows of a run to the sketches of a target. */
static int target_add_quantiles(
    const struct sweep *sweep, struct sweep_target *target, struct gput_error *error)
{
    if (!target->sketches) {
        target->sketches = calloc(SWEEP_QUANTILE_COLUMNS, sizeof *target->sketches);
        if (!target->sketches)
            return error_memory(error);
    }
    size_t rows = (size_t)sweep->run.rows;
    for (size_t r = 0; r < rows; r++) {
        const double *values = sweep->run_rows + r * ROW_COLUMNS;
        for (unsigned c = 0; c < SWEEP_QUANTILE_COLUMNS; c++)
            TRY(quantile_sketch_add(&target->sketches[c], values[c], error));
    }
    return GPUT_OK;
}

/* Merges the rows of a run into the total of a target. */
static int target_merge_run(
    const struct sweep *sweep, struct sweep_target *target, struct gput_error *error)
{
    if (!target->total) {
        target->total = calloc(1, sizeof *target->total);
        if (!target->total)
            return error_memory(error);
    }
    row_total_merge(target->total, &sweep->run);
    return sweep->quantiles ? target_add_quantiles(sweep, target, error) : GPUT_OK;
}

/* Merges the run into all targets that are running. */
static int flush(struct sweep *sweep, struct gput_error *error)
{
    if (sweep->run.rows == 0)
        return GPUT_OK;
    TRY(target_merge_run(sweep, &sweep->session, error));
    for (size_t i = 0; i < sweep->n_running; i++)
        TRY(target_merge_run(sweep, &sweep->targets[sweep->running[i]], error));
    row_run_clear(&sweep->run);
    return GPUT_OK;
}

/* A call of that target runs at the current row. */
static int enter(struct sweep *sweep, uint32_t index, double stop, struct gput_error *error)
{
    if (index == SWEEP_NO_PART)
        return GPUT_OK;
    struct sweep_target *target = &sweep->targets[index];
    if (target->running) {
        if (stop > target->latest_stop)
            target->latest_stop = stop;
        return GPUT_OK;
    }
    TRY(flush(sweep, error));
    target->running = true;
    target->latest_stop = stop;
    sweep->running[sweep->n_running++] = index;
    if (stop < sweep->next_end)
        sweep->next_end = stop;
    return GPUT_OK;
}

static int enter_call(struct sweep *sweep, const struct call *call, struct gput_error *error)
{
    const struct sweep_lane *lane = &sweep->input.lanes[call->lane];
    TRY(enter(sweep, lane->block, call->stop, error));
    return enter(sweep, lane->part, call->stop, error);
}

/* Removes the targets whose calls have all ended before `time`. */
static int leave(struct sweep *sweep, double time, struct gput_error *error)
{
    double next_end = INFINITY;
    bool ended = false;
    for (size_t i = 0; i < sweep->n_running; i++) {
        double latest_stop = sweep->targets[sweep->running[i]].latest_stop;
        ended = ended || latest_stop < time;
        next_end = latest_stop < next_end ? latest_stop : next_end;
    }
    sweep->next_end = next_end;
    if (!ended)
        return GPUT_OK;

    TRY(flush(sweep, error));
    sweep->next_end = INFINITY;
    for (size_t i = 0; i < sweep->n_running;) {
        struct sweep_target *target = &sweep->targets[sweep->running[i]];
        if (target->latest_stop < time) {
            target->running = false;
            sweep->running[i] = sweep->running[--sweep->n_running];
        } else {
            sweep->next_end = fmin(sweep->next_end, target->latest_stop);
            i++;
        }
    }
    return GPUT_OK;
}

/* Advances to a later time. Starts come before ends, so that a block that is called again at once
 * keeps running. */
static int advance(struct sweep *sweep, double time, struct gput_error *error)
{
    while (sweep->next < sweep->input.n_calls && sweep->input.calls[sweep->next].start <= time) {
        const struct call *call = &sweep->input.calls[sweep->next++];
        if (call->stop >= time)
            TRY(enter_call(sweep, call, error));
    }
    sweep->next_start =
        sweep->next < sweep->input.n_calls ? sweep->input.calls[sweep->next].start : INFINITY;
    return sweep->next_end < time ? leave(sweep, time, error) : GPUT_OK;
}

/* Removes all running targets. */
static int stop_all(struct sweep *sweep, struct gput_error *error)
{
    TRY(flush(sweep, error));
    for (size_t i = 0; i < sweep->n_running; i++)
        sweep->targets[sweep->running[i]].running = false;
    sweep->n_running = 0;
    sweep->next_end = INFINITY;
    return GPUT_OK;
}

/* Goes back to an earlier time: finds what runs then. */
static int go_back(struct sweep *sweep, double time, struct gput_error *error)
{
    TRY(stop_all(sweep, error));
    if (!sweep->search)
        TRY(call_search_create(sweep->input.calls, sweep->input.n_calls, &sweep->search, error));
    /* Number of calls that start at or before `time`. */
    PARTITION_POINT(
        sweep->next, sweep->search->n_calls, sweep->search->calls[sweep->next].start <= time);
    sweep->next_start =
        sweep->next < sweep->input.n_calls ? sweep->input.calls[sweep->next].start : INFINITY;
    size_t place = 0;
    while (call_search_next(sweep->search, sweep->next, time, &place))
        TRY(enter_call(sweep, &sweep->input.calls[place++], error));
    return GPUT_OK;
}

/* Moves to the time of a row, on or back: the calls that run then are those that get it. */
static int move_to(struct sweep *sweep, double time, struct gput_error *error)
{
    if (isnan(time)) { /* in no block; the next row starts a new search */
        TRY(stop_all(sweep, error));
        sweep->time = INFINITY;
        return GPUT_OK;
    }
    int code = time < sweep->time ? go_back(sweep, time, error) : advance(sweep, time, error);
    sweep->time = time;
    return code;
}

int sweep_add_row(struct sweep *sweep, double time, const double *values, struct gput_error *error)
{
    if (time >= sweep->time && time < sweep->next_start && time <= sweep->next_end)
        sweep->time = time;
    else
        TRY(move_to(sweep, time, error));
    if (sweep->next > 0 && time < sweep->first_row[sweep->next - 1])
        sweep->first_row[sweep->next - 1] = time;
    if (sweep->quantiles)
        memcpy(sweep->run_rows + (size_t)sweep->run.rows * ROW_COLUMNS, values,
            ROW_COLUMNS * sizeof *values);
    row_run_add(&sweep->run, values);
    return sweep->run.rows == ROW_RUN_MAX ? flush(sweep, error) : GPUT_OK;
}

int sweep_end(struct sweep *sweep, struct gput_error *error)
{
    TRY(flush(sweep, error));
    double row = INFINITY; /* the first row at or after the start of the call */
    for (size_t i = sweep->input.n_calls; i-- > 0;) {
        const struct sweep_lane *lane = &sweep->input.lanes[sweep->input.calls[i].lane];
        row = fmin(row, sweep->first_row[i]);
        if (row > sweep->input.calls[i].stop)
            continue;
        sweep->targets[lane->block].n_non_empty_calls++;
        if (lane->part != SWEEP_NO_PART)
            sweep->targets[lane->part].n_non_empty_calls++;
    }
    return GPUT_OK;
}

const struct sweep_target *sweep_session(const struct sweep *sweep)
{
    return &sweep->session;
}

const struct sweep_target *sweep_target(const struct sweep *sweep, size_t target)
{
    return &sweep->targets[target];
}
