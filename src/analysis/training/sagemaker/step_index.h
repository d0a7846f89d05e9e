/*
 * The intervals of training steps, and which of them an event belongs to.
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
    uint32_t metric; /* "Step:ModeKeys.TRAIN" …, of the names of the frame */
    uint32_t node;
};

/* What steps stand together by, in order of their begins. */
enum step_order { STEPS_OF_NODE, STEPS_OF_ALL, NUMBERS_OF_NODE, NUMBERS_OF_ALL, STEP_ORDERS };

struct step_index {
    struct step *steps;
    size_t count;
    const struct step **ordered[STEP_ORDERS];
    struct end_index ends[STEP_ORDERS];
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

/*
 * The step that a row belongs to; its mode is the step's metric, its number -1 if not known. False
 * when there is none.
 *
 * A row that is a step is that one. One that names no step is of the latest to begin of those that
 * contain it strictly. Of the several that can have the number that a row names, it is the latest
 * that contains it, else the latest that had begun, else the first. Where the row's own node has
 * steps (of that number), only those count, else those of all nodes.
 *
 * So a row that names the step that was found for it is of that step again.
 */
bool step_index_find(const struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct step *found);

void step_index_finish(struct step_index *index);
