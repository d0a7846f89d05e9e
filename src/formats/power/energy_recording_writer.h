/*
 * Writing a recording of power: a line of power_metrics.json, or rows of power_metrics.sqlite, for
 * each moment, safe from our own death when the call returns.
 */
#ifndef FORMATS_POWER_ENERGY_RECORDING_WRITER_H
#define FORMATS_POWER_ENERGY_RECORDING_WRITER_H

#include "base/doc.h"
#include "base/error.h"

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stdint.h>

struct energy_recording_writer;

/*
 * Makes the folder, those above it, and in it metadata.json, where they are not there yet. With
 * `continues` lines are added to those there are, as a segment of their own. On success the caller
 * ends it by energy_recording_writer_finish().
 * Errors: GPUT_ERROR_EXISTS (without `continues`: there is a recording in the folder),
 * GPUT_ERROR_IO (another recording to the folder is under way, too), GPUT_ERROR_PERMISSION,
 * GPUT_ERROR_INVALID ("" as a folder), GPUT_ERROR_MEMORY.
 */
int energy_recording_writer_create(const char *folder, enum gput_energy_driver driver,
    bool continues, int64_t now_ns, struct energy_recording_writer **writer,
    struct gput_error *error);

/* Adds a line: `metrics` is an object of "cpu" and "gpu". A line that does not fit on the disk is
 * taken back whole. */
int energy_recording_writer_add(struct energy_recording_writer *writer, int64_t time_ns,
    const struct doc *metrics, struct gput_error *error);

/* What is added from here on is a segment of its own: nothing is drawn from one to the next. */
int energy_recording_writer_end_segment(
    struct energy_recording_writer *writer, struct gput_error *error);

/* Closes the segment, if it has lines, and the file. Without any line, what create() made is taken
 * away again. NULL is fine. */
int energy_recording_writer_finish(
    struct energy_recording_writer *writer, struct gput_error *error);

#endif
