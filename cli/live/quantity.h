/*
 * Figures in a unit that fits them, always with three significant digits, so that they do not move
 * while they are watched: "1.20 GB", "412 MB", "0.50". What is not known is "-".
 */
#pragma once

#include <stddef.h>

/* What a figure is of. */
enum quantity {
    QUANTITY_BYTES,
    QUANTITY_CORES,   /* from percent of one core */
    QUANTITY_PERCENT, /* without decimals */
    QUANTITY_WATTS,
    QUANTITY_JOULES,
    QUANTITY_SECONDS, /* from a minute on as a duration */
    QUANTITY_COUNT,
};

#define QUANTITY_SIZE 24

/* All write at most QUANTITY_SIZE bytes, NUL included, and return `text`. */
const char *quantity_text(enum quantity quantity, double value, char *text);

/* "4.20 of 80.0 GB", "412 MB of 80.0 GB"; at most 2 * QUANTITY_SIZE + 4 bytes. */
void quantity_share(enum quantity quantity, double value, double full, char *text, size_t size);

/* "12 s", "3:05", "2:05:09", "3 d 04:05". */
const char *quantity_duration(double seconds, char *text);
