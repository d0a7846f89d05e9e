/*
 * Which lines of a command's output begin a phase (run --phase-token), and how it is called.
 */
#pragma once

#include "line_search.h"

#include <gputracker/error.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* With the byte at its end; longer names are cut. */
#define PHASE_NAME_SIZE 200

struct phase_matcher {
    regex_t regex;
    /* What each line that matches contains, "" where that is not known: searching for it is much
     * faster than matching line by line. */
    char literal[64];
    size_t literal_length;
    size_t rarest; /* which of its bytes is searched for */
    /* Of an expression that matches at the start of a line: with which bytes such a line may begin.
     */
    bool is_anchored;
    bool may_begin[256];
    bool has_back_reference;
    struct line_search search; /* where the literal is short or not known */
};

/* Of a POSIX extended regular expression. To be freed by phase_matcher_finish(). Errors:
 * GPUT_ERROR_INVALID with what is wrong with it. */
int phase_matcher_init(
    struct phase_matcher *matcher, const char *pattern, struct gput_error *error);
void phase_matcher_finish(struct phase_matcher *matcher);

/* Where the literal comes first; NULL: nowhere. There must be one. */
const char *phase_matcher_find(
    const struct phase_matcher *matcher, const char *at, const char *end);

/* Whether a line (a text) begins a phase, and its name: the first group, else all that matches.
 * What is empty or blank begins none. Any thread. */
bool phase_matcher_name(
    const struct phase_matcher *matcher, const char *line, char name[PHASE_NAME_SIZE]);
