/*
 * The catalogue: which files are of which session. Every file says in its manifest whose it is
 * (model/results_identity.h); a tracking file in CSV, whose manifest is next to it, may have been
 * renamed or copied without that. Reports, jobs and exports ask here, so all of them have the same
 * sessions.
 *
 * In this order, files are of one session that
 *
 *   1. have the same identity: the process, its start, and the boot of its machine;
 *   2. are tracking files without an identity whose first sample is the one that the manifest in
 *      another file of the session names;
 *   3. are tracking files of which one has all samples of the other, or the first ones of them, and
 *      not both an identity;
 *   4. are of versions that do not name the first sample, or of other tools: results and a tracking
 *      file of one folder that can be of one time, where the name of the results continues that of
 *      the tracking file ("rank0.csv", "rank0-usage.json"), or no other one there can be meant, or
 *      no other one has the rank of its name ("samples.r0.csv", "usage.r0.json").
 *
 * Files of marks name no session: the name decides, as in 4; else the process that marked; else the
 * file whose name that of a forked process continues ("marks.0.csv", "marks.0-1234.csv").
 */
#pragma once

#include "base/error.h"
#include "model/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of what they know: reports, results so far, samples. */
enum catalogue_kind {
    CATALOGUE_REPORT = 1,
    CATALOGUE_KEPT = 2,
    CATALOGUE_SAMPLES = 4,
    CATALOGUE_MARKS = 8,
    CATALOGUE_UNREADABLE = 16, /* by its name a file of a session that has no other */
    CATALOGUE_OTHER = 32       /* of a kind that is a session by itself */
};

/* Facts of a session from one of its files. An unknown number is NaN, an unknown text "". */
struct catalogue_file {
    const char *path; /* the caller's */
    enum catalogue_kind kind;
    size_t folder;       /* equal for files of one folder; 0: named by itself */
    char session[88];    /* its identity: equal for one session only */
    double rank;         /* by its manifest, else by its name: of the caller */
    double pid;          /* the process that was tracked, or the first that marked */
    double start, end;   /* of the session by results; of first and last sample or mark of others */
    double first_sample; /* as the manifest names it; of samples: that of the first row */
    bool has_ended;
    double extent;            /* to compare files of one kind: rows or bytes, seconds of results */
    uint64_t first_row, hash; /* of samples; 0: not read */
    /* Set by catalogue_unite(): */
    size_t of;    /* which file stands for its session: one with samples where there is one */
    bool is_copy; /* another file of the session has all that it has */
};

/* Nothing is known of the file. */
void catalogue_file_init(
    struct catalogue_file *file, const char *path, enum catalogue_kind kind, size_t folder);

/* Sets what results out of the file say of its session. */
void catalogue_file_set(struct catalogue_file *file, const struct gput_results *results);

/* Read what a file says, without all of its samples. Of what cannot be read nothing is known. */
void catalogue_read_results(struct catalogue_file *file);
void catalogue_read_samples(struct catalogue_file *file);
void catalogue_read_marks(struct catalogue_file *file);

/*
 * Finds the sessions of files. Samples are read where only they can tell copies apart. Errors:
 * GPUT_ERROR_MEMORY.
 */
int catalogue_unite(struct catalogue_file *files, size_t count, struct gput_error *error);

/* The tracking file among those named by the caller that a file belongs to by its name; `count`:
 * none. */
size_t catalogue_find_by_name(
    const struct catalogue_file *files, size_t count, const char *path, size_t folder);
