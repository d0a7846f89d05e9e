/*
 * The file next to a CSV tracking file, which has what CSV has no place for, as JSON: whose samples
 * these are, and of the plain form the static data ("static_data"), too.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "model/results.h"

/* The key, and in databases the column. */
#define TRACKING_ROWS_LOST "rows_lost"

/* Returns the contents of the sidecar of a tracking file, owned by the caller. NULL: none can be
 * read. */
struct doc *tracking_sidecar_read(const char *tracking_file);

/* Whether the file may be written: there is none, or it is one of ours. Errors: GPUT_ERROR_EXISTS.
 */
int tracking_sidecar_check(const char *tracking_file, struct gput_error *error);

/* How many rows of the tracking file could not be written. */
uint64_t tracking_sidecar_rows_lost(const struct doc *doc);

/* Removes it, if it is one of ours. */
void tracking_sidecar_remove(const char *tracking_file);

/* Writes it, whole. `static_data`: NULL where the tracking file has them. `results`: NULL while
 * nothing is known of the session. `has_ended`: with their figures. `rows_lost`: of the tracking
 * file so far. Errors: as of files.
 */
int tracking_sidecar_write(const char *tracking_file, const struct gput_static_data *static_data,
    const struct gput_results *results, bool has_ended, uint64_t rows_lost,
    struct gput_error *error);
