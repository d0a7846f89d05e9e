/*
 * Figures of analyses and comparisons for people: in units that fit, in columns of one width, with
 * the name last, which is cut where the terminal ends.
 */
#pragma once

#include "base/doc.h"
#include "base/human.h"
#include "base/str.h"

#define FIGURE_WIDTH 11
#define FIGURE_MIN_NAME 14 /* columns that every name has, with the gap before it */

/*
 * A value of a measurement ("main_ram", "energy_total", "compute_time") in a unit that fits; "n/a"
 * when it is NaN. `static_data` names the units of RAM in which the value is. Returns `text`.
 */
const char *figure_text(
    const struct doc *static_data, const char *measurement, double value, char text[HUMAN_SIZE]);

/* Whether a difference of values is too little to matter: of RAM below 1 MB, of percent below 1. */
bool figure_is_little(const struct doc *static_data, const char *measurement, double difference);

/* Appends a cell, to the right in FIGURE_WIDTH columns, and cut to them. */
void figure_put(struct str *text, const char *cell);

/*
 * Ends a line of `n_cells` cells with the name of a code block, of a figure (the other one NULL),
 * or of a figure of a block. Names are cut to `width` columns; 0: to any number. Of blocks the end
 * is kept, often a file and a line; of figures the beginning, which says whose they are.
 */
void figure_put_name(
    struct str *text, size_t n_cells, const char *block, const char *figure, unsigned width);
