/*
 * All tracked processes, by pid: those that have not ended, those for which an event or exit record
 * may still arrive, and zombies.
 */
#pragma once

#include "machine/process/process.h"

#include <stdbool.h>
#include <stddef.h>

/* All zeroes is empty. It owns the processes. A pid may be in it twice: one process has ended, its
 * exit record may follow, and another has its pid. */
struct process_table {
    struct process **slots; /* owned */
    size_t size;            /* a power of two */
    size_t count;
};

/* Frees it with its processes, which must not be polled any more. */
void process_table_finish(struct process_table *table);

/* The newest process with that pid; NULL: there is none. */
struct process *process_table_get(const struct process_table *table, pid_t pid);

/* The next older one with the same pid; NULL: there is none. */
struct process *process_table_older(const struct process *process);

/* Adds a new process; NULL without memory. */
struct process *process_table_add(struct process_table *table, pid_t pid);

/* The process must be there. It is the caller's from then on. */
void process_table_remove(struct process_table *table, struct process *process);

/* The process with that pid that is open (process_state_is_open()); or NULL. */
struct process *process_table_get_open(const struct process_table *table, pid_t pid);

/* Iterates in no order; NULL after the last. Meanwhile nothing may be added, and only processes
 * already visited may be removed. */
struct process *process_table_first(const struct process_table *table);
struct process *process_table_next(
    const struct process_table *table, const struct process *process);

/* The same over those that are open. */
struct process *process_table_first_open(const struct process_table *table);
struct process *process_table_next_open(
    const struct process_table *table, const struct process *process);

/* for (EACH_OPEN_PROCESS(table, process)) */
#define EACH_OPEN_PROCESS(table, process)                                                          \
    struct process *process = process_table_first_open(table);                                     \
    process;                                                                                       \
    process = process_table_next_open(table, process)

/* An array that grows. All zeroes is empty; it does not own the processes. */
struct process_list {
    struct process **processes;
    size_t count, capacity;
};

/* False without memory. */
bool process_list_append(struct process_list *list, struct process *process);

void process_list_finish(struct process_list *list);
