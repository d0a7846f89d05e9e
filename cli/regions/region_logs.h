/*
 * The folder in which the processes of a command leave the logs of their regions.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region_logs_summary {
    size_t logs;            /* with marks */
    size_t replaced;        /* something else, a pipe perhaps, has the name of a log */
    bool has_regions;       /* some of them are of collectors, not of phases */
    bool has_ompt, has_mpi; /* some process loaded these collectors */
    size_t processes;       /* that loaded a collector, counted once for each; not their forks */
    uint64_t left_out[5];   /* as enum region_left_out says */
    uint64_t unmatched;
    char failure[96];              /* of a collector that turned itself off; "": none did */
    struct region_number *numbers; /* that regions announced, the largest sums first; owned */
    size_t n_numbers;
};

/* What one name announced, over all processes. */
struct region_number {
    char name[200], unit[16];
    uint64_t count;
    double sum, min, max;
};

/*
 * Combines the logs of a folder into a new file, of the format of its extension; without any logs
 * it is not made. `warn` gets a line for each warning. Errors: those of
 * gput_sub_tracking_combine().
 */
int region_logs_merge(const char *folder, const char *path, void (*warn)(void *, const char *),
    void *user, struct region_logs_summary *summary, struct gput_error *error);

/* Frees what a summary owns. */
void region_logs_summary_finish(struct region_logs_summary *summary);

/* Removes the files of a folder that collectors made. */
void region_logs_remove(const char *folder);
