/*
 * Where wall time went, as shares of it, the largest first.
 */
#pragma once

#include "model/results.h"

#include <stdbool.h>
#include <stddef.h>

struct why_share {
    enum wall_cause cause;
    double percent;
    double half_width; /* of the interval in which it is in 95 of 100 cases; 0: it was counted */
};

/* Fills `shares` with those that are not 0 and returns how many there are; 0: nothing is known. */
size_t why_shares(const struct gput_wall *wall, struct why_share shares[WALL_CAUSE_COUNT]);

/* A share of the whole in percent; 0 where nothing is known. */
double why_percent(const struct gput_wall *wall, enum wall_cause cause);

/* "asleep (pipe)". */
const char *why_word(enum wall_cause cause);

/* Whether that is enough to say something about it: it lasted, and what is not counted was sampled
 * often. */
bool why_is_telling(const struct gput_wall *wall);

/* Appends "31 % computing, 48 % waiting for a CPU", at most so many. `text` has room for `size`
 * bytes. */
void why_sentence(const struct gput_wall *wall, size_t max, char *text, size_t size);
