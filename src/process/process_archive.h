/*
 * Records of processes that have ended: those with the most CPU time and the highest peaks are
 * kept, the rest is summed up, so that memory is bounded.
 */
#ifndef PROCESS_PROCESS_ARCHIVE_H
#define PROCESS_PROCESS_ARCHIVE_H

#include "process/process_record.h"
#include "process/process_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those whose records were not kept. */
struct process_others {
    uint64_t count;
    int64_t cpu_ns;
    uint64_t peak_rss_bytes;   /* of the largest */
    double peak_gpu_ram_bytes; /* of the largest; NaN: not known of any */
    struct task_counts counts;
};

struct process_archive {
    size_t max_kept;                 /* about how many are kept */
    struct process_record_list kept; /* owned, with its records */
    struct process_others others;
};

void process_archive_init(struct process_archive *archive, size_t max_kept);
void process_archive_finish(struct process_archive *archive);

/*
 * Takes ownership of a record, which is freed at once unless it is `wanted`. Where a freed record
 * was a parent, of kept or `living` records, its nearest remaining ancestor replaces it.
 */
void process_archive_add(struct process_archive *archive, const struct process_table *living,
    struct process_record *record, bool wanted);

/* Counts of all of them. */
struct task_counts process_archive_counts(const struct process_archive *archive);

#endif
