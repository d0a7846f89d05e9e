/*
 * Figures of analyses and comparisons for people: in units that fit, in columns of one width, with
 * the name last, which is cut where the terminal ends.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"
#include "output/human.h"

#define FIGURE_WIDTH 11
#define FIGURE_MIN_NAME 14 /* columns that every name has, with the gap before it */

/*
 * A value of a measurement ("main_ram", "energy_total", "compute_time") in a unit that fits; "n/a"
 * when it is NaN. `static_data` names the units of RAM in which the value is. Returns `text`.
 */
const char *figure_text(
    const struct doc *static_data, const char *measurement, double value, char text[HUMAN_SIZE]);

/* Appends a cell, to the right in FIGURE_WIDTH columns, and cut to them. */
void figure_put(struct str *text, const char *cell);

/* Ends a line of `n_cells` cells with a name; in `width` columns (0: any number) as much of its end
 * as fits. */
void figure_put_name(struct str *text, size_t n_cells, const char *name, unsigned width);
