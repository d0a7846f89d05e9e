/*
 * A command's output as lines, of which those are found that begin a phase. A line ends with a line
 * feed or a carriage return, as progress bars print it.
 */
#pragma once

#include "phase_matcher.h"

#include <stdbool.h>
#include <stddef.h>

/* What is searched of a line. */
#define PHASE_LINE_SIZE 16384

/* `is_redrawn`: the line ended with a carriage return, so that it may be written again. */
typedef void phase_found(void *user, const char *name, bool is_redrawn);

struct phase_lines {
    const struct phase_matcher *matcher;
    phase_found *found;
    void *user;
    size_t length; /* of the line that has not ended yet */
    char partial[PHASE_LINE_SIZE];
};

/* The matcher is borrowed. */
void phase_lines_init(
    struct phase_lines *lines, const struct phase_matcher *matcher, phase_found *found, void *user);

/* Output as it comes, in any parts. */
void phase_lines_add(struct phase_lines *lines, const char *bytes, size_t length);

/* There is no more: a line without an end is one, too. */
void phase_lines_end(struct phase_lines *lines);
