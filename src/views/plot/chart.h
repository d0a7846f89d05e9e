/*
 * A chart: panels of curves above one common axis of time, and rows that show when something ran.
 * chart_draw() lays it out.
 */
#pragma once

#include "views/plot/curve.h"
#include "views/plot/drawing.h"

#include <stdbool.h>
#include <stddef.h>

struct chart_line {
    char *label;
    unsigned look; /* its number among lines, which gives its colour and strokes */
    double limit;  /* upper limit of its values; NaN: none */
    struct curve curve;
};

struct chart_panel {
    char *name; /* "RAM" */
    char *unit; /* "bytes"; see axis_make() */
    struct chart_line *lines;
    size_t count;
};

struct chart_span {
    double start, stop;
};

/* When something ran, in order. */
struct chart_row {
    char *label;
    unsigned look;
    bool is_band; /* its spans are also drawn in the panels */
    struct chart_span *spans;
    size_t count;
};

struct chart {
    double width, height; /* in points; 0: as large as needed */
    bool is_inline;       /* a small picture in a page whose background is unknown */
    const char *title;    /* not owned; NULL: none */
    double start, end;    /* ends of the axis of time, in seconds */
    struct chart_panel *panels;
    size_t panel_count;
    struct chart_row *rows;
    size_t row_count;
};

/* Return the colour of a line, and of texts. */
uint32_t chart_colour(unsigned look, bool is_inline);
uint32_t chart_ink(bool is_inline);

/* Returns as much of a text as fits, ended by "…". The caller frees it. NULL without memory. */
char *chart_cut(const char *text, double size, double width);

/* Default width: the text of an A4 page. */
#define CHART_WIDTH (160 / 25.4 * 72)
#define CHART_INLINE_WIDTH 300.0

/* Width of a column of curve_init(): closer points fall into one column. */
#define CHART_COLUMN_WIDTH 0.5
#define CHART_INLINE_COLUMN_WIDTH 1.5

/* An empty chart is all zeroes except for its time. */

/* These functions copy the texts. They return NULL without memory; results are valid until the
 * next item is added in the same place. */
struct chart_panel *chart_add_panel(struct chart *chart, const char *name, const char *unit);
struct chart_line *chart_add_line(
    const struct chart *chart, struct chart_panel *panel, const char *label, unsigned look);
struct chart_row *chart_add_row(struct chart *chart, const char *label, unsigned look);

/* Adds a span that starts no earlier than the last one. Spans that overlap, or are closer than a
 * column's width, become one. False without memory. */
bool chart_add_span(const struct chart *chart, struct chart_row *row, double start, double stop);

void chart_finish(struct chart *chart);

/* Calls chart_draw() and drawing_render(). */
int chart_render(const struct chart *chart, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error);
