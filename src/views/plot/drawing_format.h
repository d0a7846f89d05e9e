/*
 * The formats of drawings: one row in drawing_format.c and one function each.
 */
#pragma once

#include "base/str.h"
#include "views/plot/drawing.h"

struct drawing_format {
    enum gput_format format;
    /* Appends a complete drawing. Errors: GPUT_ERROR_UNSUPPORTED, GPUT_ERROR_MEMORY. */
    int (*write)(const struct drawing *drawing, struct str *bytes, struct gput_error *error);
};

int drawing_write_svg(const struct drawing *drawing, struct str *bytes, struct gput_error *error);

/* Written by cairo and Pango; the file includes the fonts. */
int drawing_write_pdf(const struct drawing *drawing, struct str *bytes, struct gput_error *error);
int drawing_write_png(const struct drawing *drawing, struct str *bytes, struct gput_error *error);
