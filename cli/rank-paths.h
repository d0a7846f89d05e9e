/*
 * Names of the files that one of many ranks writes: placeholders, and a name of its own for each
 * rank.
 */
#pragma once

#include <gputracker/job.h>

#include <stdbool.h>
#include <stddef.h>

enum { RANK_PATHS = 8 };

struct rank_paths {
    struct gput_job *job;    /* NULL until something was expanded; owned */
    char *paths[RANK_PATHS]; /* owned */
    size_t n_paths;
    bool changed[RANK_PATHS]; /* the rank was put into it */
};

/* An empty one is all zeroes. */
void rank_paths_finish(struct rank_paths *ranks);

/* Replaces a path (NULL and "": none) by that of this process, which `ranks` owns. Errors: those of
 * gput_job_path(). */
int rank_paths_expand(struct rank_paths *ranks, const char **path, struct gput_error *error);

/* Replaces a path that is taken by a free one. False: there is one rank only, or no memory. */
bool rank_paths_replace(struct rank_paths *ranks, const char **path);

/* "rank 3 of 8 (Open MPI) writes samples.r3.csv, usage.r3.json"; "" where no rank was put into a
 * name. */
void rank_paths_describe(const struct rank_paths *ranks, char *text, size_t size);
