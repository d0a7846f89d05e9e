/*
 * Writes a recording of power: a line of power_metrics.json, or rows of power_metrics.sqlite, for
 * each moment. Once a call has returned, its data survive a kill of this process.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stdint.h>

struct energy_recording_writer;

/*
 * Creates the folder, its parents and its metadata.json if they are missing. With `continues`, an
 * existing recording gets a new segment. On success the caller calls
 * energy_recording_writer_finish(). Errors: GPUT_ERROR_EXISTS (without `continues`: the folder has
 * a recording), GPUT_ERROR_IO (also when another recording to the folder is running),
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID ("" as a folder), GPUT_ERROR_MEMORY.
 */
int energy_recording_writer_create(const char *folder, enum gput_energy_driver driver,
    bool continues, int64_t now_ns, struct energy_recording_writer **writer,
    struct gput_error *error);

/* Adds a line: `metrics` is an object of "cpu" and "gpu". A line that does not fit on the disk is
 * removed completely. */
int energy_recording_writer_add(struct energy_recording_writer *writer, int64_t time_ns,
    const struct doc *metrics, struct gput_error *error);

/* Starts a new segment; the curve is interrupted between segments. */
int energy_recording_writer_end_segment(
    struct energy_recording_writer *writer, struct gput_error *error);

/* Ends the segment, if it has lines, and closes the file. If there is no line at all, removes what
 * create() made. NULL is fine. */
int energy_recording_writer_finish(
    struct energy_recording_writer *writer, struct gput_error *error);
