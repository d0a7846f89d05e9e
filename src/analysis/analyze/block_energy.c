#include "analysis/analyze/block_energy.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIGURES GPUT_ENERGY_FIGURE_COUNT
/* the share of the session that may be unknown */
#define MAX_UNKNOWN 0.02
/* The first answer of a GPU may take two rows at ten rows a second. At longer intervals only the
 * first row lacks it. */
#define LATE_SECONDS 0.2

struct point {
    double time;
    double joules[FIGURES];
};

/* The state of a target. */
struct running {
    uint32_t depth;             /* running calls */
    bool seen;                  /* it ran while the curve was known */
    double first;               /* when the first of all its calls began */
    double first_stop;          /* when the first of them ended while the curve was known */
    double since;               /* when the first of the running calls began */
    double started_at[FIGURES]; /* the curve at that time */
};

struct walk {
    const struct energy_points *points;
    struct point first, before, after; /* the two points around the current time */
    double last[FIGURES];              /* of the last point that had it; NaN: none so far */
    double lost_at[FIGURES];      /* the time of the last point that lacked a figure known before */
    double lost_seconds[FIGURES]; /* the time up to such points */
    double
        unknown_until[FIGURES]; /* the time of the last point before the figure was first known */
    bool at_end;
    struct running *running;
    double (*targets)[FIGURES];
};

/* A figure that is not known yet is 0 so far. One that is lost stays at its last value, and is
 * unknown for calls that run meanwhile, also when they end after it is back. */
static void fill_unknown(struct walk *walk, struct point *point)
{
    for (int i = 0; i < FIGURES; i++) {
        if (!isnan(point->joules[i])) {
            walk->last[i] = point->joules[i];
        } else if (isnan(walk->last[i])) {
            point->joules[i] = 0;
            walk->unknown_until[i] = point->time;
        } else {
            walk->lost_at[i] = point->time;
            walk->lost_seconds[i] += point->time - walk->after.time;
        }
    }
}

/* Reads points until one is at or after `time`. Points that go back in time are skipped. */
static int advance(struct walk *walk, double time, struct gput_error *error)
{
    while (!walk->at_end && walk->after.time < time) {
        struct point next;
        TRY(walk->points->next(walk->points->user, &next.time, next.joules, &walk->at_end, error));
        if (walk->at_end || !(next.time > walk->after.time))
            continue;
        fill_unknown(walk, &next);
        walk->before = walk->after;
        walk->after = next;
    }
    return GPUT_OK;
}

/* Sets the joules at a moment between the points before and after it. */
static void value_at(const struct walk *walk, double time, double joules[FIGURES])
{
    const struct point *a = &walk->before, *b = &walk->after;
    double length = b->time - a->time;
    double part = length > 0 ? (time - a->time) / length : 1;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    for (int i = 0; i < FIGURES; i++)
        joules[i] = part == 1 ? b->joules[i] : a->joules[i] + part * (b->joules[i] - a->joules[i]);
}

static bool is_known(const struct walk *walk, double time)
{
    return time >= walk->first.time && time <= walk->after.time;
}

/* A call of the target starts or stops. */
static void mark(struct walk *walk, uint32_t index, double time, bool starts)
{
    if (index == SWEEP_NO_PART)
        return;
    struct running *running = &walk->running[index];
    double joules[FIGURES];
    running->seen |= is_known(walk, time);
    running->first = fmin(running->first, time);
    if (starts && running->depth++ == 0) {
        running->since = time;
        value_at(walk, time, running->started_at);
    }
    if (!starts && time > walk->first.time)
        running->first_stop = fmin(running->first_stop, time);
    if (starts || --running->depth > 0)
        return;
    value_at(walk, time, joules);
    for (int i = 0; i < FIGURES; i++) {
        bool was_lost = walk->lost_at[i] >= running->since;
        walk->targets[index][i] += was_lost ? NAN : joules[i] - running->started_at[i];
    }
}

struct stop {
    double time;
    uint32_t lane;
};

static int by_time(const void *left, const void *right)
{
    double a = ((const struct stop *)left)->time, b = ((const struct stop *)right)->time;
    return ORDER(a, b);
}

/* Makes a list of all stops in the order of time. NULL without memory. */
static struct stop *sort_stops(const struct call *calls, size_t n_calls)
{
    struct stop *stops = malloc((n_calls + 1) * sizeof *stops);
    for (size_t i = 0; stops && i < n_calls; i++)
        stops[i] = (struct stop){calls[i].stop, calls[i].lane};
    if (stops)
        qsort(stops, n_calls, sizeof *stops, by_time);
    return stops;
}

/* Walks starts and stops in the order of time; at equal times starts come first. */
static int walk_calls(struct walk *walk, const struct sweep_input *input, const struct stop *stops,
    struct gput_error *error)
{
    size_t next_start = 0;
    for (size_t next_stop = 0; next_stop < input->n_calls;) {
        bool starts =
            next_start < input->n_calls && input->calls[next_start].start <= stops[next_stop].time;
        double time = starts ? input->calls[next_start].start : stops[next_stop].time;
        const struct sweep_lane *lane =
            &input->lanes[starts ? input->calls[next_start++].lane : stops[next_stop++].lane];
        TRY(advance(walk, time, error));
        mark(walk, lane->block, time, starts);
        mark(walk, lane->part, time, starts);
    }
    return GPUT_OK;
}

/* Begins at the first point of the curve. */
static int begin(struct walk *walk, struct gput_error *error)
{
    for (int i = 0; i < FIGURES; i++) {
        walk->last[i] = NAN;
        walk->lost_at[i] = walk->unknown_until[i] = -INFINITY;
    }
    TRY(walk->points->next(
        walk->points->user, &walk->first.time, walk->first.joules, &walk->at_end, error));
    if (!walk->at_end)
        fill_unknown(walk, &walk->first);
    walk->before = walk->after = walk->first;
    return GPUT_OK;
}

/* Walks over the curve and, at the same time, over starts and stops of calls. */
static int walk_curve(struct walk *walk, const struct sweep_input *input, struct gput_error *error)
{
    struct stop *stops = sort_stops(input->calls, input->n_calls);
    if (!stops)
        return error_memory(error);
    int code = begin(walk, error);
    if (code == GPUT_OK && !walk->at_end)
        code = walk_calls(walk, input, stops, error);
    free(stops);
    TRY(code);
    return advance(walk, INFINITY, error);
}

/* The time before which a figure was unknown; before the session: always known. */
static double unknown_until(const struct walk *walk, int i)
{
    return isnan(walk->last[i]) ? -INFINITY : walk->unknown_until[i];
}

/* The same for totals and shares, also while a part of them was unknown, which they do not show. */
static double unknown_with_parts(const struct walk *walk, int i)
{
    double until = unknown_until(walk, i);
    if (i < GPUT_ENERGY_TOTAL)
        return until;
    until = fmax(until, unknown_until(walk, GPUT_ENERGY_PACKAGE));
    until = fmax(until, unknown_until(walk, GPUT_ENERGY_DRAM));
    return fmax(until, unknown_until(walk, GPUT_ENERGY_GPU));
}

static bool is_late(const struct walk *walk, double until)
{
    return until - walk->first.time > LATE_SECONDS;
}

int block_energy_compute(const struct sweep_input *input, const struct energy_points *points,
    struct session_energy *session, double (*targets)[FIGURES], struct gput_error *error)
{
    struct walk walk = {.points = points, .targets = targets};
    walk.running = calloc(input->n_targets + 1, sizeof *walk.running);
    if (!walk.running)
        return error_memory(error);
    for (size_t t = 0; t < input->n_targets; t++)
        walk.running[t].first = walk.running[t].first_stop = INFINITY;
    memset(targets, 0, input->n_targets * sizeof *targets);
    int code = walk_curve(&walk, input, error);
    /* Set the joules of the session, and for how much of it each figure is unknown. */
    session->seconds = walk.after.time - walk.first.time;
    for (int i = 0; i < FIGURES; i++) {
        double until = unknown_with_parts(&walk, i);
        double late = is_late(&walk, until) ? until - walk.first.time : 0;
        double unknown = walk.lost_seconds[i] + late;
        bool is_known = unknown <= MAX_UNKNOWN * session->seconds;
        session->unknown_seconds[i] = isnan(walk.last[i]) ? session->seconds : unknown;
        session->joules[i] = is_known ? walk.last[i] : NAN;
    }
    /* Make figures unknown: one that was never known for all targets; one that was first known late
     * for targets that began before that; otherwise for targets with a call that ended before. */
    for (int i = 0; i < FIGURES; i++) {
        double until = unknown_with_parts(&walk, i);
        for (size_t t = 0; t < input->n_targets; t++) {
            const struct running *running = &walk.running[t];
            double earliest = is_late(&walk, until) ? running->first : running->first_stop;
            if (!running->seen || isnan(walk.last[i]) || earliest <= until)
                walk.targets[t][i] = NAN;
        }
    }
    free(walk.running);
    return code;
}
