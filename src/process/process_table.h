/*
 * Records by pid. A pid may be in it twice: then the newest is found.
 */
#ifndef PROCESS_PROCESS_TABLE_H
#define PROCESS_PROCESS_TABLE_H

#include "process/process_record.h"

#include <stdbool.h>
#include <stddef.h>

/* All zeroes is empty. It does not own the records. */
struct process_table {
    struct process_record **slots; /* owned */
    size_t size;                   /* a power of two */
    size_t count;
};

/* Frees the table, not the records. */
void process_table_finish(struct process_table *table);

/* NULL: there is none. */
struct process_record *process_table_get(const struct process_table *table, pid_t pid);

/* False without memory. */
bool process_table_insert(struct process_table *table, struct process_record *record);

/* The record must be there. */
void process_table_remove(struct process_table *table, struct process_record *record);

/* Iterates in no order; NULL after the last. Meanwhile nothing may be inserted, and only records
 * already visited may be removed. */
struct process_record *process_table_first(const struct process_table *table);
struct process_record *process_table_next(
    const struct process_table *table, const struct process_record *record);

#endif
