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

/* Size of a name, the final NUL included. */
#define RESULTS_IDENTITY_NAME 64
/* Upper bounds of the numbers of columns. */
#define RESULTS_IDENTITY_COLUMNS 64
#define RESULTS_SESSION_COLUMNS 256

struct results_identity_column {
    const struct results_column *column;
    char name[RESULTS_IDENTITY_NAME]; /* "host", "rank", "allowed_ram_bytes": each once */
    bool is_figure;                   /* as "max_combined_ram_bytes" */
};

/* Fills the columns in the order of reports. Returns their number. */
size_t results_identity_columns(struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS]);

/* Fills the columns of the identity, followed by those of figures. Returns their number. */
size_t results_session_columns(struct results_identity_column columns[RESULTS_SESSION_COLUMNS]);

/* Adds the known fields to an object that has none of them yet. Sizes are in bytes. */
void results_identity_add(const struct gput_results *results, struct doc *object);

/* Adds the known figures to an object that has none of them yet. */
void results_figures_add(const struct gput_results *results, struct doc *object);

/* Reads identity and figures from an object into results that results_forget() prepared. Without
 * figures, the elapsed time is unknown. */
void results_identity_read(const struct doc *object, struct gput_results *results);

/* Converts a time of the identity to seconds since the epoch; NaN: none. */
double results_identity_seconds(const char *time);

/* Returns the rank in the name of a file: the number after the last word "rank" or "r", such as
 * 3 in "rank3.csv", "job-7.rank_3.csv", "run.r3.sqlite" and "rank=3". NaN: there is none. */
double results_identity_rank_of(const char *name);
