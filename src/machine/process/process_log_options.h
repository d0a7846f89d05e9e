/*
 * What a process log is fed with, and what it keeps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_tree;

struct process_log_options {
    struct process_tree *tree; /* has the processes; borrowed */
    const char *procfs_root;
    int64_t ns_per_tick;
    bool has_events;      /* process_log_event() gets every event */
    bool has_taskstats;   /* process_log_exit() gets every exit record */
    bool keeps_ended;     /* processes that ended are kept */
    bool keeps_counts;    /* process_log_counts() is wanted */
    bool has_live_counts; /* while processes run, too */
    bool reads_commands;  /* command lines are read */
    size_t max_ended;     /* about how many */
};
