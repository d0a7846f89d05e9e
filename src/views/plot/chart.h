/*
 * A chart: panels of curves below each other over one axis of time, and rows that show when
 * something ran. chart_draw() lays it out.
 */
#pragma once

#include "views/plot/curve.h"
#include "views/plot/drawing.h"

#include <stdbool.h>
#include <stddef.h>

struct chart_line {
    char *label;
    unsigned look; /* its number among lines, which gives its colour and strokes */
    double limit;  /* what its values must or can not exceed; NaN: none */
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
    double width, height; /* in points; 0: as much as it needs */
    bool is_inline;       /* a small picture in a page, whose background it does not know */
    const char *title;    /* not owned; NULL: none */
    double start, end;    /* of the axis of time, in seconds */
    struct chart_panel *panels;
    size_t panel_count;
    struct chart_row *rows;
    size_t row_count;
};

/* The colour of a line, and that of texts. */
uint32_t chart_colour(unsigned look, bool is_inline);
uint32_t chart_ink(bool is_inline);

/* As much of a text as fits, ended by "…". To be freed; NULL without memory. */
char *chart_cut(const char *text, double size, double width);

/* A usual width: the text of an A4 page. */
#define CHART_WIDTH (160 / 25.4 * 72)
#define CHART_INLINE_WIDTH 300.0

/* Points that lie closer than this fall into one column of curve_init(). */
#define CHART_COLUMN_WIDTH 0.5
#define CHART_INLINE_COLUMN_WIDTH 1.5

/* An empty chart is all zeroes, but for its time. */

/* All add a copy of the texts; NULL without memory. The results are valid until the next is added
 * in the same place. */
struct chart_panel *chart_add_panel(struct chart *chart, const char *name, const char *unit);
struct chart_line *chart_add_line(
    const struct chart *chart, struct chart_panel *panel, const char *label, unsigned look);
struct chart_row *chart_add_row(struct chart *chart, const char *label, unsigned look);

/* Adds a span that does not start before those that are there; what runs at once, or follows at
 * less than a column's width, becomes one. False without memory. */
bool chart_add_span(const struct chart *chart, struct chart_row *row, double start, double stop);

void chart_finish(struct chart *chart);

/*
 * Draws all. The caller calls drawing_finish() in any case. Errors: GPUT_ERROR_INVALID (its panels
 * do not fit the height), GPUT_ERROR_MEMORY.
 */
int chart_draw(const struct chart *chart, struct drawing *drawing, struct gput_error *error);

/* chart_draw() and drawing_render(). */
int chart_render(const struct chart *chart, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error);
