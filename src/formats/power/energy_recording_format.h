/*
 * The forms in which a recording of power is written: one vtable, one file a format. All that they
 * share (the folder, its metadata) is energy_recording_writer.c.
 */
#ifndef FORMATS_POWER_ENERGY_RECORDING_FORMAT_H
#define FORMATS_POWER_ENERGY_RECORDING_FORMAT_H

#include "base/doc.h"
#include "base/error.h"

#include <stdbool.h>

struct energy_recording_format {
    const char *file_name; /* in the folder */

    /* Makes the file; with `continues` what is added to one that is there is a segment of its own.
     * On success finish() is called with *file. */
    int (*open)(const char *path, bool continues, void **file, struct gput_error *error);

    /* Adds a moment, whole or not at all: `metrics` is an object of "cpu" and "gpu", each with
     * numbers, or objects of numbers, by name. */
    int (*add)(void *file, const char *date, const struct doc *metrics, struct gput_error *error);

    /* What is added from here on is a segment of its own. */
    int (*end_segment)(void *file, struct gput_error *error);

    /* Closes the segment and frees `file`. A file in which nothing ever was is removed. */
    int (*finish)(void *file, struct gput_error *error);
};

extern const struct energy_recording_format energy_recording_json;
extern const struct energy_recording_format energy_recording_sqlite;

#endif
