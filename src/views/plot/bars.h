/*
 * A bar chart: panels below each other, each a figure with a bar for each session, and next to it
 * its value as text.
 */
#pragma once

#include "views/plot/drawing.h"

#include <stdbool.h>
#include <stddef.h>

struct bar {
    char *label, *text; /* texts left of the bar, and after its end */
    unsigned look;      /* number that gives its colour, as for a line of a chart */
    double value;       /* NaN: there is no bar */
    double low, high;   /* its uncertainty; NaN: not known */
};

struct bars_panel {
    char *name;
    struct bar *bars;
    size_t count;
};

/* All zeroes is empty. */
struct bars {
    bool is_inline; /* a small picture in a page whose background is unknown */
    struct bars_panel *panels;
    size_t count;
};

/* Adds a panel; NULL without memory. Valid until the next is added. */
struct bars_panel *bars_add_panel(struct bars *bars, const char *name);

/* Adds a bar, with copies of its texts. False without memory. */
bool bars_add(struct bars_panel *panel, const struct bar *bar);

void bars_finish(struct bars *bars);

/* Draws the chart in a format. Result: see gputracker/format.h. Errors: those of
 * drawing_render(). */
int bars_render(const struct bars *bars, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error);
