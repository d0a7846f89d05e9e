#include "analysis/analyze/call_search.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define LEAF_CALLS 16

struct call_search {
    const struct call *calls; /* not owned */
    size_t n_calls;
    size_t n_leaves;      /* a power of two */
    double *latest_stops; /* node k has the children 2k and 2k + 1; leaves come last */
};

int call_search_create(
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

void call_search_destroy(struct call_search *search)
{
    if (search)
        free(search->latest_stops);
    free(search);
}

size_t call_search_started(const struct call_search *search, double time)
{
    size_t after;
    PARTITION_POINT(after, search->n_calls, search->calls[after].start <= time);
    return after;
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

bool call_search_next(const struct call_search *search, size_t end, double time, size_t *place)
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
