/*
 * A training profile: the readings of the system and the events of the framework as rows, which are
 * read in order of time without duplicates. Memory is bounded: the rest is in a temporary file.
 */
#pragma once

#include "analysis/training/row_sorter.h"
#include "base/error.h"
#include "base/names.h"
#include "files/trace/read_report.h"
#include "files/trace/trace_root.h"

#include <gputracker/profile.h>

#include <stdbool.h>
#include <stdint.h>

struct system_row {
    int64_t time_us; /* since the epoch */
    double value;
    uint32_t name; /* the texts are numbers in `names` */
    uint32_t dimension;
    uint32_t node;
    uint32_t type;
};

struct framework_row {
    int64_t start_us; /* since the epoch */
    int64_t end_us;
    int64_t pid;
    int64_t tid;
    int64_t step;    /* -1: not known */
    int64_t bytes;   /* bytes fetched; -1: not known */
    uint32_t name;   /* name of the event */
    uint32_t metric; /* args.layer_name, else args.name, else the event's name */
    uint32_t phase;
    uint32_t node;
    int32_t worker_id;   /* -1: not known */
    int32_t num_workers; /* -1: not known */
    uint32_t pin_memory; /* "True", "False" or "NA" */
};

/* First start and last end of rows; INT64_MAX and INT64_MIN without rows. */
struct profile_span {
    int64_t first_us;
    int64_t last_us;
};

struct profile_frame {
    struct names names;
    struct row_sorter *readings;
    struct row_sorter *events;
    struct profile_span reading_span; /* of all selected rows, kept or not */
    struct profile_span event_span;
    int64_t start_us; /* time of the first system file, from which relative times count; 0 without
                         one */
};

/* Selects the rows of a frame. */
struct profile_frame_selection {
    int64_t start_us; /* INT64_MIN: from the beginning */
    int64_t end_us;   /* INT64_MAX: to the end */
    bool by_step;     /* only events of these steps, and the readings during them */
    int64_t first_step;
    int64_t last_step;
    bool without_system;
    bool without_framework;
    /* Whether a selected event is kept as a row; NULL: all are. */
    bool (*keeps_event)(const struct profile_frame *frame,
        const struct gput_profile_options *options, const struct framework_row *row);
    const struct gput_profile_options *options;
};

/* Reads the trace root of the options, or their rows. On failure the frame is empty. Adds to
 * `report`. */
int profile_frame_read(const struct profile_frame_selection *selection, struct profile_frame *frame,
    struct read_report *report, struct gput_error *error);

/* Converts an event of the caller to a row. */
int profile_frame_add(struct profile_frame *frame, const struct gput_profile_event *event,
    struct framework_row *row, struct gput_error *error);

void profile_frame_finish(struct profile_frame *frame);

/* Read the first row and the next one, NULL after the last, any number of times. A row is valid
 * until the next call. */
int profile_frame_first_reading(
    struct profile_frame *frame, const struct system_row **row, struct gput_error *error);
int profile_frame_next_reading(
    struct profile_frame *frame, const struct system_row **row, struct gput_error *error);
int profile_frame_first_event(
    struct profile_frame *frame, const struct framework_row **row, struct gput_error *error);
int profile_frame_next_event(
    struct profile_frame *frame, const struct framework_row **row, struct gput_error *error);

static inline const char *profile_frame_text(const struct profile_frame *frame, uint32_t number)
{
    return names_text(&frame->names, number);
}

/*
 * Whether a row is the interval of a training step, such as "Step:ModeKeys.TRAIN"; with a mode
 * ("TRAIN"), of that mode.
 */
bool profile_frame_is_step(
    const struct profile_frame *frame, const struct framework_row *row, const char *mode);
