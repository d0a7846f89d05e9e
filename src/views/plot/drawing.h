/*
 * A drawing: a list of lines, boxes and texts, in points of 1/72 inch from the upper left corner.
 * Formats (SVG, PDF, PNG) walk over it.
 */
#pragma once

#include "base/error.h"

#include <gputracker/format.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAWING_FONTS "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"

enum drawing_kind { DRAWING_LINE, DRAWING_BOX, DRAWING_TEXT };
enum drawing_anchor { DRAWING_START, DRAWING_MIDDLE, DRAWING_STOP };
enum drawing_dash {
    DRAWING_SOLID,
    DRAWING_DASHED,
    DRAWING_DOTTED,
    DRAWING_DASH_DOT,
    DRAWING_DASHES
};

struct drawing_point {
    double x, y; /* NaN interrupts a line */
};

struct drawing_style {
    uint32_t colour; /* 0xRRGGBB */
    double opacity;  /* 0 to 1 */
    double width;    /* width of a line */
    enum drawing_dash dash;
};

struct drawing_shape {
    enum drawing_kind kind;
    struct drawing_style style;
    size_t first, count; /* its points; a box has two corners, a text its place */
    char *text; /* of a text: its characters; else the title of the shape, or NULL; owned, valid XML
                 */
    enum drawing_anchor anchor; /* of a text */
    double size;                /* of a text */
};

struct drawing {
    double width, height;
    bool has_paper; /* on white; else on a transparent background */
    char *title;    /* for screen readers; owned */
    struct drawing_shape *shapes;
    size_t count;
    struct drawing_point *points;
    size_t point_count;
    bool failed; /* memory ran out: the drawing is incomplete */
};

void drawing_init(struct drawing *drawing, double width, double height, const char *title);
void drawing_finish(struct drawing *drawing);

/* Begins a line, to which drawing_add_point() adds points. `stands_for`, its title, may be NULL.
 * */
void drawing_begin_line(
    struct drawing *drawing, const struct drawing_style *style, const char *stands_for);
void drawing_add_point(struct drawing *drawing, double x, double y);

/* Adds a line from one point to another. */
void drawing_add_line(struct drawing *drawing, struct drawing_point from, struct drawing_point to,
    const struct drawing_style *style);

/* Adds a filled box. `stands_for`, its title, may be NULL. */
void drawing_add_box(struct drawing *drawing, struct drawing_point corner, double width,
    double height, const struct drawing_style *style, const char *stands_for);

/* Adds a text; `place` is on the baseline. Control characters and invalid UTF-8 become U+FFFD.
 * */
void drawing_add_text(struct drawing *drawing, struct drawing_point place,
    enum drawing_anchor anchor, double size, uint32_t colour, const char *text);

/* Returns the lengths of strokes and gaps; *count is 0 for a solid line. */
const double *drawing_dash_lengths(enum drawing_dash dash, int *count);

/*
 * Returns a width that a text of that size does not exceed in common fonts without serifs. The
 * viewer's font is not known.
 */
double drawing_text_width(const char *text, double size);

#define DRAWING_FORMATS "SVG, PDF or PNG"

/* True where drawing_render() supports the format. */
bool drawing_has_format(enum gput_format format);

/*
 * Renders the drawing as SVG, PDF or PNG (300 dots per inch). Result: see gputracker/format.h.
 * Errors: GPUT_ERROR_INVALID (another format), GPUT_ERROR_UNSUPPORTED (a library is not installed),
 * GPUT_ERROR_MEMORY.
 */
int drawing_render(const struct drawing *drawing, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error);
