/*
 * The formats of a recording of power: one vtable, one file a format. What they share (the folder,
 * its metadata) is in energy_recording_writer.c.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"

#include <stdbool.h>

struct energy_recording_format {
    const char *file_name; /* in the folder */

    /* `finish` writes a file again that was removed meanwhile, and finds one that was moved; that
     * is said as an error, GPUT_ERROR_GONE.
     *
     * Creates the file; with `continues` an existing one gets a new segment. On success finish() is
     * called with *file. */
    int (*open)(const char *path, bool continues, void **file, struct gput_error *error);

    /* Adds a moment completely or not at all: `metrics` is an object of "cpu" and "gpu", each with
     * numbers, or objects of numbers, by name. */
    int (*add)(void *file, const char *date, const struct doc *metrics, struct gput_error *error);

    /* Starts a new segment. */
    int (*end_segment)(void *file, struct gput_error *error);

    /* Ends the segment and frees `file`. An empty file is removed. */
    int (*finish)(void *file, struct gput_error *error);
};

extern const struct energy_recording_format energy_recording_json;
extern const struct energy_recording_format energy_recording_sqlite;
