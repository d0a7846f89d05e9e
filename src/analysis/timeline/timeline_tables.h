/*
 * The further tables of a tracking file on a timeline: processes as slices; each GPU, I/O and power
 * as counters.
 */
#pragma once

#include "analysis/timeline/timeline_inputs.h"
#include "base/error.h"
#include "files/tracking/tracking_reader.h"

/* Adds them to a process of the timeline, after the samples: what has no end goes on to `end`, in
 * seconds since the epoch. A damaged table costs what comes after it, with a warning. */
int timeline_add_tables(struct timeline_inputs *inputs, uint32_t process, double end,
    struct tracking_reader *reader, struct gput_error *error);
