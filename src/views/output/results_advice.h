/*
 * Advice for the next run, each piece with the figures that it rests on.
 */
#pragma once

#include "model/results.h"

#include <stddef.h>

#define ADVICE_SIZE 160
#define MAX_ADVICE 8

/*
 * Fills `texts` with at most MAX_ADVICE pieces, the most pressing first, and returns how many there
 * are. Sessions shorter than a few seconds get only what does not depend on their length.
 */
size_t results_advice(const struct gput_results *results, char texts[MAX_ADVICE][ADVICE_SIZE]);
