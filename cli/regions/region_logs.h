/*
 * Reads the folder in which the processes of a command leave the logs of their regions.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region_logs_summary {
    size_t logs;            /* number of logs */
    size_t replaced;        /* number of logs that were replaced by something else, such as a
                               pipe */
    bool has_regions;       /* some logs are of collectors, not of phases */
    bool has_ompt, has_mpi; /* at least one process loaded these collectors */
    size_t processes;       /* number of processes that loaded a collector, once for each collector;
                               without their forks */
    uint64_t left_out[5];   /* numbers of ranges not recorded, by enum region_left_out */
    uint64_t unmatched;
    char failure[96];              /* why a collector turned itself off; "": none did */
    struct region_number *numbers; /* numbers that regions announced, the largest sums first;
                                      owned */
    size_t n_numbers;
};

/* The sum of the numbers of one name, over all processes. */
struct region_number {
    char name[200], unit[16];
    uint64_t count;
    double sum, min, max;
};

/*
 * Combines the logs of a folder into a new file, in the format of its extension. Without logs there
 * is no file. `warn` is called with a line for each warning. Errors: those of
 * gput_sub_tracking_combine().
 */
int region_logs_merge(const char *folder, const char *path, void (*warn)(void *, const char *),
    void *user, struct region_logs_summary *summary, struct gput_error *error);

/* Frees what a summary owns. */
void region_logs_summary_finish(struct region_logs_summary *summary);

/* Removes the files of collectors from a folder. */
void region_logs_remove(const char *folder);
