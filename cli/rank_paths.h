/*
 * Names of the files that one of many ranks writes: placeholders, and a name of its own for each
 * rank. A name is claimed by an empty file, so that no two trackers write to one, on whatever
 * machines they are.
 */
#pragma once

#include <gputracker/rank.h>

#include <stdbool.h>
#include <stddef.h>

enum { RANK_PATHS = 12 };

struct rank_paths {
    struct gput_rank *own;            /* NULL until it was asked for; owned */
    char *paths[RANK_PATHS];          /* owned */
    const char *patterns[RANK_PATHS]; /* with %n, as it was given; NULL: it has none */
    size_t n_paths;
    bool has_rank[RANK_PATHS];    /* the rank was put into it */
    bool is_skipped[RANK_PATHS];  /* nothing will be written there */
    bool is_claimed[RANK_PATHS];  /* we made an empty file, or folder, of that name */
    size_t n_folders[RANK_PATHS]; /* that we made for it, one in the other */
};

/* An empty one is all zeroes. Removes what was claimed, and folders that were made, if they are
 * still empty. */
void rank_paths_finish(struct rank_paths *ranks);

/* Finds out which rank of which job this process is, if it was not yet. Errors: GPUT_ERROR_MEMORY.
 */
int rank_paths_find_rank(struct rank_paths *ranks, struct gput_error *error);

/* Replaces a path (NULL and "": none) by that of this process, which `ranks` owns. Folders from the
 * first one on whose name has a placeholder are made. Errors: those of gput_rank_path(). */
int rank_paths_expand(struct rank_paths *ranks, const char **path, struct gput_error *error);

/* The same with its placeholders alone, as ranks share it. */
int rank_paths_expand_shared(struct rank_paths *ranks, const char **path, struct gput_error *error);

/* Whether there are other ranks, elements of an array, or jobs of GNU parallel; false while the
 * rank was not asked for. */
bool rank_paths_are_many(const struct rank_paths *ranks);

/* Whether a name that is taken is replaced by the next free one: of many ranks, and in a rank,
 * which may be started again by itself. */
bool rank_paths_take_free_names(const struct rank_paths *ranks);

/* Whether the name was given with %n: then one that is taken is replaced, too. */
bool rank_paths_are_numbered(const struct rank_paths *ranks, const char *path);

/* Replaces a path that is taken by a free one: that of the next number where it has one. False: it
 * is not to be replaced, or no memory. */
bool rank_paths_replace(struct rank_paths *ranks, const char **path);

/* Makes what is at `*path` of the caller's `user`. GPUT_ERROR_EXISTS: the name is taken. */
typedef int rank_path_maker(void *user, struct gput_error *error);

/*
 * Lets `make` try: where rank_paths_take_free_names(), again with the next free name in `*path`.
 * `ranks` owns that name then where it had the path, or else `*owned` has it, in place of what it
 * had (NULL: nothing). Returns what the last try did.
 */
int rank_paths_make(struct rank_paths *ranks, const char **path, char **owned,
    rank_path_maker *make, void *user, struct gput_error *error);

/*
 * Makes an empty file, or folder, of an expanded name: of the next free one where it is taken, and
 * rank_paths_take_free_names() or it is numbered. Pipes and devices are left alone. Returns 0 or an
 * errno: EEXIST where the only one is taken.
 */
int rank_paths_claim(struct rank_paths *ranks, const char **path, bool is_folder);

/* Nothing will be written there. */
void rank_paths_skip(struct rank_paths *ranks, const char *path);

/* "rank 3 (Open MPI) writes samples.r3.csv, usage.r3.json", "task 4 writes usage.t4.json"; "" where
 * neither was put into a name of what is written. */
void rank_paths_describe(const struct rank_paths *ranks, char *text, size_t size);
