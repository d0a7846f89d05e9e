/*
 * Which processes that have ended are worth keeping.
 */
#pragma once

#include "machine/process/process.h"

#include <stddef.h>

/* Marks about `max_kept` of them as kept: half for their CPU time, half for their peaks of RSS and
 * GPU RAM. Changes their order. */
void process_ranking_mark(struct process **processes, size_t count, size_t max_kept);

/* Replaces a parent that is not kept by the nearest ancestor that is. */
void process_ranking_replace_parent(struct process *process);

/* Sorts by order of discovery: parents before their children. */
void process_ranking_sort(struct process **processes, size_t count);
