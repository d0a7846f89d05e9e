/*
 * The intervals of training steps, and which of them an event belongs to.
 */
#ifndef PROFILE_STEP_INDEX_H
#define PROFILE_STEP_INDEX_H

#include "profile/profile_frame.h"

#include <stddef.h>
#include <stdint.h>

struct step {
    int64_t start_us;
    int64_t end_us;
    int64_t number;
    uint32_t metric; /* "Step:ModeKeys.TRAIN" …, of the names of the frame */
    uint32_t node;
};

struct step_index {
    struct step *by_start;
    struct step *by_number;
    size_t count;
    size_t capacity;
};

/* An empty index is all zeroes. */

/* Adds the interval that a row is, if it is one. */
int step_index_add(struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct gput_error *error);

/* All that a frame has. The index is empty before, and to be finished, also after a failure. */
int step_index_make(
    struct step_index *index, struct profile_frame *frame, struct gput_error *error);

/* Puts them in order; after the last one. */
int step_index_sort(struct step_index *index, struct gput_error *error);

/* The step that a row belongs to: the one that it is or names, else the one whose interval contains
 * it strictly; its mode is the step's metric, its number -1 where nobody tells. False when there is
 * none. */
bool step_index_find(const struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct step *found);

void step_index_finish(struct step_index *index);

#endif
