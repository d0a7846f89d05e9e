/*
 * Finds when two steps of a training run first began, in one pass over the inputs. It serves
 * selections by step.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>
#include <stdint.h>

/* The start times of two steps; INT64_MAX until seen. */
struct step_search {
    const char *suffix; /* search only files of framework events with this suffix; NULL: all
                           files */
    int64_t first_step;
    int64_t last_step; /* with `is_after_last`, the step wanted is the next existing one after it */
    bool is_after_last;
    int64_t first_begin_ns;
    int64_t last_begin_ns;
    int64_t min_step; /* lowest and highest step seen, for messages */
    int64_t max_step;
    int64_t next_step; /* the lowest step seen after `last_step`; 0: none */
};

void step_search_note(struct step_search *search, int64_t step, int64_t begin_ns);

/* Returns the error of a step that was not seen: GPUT_ERROR_NOT_FOUND, with the range of steps. */
int step_search_refuse(const struct step_search *search, int64_t step, struct gput_error *error);
