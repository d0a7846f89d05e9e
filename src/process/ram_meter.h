/*
 * The RAM of a tree of processes, every page counted once: main, its descendants, and both
 * combined.
 *
 * One process: private and shared are the sums over its mappings, total is its RSS. Several:
 * private memory adds up; file and shared mappings count once per object and range
 * (process/shared_ranges.h); anonymous memory that a fork left shared counts by proportional
 * shares, which add up to each page once because all its sharers are in the tree.
 *
 * For processes whose maps may not be read, statm gives RSS and its file part: what they may share
 * counts once, so that the sums are lower bounds. Each may share its anonymous memory with forks
 * that have not called execve, and its files with any process.
 *
 * Exact readings stall the process that is read. In adaptive mode they are taken only where they
 * can give new figures, and at a rate bounded by their cost: as a rule 0.5 % of the time of the
 * process that is read, and never more than 2 % of one core for all together. The 0.5 % do not
 * apply to a process that sleeps, which a reading does not stall, nor where a fork, the end of a
 * process that shared memory, or the copying of a twentieth of it makes old figures wrong: those
 * cost the processes more than the reading.
 */
#ifndef PROCESS_RAM_METER_H
#define PROCESS_RAM_METER_H

#include "process/process_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* RAM at one scan of the tree. */
struct ram_figures {
    struct rss main, descendants, combined;
    uint64_t at_least_bytes; /* of all together: a lower bound */
};

struct ram_meter {
    bool exact;      /* read everything exactly at every scan, whatever it costs */
    bool skip_exact; /* read nothing exactly in this scan: the figures are lower bounds */

    int64_t credit_ns; /* time that may be spent on exact readings now */
    int64_t credit_since_ns;
    bool has_deferred; /* some readings are delayed until there is credit */
    bool has_marked;   /* some reading has made those of other processes stale */

    uint64_t page_bytes;
    uint64_t generation; /* of the tree, when exec generations were last counted */
    uint64_t tree_hash;  /* hash of the set of processes with memory */
    struct shared_totals files;
    bool files_are_stale;
    int64_t files_not_before_ns;
    struct shared_range *ranges; /* scratch, owned */
    size_t range_capacity;
    struct process **by_exec_generation; /* scratch, owned */
    size_t by_exec_generation_capacity;

    struct ram_figures figures; /* of the last scan */
    uint64_t exact_readings;    /* so far */
    uint64_t unread_bytes;  /* that the figures of one scan may lack: the most so far, of scans that
                               may lack more than 1 % */
    uint64_t hugetlb_bytes; /* in no other figure: the most of one process so far */
    uint64_t refused;       /* processes so far whose maps could not be read */
};

void ram_meter_init(struct ram_meter *meter, bool exact, int64_t now_ns);
void ram_meter_finish(struct ram_meter *meter);

/* Measures the tree as of its last scan. Errors: GPUT_ERROR_MEMORY; figures stay as they were. */
int ram_meter_measure(struct ram_meter *meter, struct process_tree *tree, int64_t now_ns);

#endif
