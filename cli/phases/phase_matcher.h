/*
 * Finds which lines of a command's output begin a phase (run --phase-token), and the name of the
 * phase.
 */
#pragma once

#include "line_search.h"

#include <gputracker/error.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* Maximum size of a name, with its final 0; longer names are truncated. */
#define PHASE_NAME_SIZE 200

struct phase_matcher {
    regex_t regex;
    /* Text that every matching line contains; "": not known. Searching for it is much faster than
     * matching each line. */
    char literal[64];
    size_t literal_length;
    size_t rarest; /* index of its rarest byte */
    /* Of an expression that only matches at the start of a line: the bytes with which such a line
     * may begin. */
    bool is_anchored;
    bool may_begin[256];
    bool has_back_reference;
    struct line_search search; /* used if the literal is short or not known */
};

/* Compiles a POSIX extended regular expression. The caller calls phase_matcher_finish(). Errors:
 * GPUT_ERROR_INVALID with the reason. */
int phase_matcher_init(
    struct phase_matcher *matcher, const char *pattern, struct gput_error *error);
void phase_matcher_finish(struct phase_matcher *matcher);

/* Finds the first place of the literal, which must not be empty; NULL: there is none. */
const char *phase_matcher_find(
    const struct phase_matcher *matcher, const char *at, const char *end);

/* Whether a line begins a phase, and its name: the first group, else the whole match. An empty or
 * blank name begins none. May be called by any thread. */
bool phase_matcher_name(
    const struct phase_matcher *matcher, const char *line, char name[PHASE_NAME_SIZE]);
