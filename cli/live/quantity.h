/*
 * Figures of the view in a unit that fits them, as the summary has them, but always with three
 * significant digits, so that they do not move while they are watched: "1.20 GB", "412 MB", "0.50".
 * What is not known is "-".
 */
#pragma once

#include "base/human.h"

#include <stddef.h>

/* What a figure is of. */
enum quantity {
    QUANTITY_BYTES,
    QUANTITY_RATE,    /* bytes a second */
    QUANTITY_CORES,   /* from percent of one core */
    QUANTITY_PERCENT, /* without decimals */
    QUANTITY_WATTS,
    QUANTITY_JOULES,
    QUANTITY_SECONDS, /* in at most ten columns */
    QUANTITY_COUNT,
};

#define QUANTITY_SIZE HUMAN_SIZE

/* All write at most QUANTITY_SIZE bytes, NUL included, and return `text`. */
const char *quantity_text(enum quantity quantity, double value, char *text);

/* "4.20 of 80.0 GB", "412 MB of 80.0 GB"; at most 2 * QUANTITY_SIZE + 4 bytes. */
void quantity_share(enum quantity quantity, double value, double full, char *text, size_t size);

/* The whole seconds since something began: "12 s", "3 min 5 s", "2 h 05 min". */
const char *quantity_elapsed(double seconds, char *text);
