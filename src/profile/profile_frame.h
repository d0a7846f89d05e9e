/*
 * A training profile in memory: the readings of the system and the events of the framework as rows,
 * in order of time, each once.
 */
#ifndef PROFILE_PROFILE_FRAME_H
#define PROFILE_PROFILE_FRAME_H

#include "base/error.h"
#include "base/names.h"
#include "trace/read_report.h"
#include "trace/trace_root.h"

#include <gputracker/profile.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct system_row {
    int64_t time_us; /* since the epoch */
    double value;
    uint32_t name; /* texts are numbers in `names` */
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
    int64_t bytes;   /* fetched; -1: not known */
    uint32_t name;   /* the event's own */
    uint32_t metric; /* args.layer_name, else args.name, else the event's name */
    uint32_t phase;
    uint32_t node;
    int32_t worker_id;   /* -1: not known */
    int32_t num_workers; /* -1: not known */
    uint32_t pin_memory; /* "True", "False" or "NA" */
};

struct profile_frame {
    struct names names;
    struct system_row *system;
    size_t system_count;
    size_t system_capacity;
    struct framework_row *framework;
    size_t framework_count;
    size_t framework_capacity;
    int64_t start_us; /* the moment of the first system file: relative times count from it; 0
                         without one */
};

/* What goes into a frame. */
struct profile_frame_selection {
    int64_t start_us; /* INT64_MIN: from the beginning */
    int64_t end_us;   /* INT64_MAX: to the end */
    bool by_step;     /* only framework rows of these steps, and the readings of their time */
    int64_t first_step;
    int64_t last_step;
    bool without_system;
    bool without_framework;
};

/* Reads a trace root. On failure the frame is empty. Adds to `report`. */
int profile_frame_read(const char *path, const struct profile_frame_selection *selection,
    struct profile_frame *frame, struct read_report *report, struct gput_error *error);

/* The rows that a caller has, as they are, in their order. */
int profile_frame_load(
    const struct gput_profile_rows *rows, struct profile_frame *frame, struct gput_error *error);

/* The same, selected, in order and each once, as if they had been read. */
int profile_frame_of_rows(const struct gput_profile_rows *rows,
    const struct profile_frame_selection *selection, struct profile_frame *frame,
    struct gput_error *error);

void profile_frame_finish(struct profile_frame *frame);

static inline const char *profile_frame_text(const struct profile_frame *frame, uint32_t number)
{
    return names_text(&frame->names, number);
}

/*
 * Is it an interval of a training step: "Step:ModeKeys.TRAIN" and the like? With a mode ("TRAIN")
 * of that mode only.
 */
bool profile_frame_is_step(
    const struct profile_frame *frame, const struct framework_row *row, const char *mode);

/*
 * Gives rows without a step the step whose interval strictly contains them. `modes[i]` becomes the
 * metric of the interval that row i belongs to (that of its step's number where it names one),
 * NAMES_NONE where there is none. `modes` has framework_count places.
 */
int profile_frame_assign_steps(
    struct profile_frame *frame, uint32_t *modes, struct gput_error *error);

#endif
