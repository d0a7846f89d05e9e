#include "machine/process/exec_generations.h"

#include "base/array.h"
#include "base/order.h"

#include <stdlib.h>

void exec_generations_finish(struct exec_generations *generations)
{
    free(generations->processes);
    *generations = (struct exec_generations){0};
}

static int by_exec_generation(const void *left, const void *right)
{
    const struct process *a = *(struct process *const *)left;
    const struct process *b = *(struct process *const *)right;
    ORDER_BY(a->polled->exec_generation, b->polled->exec_generation);
    ORDER_BY(a->polled->stat.start_time_ticks, b->polled->stat.start_time_ticks);
    return ORDER(a->pid, b->pid);
}

/* A hash of a process. The sum of the hashes identifies a set of processes. */
static uint64_t hash_of(const struct process *process)
{
    uint64_t hash = process->polled->stat.start_time_ticks << 22 ^ (uint64_t)process->pid;
    hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

size_t exec_generations_end(const struct exec_generations *generations, size_t start)
{
    uint64_t exec_generation = generations->processes[start]->polled->exec_generation;
    size_t end = start + 1;
    while (exec_generation && end < generations->count &&
           generations->processes[end]->polled->exec_generation == exec_generation)
        end++;
    return end;
}

/*
 * Where the set of members has changed, a process that shares copy-on-write memory started or
 * ended: what was read of the others is stale. A fork may replace one that ended, so comparing the
 * number is not enough.
 */
static void set_members(struct process **members, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++)
        hash += hash_of(members[i]);
    for (size_t i = 0; i < count; i++) {
        struct process *process = members[i];
        process->polled->metered.memory_is_stale |= process->polled->metered.members_hash != hash;
        process->polled->metered.members_hash = hash;
        process->polled->metered.members = (uint32_t)count;
    }
}

int exec_generations_update(
    struct exec_generations *generations, const struct process_tree *tree, bool *has_changed)
{
    if (!ARRAY_RESERVE(generations->processes, tree->count, generations->capacity))
        return GPUT_ERROR_MEMORY;
    uint64_t hash = 0;
    generations->count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_has_memory(process)) {
            process->polled->metered.members = 0;
            continue;
        }
        generations->processes[generations->count++] = process;
        hash += hash_of(process);
    }
    /* Also when a process has become a zombie, which stays in the tree. */
    *has_changed = hash != generations->hash;
    generations->hash = hash;
    qsort(generations->processes, generations->count, sizeof *generations->processes,
        by_exec_generation);
    for (size_t start = 0, end; start < generations->count; start = end) {
        end = exec_generations_end(generations, start);
        set_members(generations->processes + start, end - start);
    }
    return GPUT_OK;
}
