/*
 * Ranges as they begin and end: nested ones of a thread and domain, and those that may end in
 * another thread.
 */
#pragma once

#include "analysis/blocks/late_calls.h"
#include "regions.h"

/* Begins a range inside the one of the same thread and domain that began last. `text` NULL counts
 * as "". Returns how many were open there before. */
int region_push(struct regions *regions, struct region_domain *domain, const char *text);

/* Ends it. Returns how many are open then; -1: there was none, which is counted. */
int region_pop(struct regions *regions, struct region_domain *domain);

struct region_thread;

/* A thread whose ranges another one may end while it does nothing with ranges itself. */
struct region_arrival {
    struct region_thread *thread; /* NULL: it has none */
    struct late_thread late;
};

/* Notes the calling thread, and what it has used, which the ranges that another one ends will have.
 */
void region_arrive(struct regions *regions, struct region_arrival *arrival);

/* As region_pop(), of the thread that has arrived. */
int region_pop_of(
    struct regions *regions, struct region_domain *domain, const struct region_arrival *arrival);

/* Begins a range that any thread may end. Returns its id, never 0. */
uint64_t region_start(struct regions *regions, struct region_domain *domain, const char *text);

/* Ends it. Nothing happens when none is open by that id. */
void region_end(struct regions *regions, uint64_t id);

/* The destructor of a thread's state. */
void region_thread_destroy(void *thread);
