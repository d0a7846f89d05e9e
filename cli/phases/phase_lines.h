/*
 * Splits a command's output into lines, and finds those that begin a phase. A line ends with a line
 * feed or with a carriage return, as in progress bars.
 */
#pragma once

#include "phase_matcher.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum part of a line that is searched. */
#define PHASE_LINE_SIZE 16384

/* Called for each line that begins a phase. `is_redrawn`: the line ended with a carriage return, so
 * it may be written again. */
typedef void phase_found(void *user, const char *name, bool is_redrawn);

struct phase_lines {
    const struct phase_matcher *matcher;
    phase_found *found;
    void *user;
    size_t length; /* length of the incomplete line */
    char partial[PHASE_LINE_SIZE];
};

/* Initializes the state; `matcher` must outlive it. */
void phase_lines_init(
    struct phase_lines *lines, const struct phase_matcher *matcher, phase_found *found, void *user);

/* Adds output, in parts of any size. */
void phase_lines_add(struct phase_lines *lines, const char *bytes, size_t length);

/* Ends the output: an incomplete line counts, too. */
void phase_lines_end(struct phase_lines *lines);
