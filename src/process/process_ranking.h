/*
 * Which records of ended processes are worth keeping.
 */
#ifndef PROCESS_PROCESS_RANKING_H
#define PROCESS_PROCESS_RANKING_H

#include "process/process_record.h"

#include <stddef.h>

/* Marks about `most` of them as kept: half for their CPU time, half for their
 * peaks of RSS and GPU RAM. Changes
 * their order. */
void process_ranking_mark(struct process_record **records, size_t count, size_t most);

/* Gives a record whose parent is not kept to the nearest ancestor that is. */
void process_ranking_adopt(struct process_record *record);

/* Sorts by order of discovery: parents stand before their children. */
void process_ranking_sort(struct process_record **records, size_t count);

#endif
