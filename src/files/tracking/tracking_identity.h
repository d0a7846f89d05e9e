/*
 * Whose samples a tracking file has, and when the session has ended its figures: a table
 * `session_data` with one row where its format has tables. CSV has no place for it that the readers
 * of the older gpu_tracker skip: it is in a file next to it, as JSON.
 */
#pragma once

#include "files/tracking/tracking_file.h"
#include "files/tracking/tracking_reader.h"

#include <gputracker/table.h>

#define TRACKING_IDENTITY_TABLE "session_data"
#define TRACKING_IDENTITY_EXTENSION ".session.json"

/*
 * Writes it, or replaces what was written before. `has_ended`: with the figures of the whole
 * session. A file that is not a regular one has none. Errors: GPUT_ERROR_EXISTS (a file of that
 * name, which is not ours), and as of files.
 */
int tracking_identity_write(struct tracking_file *file, const struct gput_results *results,
    bool has_ended, struct gput_error *error);

/* Reads the file next to a tracking file into results of which nothing is known. False: there is
 * none that can be read. */
bool tracking_identity_read(const char *path, struct gput_results *results);

/* The file that such a file is next to, by its name: PATH of PATH.session.json. The caller frees
 * it; NULL without memory, or of another name. */
char *tracking_identity_described(const char *path);

/* Reads the last row of a table likewise. */
void tracking_identity_read_table(const struct gput_table *table, struct gput_results *results);

/*
 * Reads that of a file that is open: from its tables, or the file next to it. Errors: those of
 * tracking_reader_tables().
 */
int tracking_identity_of(struct tracking_reader *reader, const char *path,
    struct gput_results *results, struct gput_error *error);
