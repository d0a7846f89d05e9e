/*
 * The RAM of a tree of processes, every page counted once: main, its descendants, and both
 * combined.
 *
 * One process: private and shared are the sums over its mappings, total is its RSS.
 * Several: private memory adds up; file and shared mappings count once per object and range
 * (track/shared_ranges.h); anonymous memory that a fork left shared counts by proportional shares,
 * which add up to each page once because all its sharers are in the tree.
 *
 * Of processes whose maps may not be read, statm tells RSS and what of it is of files: what they
 * may share counts once, so that the sums are lower bounds. Each may share its anonymous memory
 * with the forks that have not called execve, and its files with everybody.
 *
 * Exact readings stall the process that is read. In adaptive mode they are taken only where they
 * can give something new, and at a rate bounded by what they cost: as a rule 0.5 % of the time of
 * the process that is read, and never more than 2 % of one core for all together. The rule is left
 * for a process that sleeps, which a reading does not hold up, and where a fork, the end of a
 * process that shared memory, or the copying of half of it makes old figures wrong: those cost the
 * processes more than the reading.
 */
#ifndef PROCESS_RAM_METER_H
#define PROCESS_RAM_METER_H

#include "process/process_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* What a scan of the tree comes to. */
struct ram_figures {
    struct rss main, descendants, combined;
    uint64_t at_least_bytes; /* of all together: certainly no more than there was */
};

struct ram_meter {
    bool exact; /* read everything at every scan, whatever it costs */
    bool cheap; /* read nothing exactly now: the figures are lower bounds */

    int64_t credit_ns; /* time that may be spent on exact readings now */
    int64_t credit_since_ns;
    bool is_behind;    /* some readings had to wait for credit */
    bool has_notified; /* some readings have made those of others old */

    uint64_t page_bytes;
    uint64_t generation; /* of the tree, when images were last counted */
    uint64_t tree_mark;  /* which processes had memory then */
    struct shared_totals files;
    bool files_are_stale;
    int64_t files_not_before_ns;
    struct shared_range *ranges; /* scratch, owned */
    size_t range_capacity;
    struct process **by_exec_generation; /* scratch, owned */
    size_t by_exec_generation_capacity;

    struct ram_figures figures; /* of the last scan */
    uint64_t exact_readings;    /* so far */
    uint64_t unread_bytes;      /* that the figures of one scan may lack: the most so far, of those
                                 * that may lack more than a hundredth */
    uint64_t hugetlb_bytes;     /* that no figure has: the most of one process so far */
    uint64_t refused;           /* processes so far whose maps could not be read */
};

void ram_meter_init(struct ram_meter *meter, bool exact, int64_t now_ns);
void ram_meter_finish(struct ram_meter *meter);

/* Measures the tree as its last scan found it. Errors: GPUT_ERROR_MEMORY; figures stay. */
int ram_meter_measure(struct ram_meter *meter, struct process_tree *tree, int64_t now_ns);

#endif
