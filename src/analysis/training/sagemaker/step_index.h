/*
 * The intervals of training steps, and a search for the step of an event.
 */
#pragma once

#include "analysis/training/end_index.h"
#include "analysis/training/sagemaker/profile_frame.h"

#include <stddef.h>
#include <stdint.h>

struct step {
    int64_t start_us;
    int64_t end_us;
    int64_t number;
    uint32_t metric; /* "Step:ModeKeys.TRAIN" …, in the names of the frame */
    uint32_t node;
};

/* How steps are grouped; within a group they are in order of their starts. */
enum step_order { STEPS_OF_NODE, STEPS_OF_ALL, NUMBERS_OF_NODE, NUMBERS_OF_ALL, STEP_ORDERS };

struct step_index {
    struct step *steps;
    size_t count;
    const struct step **ordered[STEP_ORDERS];
    struct end_index ends[STEP_ORDERS];
};

/* An empty index is all zeroes. */

/* Adds a row if it is the interval of a step. */
int step_index_add(struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct gput_error *error);

/* Adds all steps of a frame and sorts them. The index must be empty. Call step_index_finish() also
 * after a failure. */
int step_index_make(
    struct step_index *index, struct profile_frame *frame, struct gput_error *error);

/* Sorts the steps, after the last one was added. */
int step_index_sort(struct step_index *index, struct gput_error *error);

/*
 * Finds the step of a row; its mode is the step's metric, its number -1 if not known. Returns false
 * when there is none.
 *
 * A row that is a step is its own step. A row that names no step belongs to the step that started
 * last of those that contain it strictly. A row that names a number belongs, of the steps with that
 * number, to the one that started last and contains it, else to the one that started last before
 * it, else to the first. If the row's own node has steps (of that number), only those count, else
 * those of all nodes.
 *
 * A row that names the step that was found for it belongs to the same step again.
 */
bool step_index_find(const struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct step *found);

void step_index_finish(struct step_index *index);
