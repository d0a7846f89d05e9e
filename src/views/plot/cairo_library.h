/*
 * cairo and Pango, loaded at run time when a picture needs them: a gpu-tracker that measures
 * neither needs nor loads them. The declarations are those of their stable interfaces (cairo 1,
 * Pango 1).
 */
#pragma once

#include "base/error.h"

struct cairo; /* cairo_t */
struct cairo_surface;
struct pango_layout;
struct pango_font;

enum { CAIRO_STATUS_SUCCESS = 0, CAIRO_STATUS_NO_MEMORY = 1, CAIRO_STATUS_WRITE_ERROR = 11 };
enum { CAIRO_FORMAT_ARGB32 = 0 };
enum { CAIRO_LINE_CAP_ROUND = 1, CAIRO_LINE_JOIN_ROUND = 1 };
enum { CAIRO_PDF_METADATA_TITLE = 0 };
#define PANGO_SCALE 1024

/* cairo_write_func_t */
typedef int cairo_write(void *user, const unsigned char *bytes, unsigned length);

#define CAIRO_FUNCTIONS(F)                                                                         \
    F(struct cairo_surface *, cairo_image_surface_create, (int format, int width, int height))     \
    F(struct cairo_surface *, cairo_pdf_surface_create_for_stream,                                 \
        (cairo_write * write, void *user, double width, double height))                            \
    F(void, cairo_pdf_surface_set_metadata,                                                        \
        (struct cairo_surface * surface, int metadata, const char *text))                          \
    F(int, cairo_surface_write_to_png_stream,                                                      \
        (struct cairo_surface * surface, cairo_write * write, void *user))                         \
    F(void, cairo_surface_finish, (struct cairo_surface * surface))                                \
    F(int, cairo_surface_status, (struct cairo_surface * surface))                                 \
    F(void, cairo_surface_destroy, (struct cairo_surface * surface))                               \
    F(struct cairo *, cairo_create, (struct cairo_surface * surface))                              \
    F(int, cairo_status, (struct cairo * cairo))                                                   \
    F(void, cairo_destroy, (struct cairo * cairo))                                                 \
    F(void, cairo_scale, (struct cairo * cairo, double x, double y))                               \
    F(void, cairo_set_source_rgba,                                                                 \
        (struct cairo * cairo, double red, double green, double blue, double opacity))             \
    F(void, cairo_set_line_width, (struct cairo * cairo, double width))                            \
    F(void, cairo_set_line_cap, (struct cairo * cairo, int cap))                                   \
    F(void, cairo_set_line_join, (struct cairo * cairo, int join))                                 \
    F(void, cairo_set_dash,                                                                        \
        (struct cairo * cairo, const double *lengths, int count, double offset))                   \
    F(void, cairo_paint, (struct cairo * cairo))                                                   \
    F(void, cairo_move_to, (struct cairo * cairo, double x, double y))                             \
    F(void, cairo_line_to, (struct cairo * cairo, double x, double y))                             \
    F(void, cairo_rectangle,                                                                       \
        (struct cairo * cairo, double x, double y, double width, double height))                   \
    F(void, cairo_fill, (struct cairo * cairo))                                                    \
    F(void, cairo_stroke, (struct cairo * cairo))                                                  \
    F(const char *, cairo_status_to_string, (int status))                                          \
    F(struct pango_layout *, pango_cairo_create_layout, (struct cairo * cairo))                    \
    F(void, pango_cairo_show_layout, (struct cairo * cairo, struct pango_layout * layout))         \
    F(void, pango_layout_set_text, (struct pango_layout * layout, const char *text, int length))   \
    F(void, pango_layout_set_font_description,                                                     \
        (struct pango_layout * layout, const struct pango_font *font))                             \
    F(void, pango_layout_get_size, (struct pango_layout * layout, int *width, int *height))        \
    F(int, pango_layout_get_baseline, (struct pango_layout * layout))                              \
    F(struct pango_font *, pango_font_description_from_string, (const char *text))                 \
    F(void, pango_font_description_set_absolute_size, (struct pango_font * font, double size))     \
    F(void, pango_font_description_free, (struct pango_font * font))                               \
    F(void, g_object_unref, (void *object))

struct cairo_library {
#define MEMBER(type, name, arguments) type(*name) arguments;
    CAIRO_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Finds the functions; the libraries stay loaded. Errors: GPUT_ERROR_UNSUPPORTED. */
int cairo_library_open(struct cairo_library *library, struct gput_error *error);
