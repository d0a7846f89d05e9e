/*
 * The RAM of a tree of processes, every page counted once: main, its descendants, and both
 * combined.
 *
 * One process: private and shared are the sums over its mappings, total is its RSS. Several:
 * private memory adds up. File and shared mappings count once per object and range
 * (machine/process/memory.h). Anonymous memory that a fork left shared counts by
 * proportional shares, as all its sharers are in the tree, and by what each has copied since
 * (machine/process/copies.h).
 *
 * For processes whose maps may not be read, statm gives RSS and its file part. What they may share
 * counts once, so the sums are lower bounds. Each may share its anonymous memory with forks that
 * have not called execve, and its files with any process.
 */
#pragma once

#include "machine/process/exact_readings.h"
#include "machine/process/process_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* RAM at one scan of the tree. */
struct ram_figures {
    struct rss main, descendants, combined;
    uint64_t at_least_bytes;       /* of all together: a lower bound */
    uint64_t files_at_least_bytes; /* the same of files and shared memory alone */
};

struct ram_meter {
    bool skip_exact; /* read nothing exactly in this scan: the figures are lower bounds */
    /* Anonymous memory of a control group that has all processes of the tree, read right before
     * this scan; 0: not known. */
    uint64_t group_anonymous_bytes;
    uint64_t group_lag_bytes; /* by which that may be late; cgroup_lag_bytes() */

    struct exact_readings readings;
    struct exec_generations generations;
    uint64_t generation; /* of the tree, when exec generations were last counted */
    struct shared_totals files;
    bool files_are_stale;
    bool files_have_grown; /* `files` has what processes gained since they were read */
    int64_t files_not_before_ns;
    struct shared_range *ranges; /* scratch, owned */
    size_t range_capacity;

    struct ram_figures figures; /* of the last scan */
    uint64_t hugetlb_bytes;     /* pages of hugetlbfs: the most of one process so far */
    bool uses_group;            /* in the last scan the control group gave the anonymous memory */
    uint64_t uncopied_bytes; /* what families may have copied beyond the figures of the last scan */
    bool is_unread; /* some family was not read yet, so that all its faults may be copies */
    uint64_t highest_bytes, highest_possible_bytes; /* of the combined figure, so far */
    uint64_t
        highest_unread_bytes; /* likewise of the scans up to now in which `is_unread` was set */
    uint64_t unread_bytes;    /* by how much the highest figure may be too low because readings were
                                 delayed; 0 where it is less than a twentieth */
};

void ram_meter_init(struct ram_meter *meter, enum exact_readings_when when, int64_t now_ns);
void ram_meter_finish(struct ram_meter *meter);

/* Measures the tree as of its last scan. Errors: GPUT_ERROR_MEMORY; figures stay as they were. */
int ram_meter_measure(struct ram_meter *meter, struct process_tree *tree, int64_t now_ns);
