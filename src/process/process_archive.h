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
    size_t most;                     /* how many are kept, about */
    struct process_record_list kept; /* owned, each too */
    struct process_others others;
};

void process_archive_init(struct process_archive *archive, size_t most);
void process_archive_finish(struct process_archive *archive);

/*
 * Takes over a record, which is freed at once unless it is `wanted`. Records that are freed are no
 * parent any more, neither of those that are kept nor of the `living`: an ancestor takes the place.
 */
void process_archive_add(struct process_archive *archive, const struct process_table *living,
    struct process_record *record, bool wanted);

/* What all of them have counted. */
struct task_counts process_archive_counts(const struct process_archive *archive);

#endif
