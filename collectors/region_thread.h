/*
 * Begins and ends ranges: nested ones of a thread and domain, and those that another thread may
 * end.
 */
#pragma once

#include "analysis/blocks/late_calls.h"
#include "regions.h"

/* Begins a range inside the innermost one of the same thread and domain. `text` NULL counts as "".
 * Returns how many were open there before. */
int region_push(struct regions *regions, struct region_domain *domain, const char *text);

/* Ends the innermost range. Returns how many are open then; -1: there was none, which is
 * counted. */
int region_pop(struct regions *regions, struct region_domain *domain);

struct region_thread;

/* A thread whose ranges another one may end while it neither begins nor ends any. */
struct region_arrival {
    struct region_thread *thread; /* NULL: no state, for lack of memory */
    struct late_thread late;
};

/* Notes the calling thread and its usage so far, which the ranges get that another thread ends. */
void region_arrive(struct regions *regions, struct region_arrival *arrival);

/* The same as region_pop() for the thread that has arrived. */
int region_pop_of(
    struct regions *regions, struct region_domain *domain, const struct region_arrival *arrival);

/* Begins a range that any thread may end. Returns its id, never 0. */
uint64_t region_start(struct regions *regions, struct region_domain *domain, const char *text);

/* Ends the range with that id; does nothing if there is none. */
void region_end(struct regions *regions, uint64_t id);

/* Frees a thread's state. */
void region_thread_destroy(void *thread);
