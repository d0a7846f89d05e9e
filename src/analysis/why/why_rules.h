/*
 * Advice on where wall time went. Each piece is a row of one table: which share of the time makes
 * it worth saying, and the sentence with its evidence.
 */
#pragma once

#include "model/results.h"

#include <stddef.h>

#define WHY_TEXT_SIZE 240
#define WHY_MAX_ADVICE 6

/* Fills `texts` with the advice of the session, the largest share first, and returns how many there
 * are. None where too little is known. */
size_t why_advice(const struct gput_results *results, char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE]);

/* A cause holds a rank up that spends more points (percent of its time) on it than the others of
 * its job. INFINITY: it never does. */
double why_held_points(enum wall_cause cause);
