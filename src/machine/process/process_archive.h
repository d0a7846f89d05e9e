/*
 * Processes that are final: those with the most CPU time and the highest peaks are kept, the rest
 * is summed up, so that memory is bounded.
 */
#pragma once

#include "machine/process/process.h"
#include "machine/process/process_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums of the processes that were not kept. */
struct process_others {
    uint64_t count;
    int64_t cpu_ns;
    uint64_t peak_rss_bytes;   /* of the largest */
    double peak_gpu_ram_bytes; /* of the largest; NaN: not known of any */
    struct task_counts counts;
};

struct process_archive {
    size_t max_kept;          /* about how many are kept */
    struct process_list kept; /* owned, with its processes */
    struct process_others others;
};

void process_archive_init(struct process_archive *archive, size_t max_kept);
void process_archive_finish(struct process_archive *archive);

/*
 * Takes a process out of the table. It is freed at once unless it is `wanted`; without memory to
 * keep a wanted one, it stays in the table. Where a freed process was a parent, its nearest
 * remaining ancestor replaces it.
 */
void process_archive_add(struct process_archive *archive, struct process_table *table,
    struct process *process, bool wanted);

/* Counts of all of them. */
struct task_counts process_archive_counts(const struct process_archive *archive);

/* Sorts by order of discovery: parents before their children. */
void process_list_sort(struct process **processes, size_t count);
