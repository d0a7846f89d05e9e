/*
 * The processes of a tree that have memory, grouped by exec generation: those of one generation may
 * share copy-on-write memory.
 */
#pragma once

#include "machine/process/process_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeroes is empty. */
struct exec_generations {
    struct process **processes; /* sorted by exec generation, in order of their starts; owned */
    size_t count, capacity;
    uint64_t hash; /* of the set of processes */
};

void exec_generations_finish(struct exec_generations *generations);

/*
 * Sets them from the last scan of the tree, and in each process `metered.members` and,
 * where these have changed, `metered.memory_is_stale`. `has_changed`: the set of processes with
 * memory is another than at the last call. Errors: GPUT_ERROR_MEMORY.
 */
int exec_generations_update(
    struct exec_generations *generations, const struct process_tree *tree, bool *has_changed);

/* The index after the last process of the generation that begins at `start`. A process whose
 * generation is not known is alone in it. */
size_t exec_generations_end(const struct exec_generations *generations, size_t start);

/* True when other processes of its exec generation have memory. */
static inline bool process_shares_anonymous(const struct process *process)
{
    return process->polled->metered.members > 1;
}
