/*
 * The manifest of a session, which says what it is: the columns that reports have in the sections
 * identity, job, files and allowed.
 * Tracking files, HTML reports and metrics have them by short names. The figures of the whole
 * session are in tracking files, too: those of its end, as the kernel counted them, and the
 * highest, mean and total ones.
 */
#pragma once

#include "base/doc.h"
#include "model/results_columns.h"

#include <stddef.h>

/* Longer than any of the names. */
#define RESULTS_IDENTITY_NAME 64
/* More than there are. */
#define RESULTS_IDENTITY_COLUMNS 64
#define RESULTS_SESSION_COLUMNS 256

struct results_identity_column {
    const struct results_column *column;
    char name[RESULTS_IDENTITY_NAME]; /* "host", "rank", "allowed_ram_bytes": each once */
    bool is_figure;                   /* as "max_combined_ram_bytes" */
};

/* In the order of reports; returns how many there are. */
size_t results_identity_columns(struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS]);

/* The same, and then those of figures. */
size_t results_session_columns(struct results_identity_column columns[RESULTS_SESSION_COLUMNS]);

/* Adds what is known as members of an object that does not have them yet. Sizes are in bytes. */
void results_identity_add(const struct gput_results *results, struct doc *object);

/* Likewise the figures. */
void results_figures_add(const struct gput_results *results, struct doc *object);

/* Reads both back to results of which nothing is known: results_forget(). Without figures the
 * elapsed time is not known. */
void results_identity_read(const struct doc *object, struct gput_results *results);

/* A time as the identity has it, in seconds since the epoch; NaN: none. */
double results_identity_seconds(const char *time);

/* The rank in the name of a file: the number after "rank" or "r" as a word, 3 of "rank3.csv",
 * "job-7.rank_3.csv", "run.r3.sqlite" and "rank=3". The last one counts. NaN: there is none. */
double results_identity_rank_of(const char *name);
