/*
 * When two steps of a training run first began: a selection by steps, found in one pass over the
 * inputs.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>
#include <stdint.h>

/* The moments when two steps first began; INT64_MAX while not seen. */
struct step_search {
    const char *suffix; /* of the files of framework events to search; NULL: search all files */
    int64_t first_step;
    int64_t last_step; /* with `is_after_last` the next one that there is after it */
    bool is_after_last;
    int64_t first_begin_ns;
    int64_t last_begin_ns;
    int64_t min_step; /* of all that were seen, for messages */
    int64_t max_step;
    int64_t next_step; /* the lowest after `last_step`; 0: not seen */
};

void step_search_note(struct step_search *search, int64_t step, int64_t begin_ns);

/* Returns the error of a step that was not seen: GPUT_ERROR_NOT_FOUND, with the steps that there
 * are. */
int step_search_refuse(const struct step_search *search, int64_t step, struct gput_error *error);
