/*
 * The files and folders that a tracked session writes, each from its option to its place in the
 * end: the name of this process, which is perhaps one of many ranks; a claim to that name, so that
 * nothing is replaced without --overwrite; and the spool, in which it is perhaps written first.
 */
#pragma once

#include "track/claim.h"
#include "track/spool.h"

#include <gputracker/rank.h>

#include <stdbool.h>
#include <stddef.h>

enum output_id {
    OUTPUT_SAMPLES,
    OUTPUT_REPORT,
    OUTPUT_HTML,
    OUTPUT_POWER,
    OUTPUT_RESULTS, /* so far */
    OUTPUT_REGIONS,
    OUTPUT_TRACES,
    OUTPUT_TEXTFILE, /* a folder that sessions share */
    OUTPUT_SPOOL,    /* likewise */
    OUTPUTS
};

struct output {
    const char **path;   /* where its writer has the name; NULL: this output is not wanted */
    const char *pattern; /* with %n, as it was given; NULL: it has none */
    char *wanted;        /* the name it has if nothing is there; owned */
    char *place;         /* where it is in the end; owned */
    char *local;         /* where it is written first, in the spool; NULL: at its place; owned */
    struct claim claim;  /* to the place */
    size_t n_folders;    /* that were made for it, one in the other */
    bool has_rank;       /* the rank was put into its name */
    bool is_claimed;     /* outputs_take() has found its name free */
    bool is_made;        /* something was made there, so the name is final */
    bool is_skipped;     /* nothing will be written there */
    int taken_by;        /* why the wanted name is not free: EEXIST, EBUSY; 0: it is */
};

struct outputs {
    struct gput_rank *own; /* NULL until it was asked for; owned */
    bool overwrite;        /* --overwrite was given */
    bool is_older_form; /* -e: as the older tool, it replaces reports and refuses tracking files */
    void (*warn)(void *user, const char *text);
    void *user;
    struct spool spool;
    long number;         /* in the names of all outputs of the session; 0: in none */
    long pattern_number; /* for %n */
    struct output list[OUTPUTS];
};

void outputs_init(struct outputs *outputs);

/* Removes what was claimed, and folders that were made, if they are still empty. */
void outputs_finish(struct outputs *outputs);

/* Finds out which rank of which job this process is, if it was not yet. Errors: GPUT_ERROR_MEMORY.
 */
int outputs_find_rank(struct outputs *outputs, struct gput_error *error);

/* Whether there are other ranks, elements of an array, or jobs of GNU parallel; false while the
 * rank was not asked for. */
bool outputs_are_many(const struct outputs *outputs);

/* Whether this is one of many, or in a batch job, which may be started again by itself. */
bool outputs_are_in_job(const struct outputs *outputs);

/*
 * Replaces a path (NULL and "": none) by that of this process. The output is at `path` from then
 * on: it has the name that is to be written to. Folders that are missing are made; of an output
 * that sessions share, those from the first one on whose name has a placeholder. Errors: those of
 * gput_rank_path().
 */
int outputs_name(
    struct outputs *outputs, enum output_id id, const char **path, struct gput_error *error);

/* "samples-regions.gputblocks" of "samples.csv": the output is next to another file, with that
 * ending. Errors: GPUT_ERROR_MEMORY. */
int outputs_name_after(struct outputs *outputs, enum output_id id, const char *file,
    const char *ending, const char **path, struct gput_error *error);

/* Makes what is at the path of an output, of the caller's `user`. GPUT_ERROR_EXISTS: the name is
 * taken. */
typedef int output_maker(void *user, struct gput_error *error);

/*
 * Claims the name of an output, unless its writer does that, and calls `make` (NULL: nothing is to
 * be made yet). Where the name is taken, all outputs of the session for which nothing was made yet
 * get the next number with which each of their names is free (x.1.json, x.1.csv). Errors:
 * GPUT_ERROR_EXISTS, those of `make`. If a name cannot be claimed for another reason, its writer
 * reports that later.
 */
int outputs_take(struct outputs *outputs, enum output_id id, output_maker *make, void *user,
    struct gput_error *error);

/* Warns of each output that has another name than the one that was wanted. */
void outputs_say_names(const struct outputs *outputs);

/* Nothing will be written there. */
void outputs_skip(struct outputs *outputs, enum output_id id);

/* Where an output is in the end; NULL: nowhere. */
const char *outputs_place(const struct outputs *outputs, enum output_id id);

/* From now on the outputs that have names are written in a new folder of the spool. Errors: those
 * of spool_place(). */
int outputs_spool(struct outputs *outputs, struct gput_error *error);

/* Before an output is written in the end: makes its folder again if the command has removed it, and
 * takes a free name where something else is at its place by now. */
void outputs_settle(struct outputs *outputs, enum output_id id);

/* Moves what is in the spool to its places, when the session has been destroyed. False: one stays,
 * and a warning says where. */
bool outputs_deliver(struct outputs *outputs);

/* "rank 3 (Open MPI) writes samples.r3.csv, usage.r3.json", "task 4 writes usage.t4.json"; "" where
 * neither was put into a name of what is written. */
void outputs_describe(const struct outputs *outputs, char *text, size_t size);
