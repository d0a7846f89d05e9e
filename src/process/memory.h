/*
 * The RAM of one process: a cheap reading (statm) for every tick, and an exact one (smaps or
 * smaps_rollup) that is taken rarely, because it holds the process's memory lock while it counts.
 * Between two exact readings the cheap one says how far the figures have moved.
 */
#ifndef PROCESS_MEMORY_H
#define PROCESS_MEMORY_H

#include "base/error.h"
#include "process/shared_ranges.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Private, shared, and their sum, in bytes. */
struct rss {
    uint64_t total, private, shared;
};

struct memory {
    /* The cheap reading. */
    uint64_t resident_bytes; /* RSS */
    uint64_t file_bytes;     /* of that, pages of files and shared memory */

    /* The exact reading, and the cheap one of the same moment. */
    bool has_exact;
    bool refused; /* the system does not let us read it: the cheap reading has to do */
    uint64_t exact_resident_bytes, exact_file_bytes;
    struct rss exact;
    uint64_t anonymous_bytes;         /* not of a file or shared memory */
    uint64_t anonymous_private_bytes; /* of that, mapped by this process alone */
    uint64_t anonymous_pss_bytes;     /* each page divided by how many processes share it */
    uint64_t hugetlb_bytes;           /* pages of hugetlbfs: not in RSS, and in nothing above */

    /* File and shared mappings, from smaps; neighbours of one object are joined. */
    bool has_ranges;
    uint64_t ranges_file_bytes; /* `file_bytes` when they were read */
    uint64_t ranges_readings;   /* how often they were read */
    struct shared_range *ranges;
    size_t range_count, range_capacity;
};

/* All zeroes is a memory that was not read yet. Frees what it holds. */
void memory_finish(struct memory *memory);

/* Forgets what was read: the process has other memory now (it called execve). */
void memory_reset(struct memory *memory);

/* Takes over a cheap reading. */
void memory_set_cheap(struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes);

/*
 * Reads smaps: everything. Or, with `rollup`, only the sums, which is cheaper for many mappings;
 * the ranges stay as they are. Call after memory_set_cheap() in the same scan. Errors: see
 * os/procfs.h; with PERMISSION the memory is marked `refused`. The old figures stay.
 */
int memory_read_exact(struct memory *memory, const char *root, pid_t pid, bool rollup);

/*
 * Takes over a cheap reading that was taken right after an exact one. A process that grew meanwhile
 * had, at the moment of the exact reading, something between the two cheap ones: without this, all
 * that it grew would stay added to every later figure.
 *
 * What is still apart is what the cheap counters lag behind, at most `lag_bytes`. Anything more is
 * memory that was unmapped while it was read: no mapping has it any more, and the counters lose it
 * page by page.
 */
void memory_settle(
    struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes, uint64_t lag_bytes);

/* The figures of this process alone, as of the last cheap reading. */
struct rss memory_rss(const struct memory *memory);

/* Resident anonymous bytes, as of the last cheap reading. */
uint64_t memory_anonymous_bytes(const struct memory *memory);

/* The part of them that other processes map too (copy-on-write after a fork), as last read. */
uint64_t memory_anonymous_shared_bytes(const struct memory *memory);

/* This process's proportional share of its anonymous memory: adds up over a family. */
uint64_t memory_anonymous_share_bytes(const struct memory *memory);

/* True when the cheap reading has left the exact one by more than a hundredth, or there is none. */
bool memory_has_moved(const struct memory *memory);

/* True when the file and shared mappings are not those that were read. */
bool memory_ranges_have_moved(const struct memory *memory);

#endif
