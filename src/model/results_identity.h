/*
 * Whose results these are, apart from their figures: the columns that reports have in the sections
 * identity, job and allowed. Tracking files, HTML reports and metrics have them by short names.
 */
#pragma once

#include "base/doc.h"
#include "model/results_columns.h"

#include <stddef.h>

/* Longer than any of the names. */
#define RESULTS_IDENTITY_NAME 48
/* More than there are. */
#define RESULTS_IDENTITY_COLUMNS 64

struct results_identity_column {
    const struct results_column *column;
    char name[RESULTS_IDENTITY_NAME]; /* "host", "rank", "allowed_ram_bytes": each once */
};

/* In the order of reports; returns how many there are. */
size_t results_identity_columns(struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS]);

/* Adds what is known as members of an object that does not have them yet. Sizes are in bytes. */
void results_identity_add(const struct gput_results *results, struct doc *object);

/* Reads them back to results of which nothing is known: results_forget(). */
void results_identity_read(const struct doc *object, struct gput_results *results);

/* A time as the identity has it, in seconds since the epoch; NaN: none. */
double results_identity_seconds(const char *time);
