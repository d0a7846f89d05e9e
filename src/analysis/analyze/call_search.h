/*
 * Finds the calls that run at a moment: a tree of the latest stops over calls sorted by start.
 */
#pragma once

#include "analysis/analyze/call_table.h"

struct call_search;

/* `calls` are not copied and must outlive it. About one byte a call. */
int call_search_create(const struct call *calls, size_t n_calls, struct call_search **search,
    struct gput_error *error);
void call_search_destroy(struct call_search *search); /* NULL is fine */

/* How many calls start at or before `time`. */
size_t call_search_started(const struct call_search *search, double time);

/*
 * The first call at or after `*place` and before `end` that does not stop before `time`: its place,
 * or false when there is none. Every call found costs the logarithm of their number.
 */
bool call_search_next(const struct call_search *search, size_t end, double time, size_t *place);
