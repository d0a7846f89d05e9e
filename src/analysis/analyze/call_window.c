#include "analysis/analyze/call_window.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

/* Where a lane has calls. */
enum { INSIDE = 1, OUTSIDE = 2 };

/* Counts a call that is left out, so many seconds before (negative) or after the window. */
static void count(struct call_window_rest *rest, double seconds)
{
    rest->before += seconds < 0;
    rest->after += seconds > 0;
    rest->farthest = fmax(rest->farthest, fabs(seconds));
}

/* Whether something of the process lies inside. */
static bool is_known(const struct call_window *window, const struct call_table *table,
    const unsigned char *places, int64_t pid)
{
    if (pid == window->pid)
        return true;
    for (size_t i = 0; i < table->n_lanes; i++)
        if (places[i] & INSIDE && table->lanes[i].process_id == pid)
            return true;
    return false;
}

/* Keeps the open calls that may reach into the window: those of a process that is known there. */
static void keep_open_calls(const struct call_window *window, struct call_table *table,
    const unsigned char *places, struct call_window_rest *rest)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->n_open; i++) {
        const struct call call = table->open[i];
        double start = table->origin + call.start;
        int64_t pid = table->lanes[call.lane].process_id;
        bool is_before = start < window->from && !is_known(window, table, places, pid);
        double seconds = is_before ? start - window->from : fmax(0, start - window->to);
        if (seconds == 0)
            table->open[kept++] = call;
        else
            count(rest, seconds);
    }
    table->n_open = kept;
}

int call_window_apply(const struct call_window *window, struct call_table *table,
    struct call_window_rest *rest, struct gput_error *error)
{
    *rest = (struct call_window_rest){0};
    CLEANUP_FREE unsigned char *places = calloc(table->n_lanes + 1, sizeof *places);
    if (!places)
        return error_memory(error);
    /* Keep the calls that reach into the window, and note which lanes have some. */
    size_t kept = 0;
    for (size_t i = 0; i < table->n_calls; i++) {
        const struct call call = table->calls[i];
        double start = table->origin + call.start, stop = table->origin + call.stop;
        double seconds = start > window->to    ? start - window->to
                         : stop < window->from ? stop - window->from
                                               : 0;
        places[call.lane] |= seconds == 0 ? INSIDE : OUTSIDE;
        if (seconds == 0)
            table->calls[kept++] = call;
        else
            count(rest, seconds);
    }
    table->n_calls = kept;
    keep_open_calls(window, table, places, rest);

    /* Exact figures are sums over all calls of a lane, those outside, too. */
    for (size_t i = 0; table->exact && i < table->n_lanes; i++) {
        struct exact_figures **exact = &table->lanes[i].exact;
        if (places[i] == (INSIDE | OUTSIDE))
            exact_figures_forget(*exact);
        if (places[i] != OUTSIDE)
            continue;
        exact_figures_destroy(*exact);
        *exact = exact_figures_create(table->each_call);
        if (!*exact)
            return error_memory(error);
    }
    return GPUT_OK;
}
