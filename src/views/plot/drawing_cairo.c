/* Drawings as PDF and PNG, by cairo; texts by Pango, which finds a font for every script. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/shared_library.h"
#include "views/plot/drawing_format.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>

/* ---- The libraries ---- */

/* cairo and Pango, loaded at run time when a picture needs them: a gpu-tracker that measures
 * neither needs nor loads them. The declarations are those of their stable interfaces (cairo 1,
 * Pango 1). */

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

/* It depends on all that is needed. */
#define PATH "libpangocairo-1.0.so.0"

#define REMEDY                                                                                     \
    "A picture in PNG or PDF needs the libraries cairo and Pango (Debian: apt-get install "        \
    "libpangocairo-1.0-0); SVG needs nothing. %s"

/* Finds the functions; the libraries stay loaded. Errors: GPUT_ERROR_UNSUPPORTED. */
static int cairo_library_open(struct cairo_library *library, struct gput_error *error)
{
#define SYMBOL(type, name, arguments) {#name, &library->name},
    const struct shared_symbol symbols[] = {CAIRO_FUNCTIONS(SYMBOL){NULL, NULL}};
#undef SYMBOL
    if (!shared_library_can_load())
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "A picture in PNG or PDF needs the libraries cairo and Pango, which this statically "
            "linked gpu-tracker cannot load; SVG needs nothing.");
    const char *missing = shared_library_load(PATH, symbols);
    return missing ? error_set(error, GPUT_ERROR_UNSUPPORTED, REMEDY, missing) : GPUT_OK;
}

/* ---- Shapes ---- */

#define DOTS_PER_POINT (300.0 / 72)
#define DOTS_PER_METRE 11811 /* 300 dots per inch */

struct canvas {
    struct cairo_library library;
    struct cairo *cairo;
    struct pango_layout *layout;
    struct pango_font *font;
};

/* Takes bytes over that cairo writes. */
static int append_bytes(void *user, const unsigned char *bytes, unsigned length)
{
    struct str *text = user;
    str_append_bytes(text, bytes, length);
    return text->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static void set_colour(struct canvas *canvas, uint32_t colour, double opacity)
{
    canvas->library.cairo_set_source_rgba(canvas->cairo, (colour >> 16 & 0xff) / 255.0,
        (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0, opacity);
}

/* ---- Shapes ---- */

/* Draws a line. */
static void draw_line(
    struct canvas *canvas, const struct drawing_shape *shape, const struct drawing_point *points)
{
    const struct cairo_library *library = &canvas->library;
    int count;
    const double *lengths = drawing_dash_lengths(shape->style.dash, &count);
    bool is_down = false;
    library->cairo_set_dash(canvas->cairo, lengths, count, 0);
    library->cairo_set_line_width(canvas->cairo, shape->style.width);
    for (size_t i = 0; i < shape->count; i++) {
        bool is_gap = isnan(points[i].x) || isnan(points[i].y);
        if (!is_gap && !is_down)
            library->cairo_move_to(canvas->cairo, points[i].x, points[i].y);
        if (!is_gap)
            library->cairo_line_to(canvas->cairo, points[i].x, points[i].y);
        is_down = !is_gap;
    }
    library->cairo_stroke(canvas->cairo);
}

/* Fills a rectangle. */
static void draw_box(
    struct canvas *canvas, const struct drawing_shape *shape, const struct drawing_point *points)
{
    (void)shape;
    canvas->library.cairo_rectangle(canvas->cairo, points[0].x, points[0].y,
        points[1].x - points[0].x, points[1].y - points[0].y);
    canvas->library.cairo_fill(canvas->cairo);
}

/* Draws a text at its anchor, in fonts that have its letters. */
static void draw_text(
    struct canvas *canvas, const struct drawing_shape *shape, const struct drawing_point *points)
{
    const struct cairo_library *library = &canvas->library;
    size_t length = strlen(shape->text);
    int width, height;
    library->pango_font_description_set_absolute_size(canvas->font, shape->size * PANGO_SCALE);
    library->pango_layout_set_font_description(canvas->layout, canvas->font);
    library->pango_layout_set_text(
        canvas->layout, shape->text, length < INT_MAX ? (int)length : INT_MAX);
    library->pango_layout_get_size(canvas->layout, &width, &height);
    double before = shape->anchor == DRAWING_START ? 0 : shape->anchor == DRAWING_MIDDLE ? 0.5 : 1;
    double baseline = library->pango_layout_get_baseline(canvas->layout);
    library->cairo_move_to(canvas->cairo, points[0].x - before * width / PANGO_SCALE,
        points[0].y - baseline / PANGO_SCALE);
    library->pango_cairo_show_layout(canvas->cairo, canvas->layout);
}

/* ---- Surfaces ---- */

/* Makes an error of a status of cairo. */
static int check(const struct cairo_library *library, int status, struct gput_error *error)
{
    if (status == CAIRO_STATUS_SUCCESS)
        return GPUT_OK;
    if (status == CAIRO_STATUS_NO_MEMORY || status == CAIRO_STATUS_WRITE_ERROR)
        return error_memory(error);
    return error_set(error, GPUT_ERROR_INVALID, "cairo cannot draw this: %s.",
        library->cairo_status_to_string(status));
}

/* Draws the picture onto a surface. */
static int draw(const struct cairo_library *library, struct cairo_surface *surface,
    const struct drawing *drawing, double scale, struct gput_error *error)
{
    struct canvas canvas = {.library = *library};
    TRY(check(library, library->cairo_surface_status(surface), error));
    canvas.cairo = library->cairo_create(surface);
    canvas.layout = library->pango_cairo_create_layout(canvas.cairo);
    canvas.font = library->pango_font_description_from_string(DRAWING_FONTS);
    library->cairo_scale(canvas.cairo, scale, scale);

    /* Draw all shapes in order. */
    static void (*const draw[])(
        struct canvas *, const struct drawing_shape *, const struct drawing_point *) = {
        [DRAWING_LINE] = draw_line,
        [DRAWING_BOX] = draw_box,
        [DRAWING_TEXT] = draw_text,
    };
    canvas.library.cairo_set_line_cap(canvas.cairo, CAIRO_LINE_CAP_ROUND);
    canvas.library.cairo_set_line_join(canvas.cairo, CAIRO_LINE_JOIN_ROUND);
    if (drawing->has_paper) {
        set_colour(&canvas, 0xffffff, 1);
        canvas.library.cairo_paint(canvas.cairo);
    }
    for (size_t i = 0; i < drawing->count; i++) {
        const struct drawing_shape *shape = &drawing->shapes[i];
        set_colour(&canvas, shape->style.colour, shape->style.opacity);
        draw[shape->kind](&canvas, shape, drawing->points + shape->first);
    }

    int status = library->cairo_status(canvas.cairo);
    library->pango_font_description_free(canvas.font);
    library->g_object_unref(canvas.layout);
    library->cairo_destroy(canvas.cairo);
    return check(library, status, error);
}

int drawing_write_pdf(const struct drawing *drawing, struct str *bytes, struct gput_error *error)
{
    struct cairo_library library;
    TRY(cairo_library_open(&library, error));
    struct cairo_surface *surface = library.cairo_pdf_surface_create_for_stream(
        append_bytes, bytes, drawing->width, drawing->height);
    library.cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, drawing->title);
    int code = draw(&library, surface, drawing, 1, error);
    library.cairo_surface_finish(surface);
    if (code == GPUT_OK)
        code = check(&library, library.cairo_surface_status(surface), error);
    library.cairo_surface_destroy(surface);
    return code;
}

/* ---- PNG ---- */

#define PNG_HEAD_BYTES 33 /* the signature and IHDR, the first chunk */

static void append_number(struct str *bytes, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        str_append_char(bytes, (char)(number >> shift & 0xff));
}

int drawing_write_png(const struct drawing *drawing, struct str *bytes, struct gput_error *error)
{
    struct cairo_library library;
    CLEANUP_STR struct str plain = {0};
    TRY(cairo_library_open(&library, error));
    struct cairo_surface *surface = library.cairo_image_surface_create(CAIRO_FORMAT_ARGB32,
        (int)ceil(drawing->width * DOTS_PER_POINT), (int)ceil(drawing->height * DOTS_PER_POINT));
    int code = draw(&library, surface, drawing, DOTS_PER_POINT, error);
    if (code == GPUT_OK)
        code = check(&library,
            library.cairo_surface_write_to_png_stream(surface, append_bytes, &plain), error);
    library.cairo_surface_destroy(surface);
    if (code == GPUT_OK && plain.length > PNG_HEAD_BYTES) {
        str_append_bytes(bytes, plain.data, PNG_HEAD_BYTES);

        /* Add a chunk with the size of a dot; without it programs assume 72 to an inch. */
        append_number(bytes, 9);
        size_t begin = bytes->length;
        str_append_bytes(bytes, "pHYs", 4);
        append_number(bytes, DOTS_PER_METRE);
        append_number(bytes, DOTS_PER_METRE);
        str_append_char(bytes, 1); /* the unit is the metre */
        if (!bytes->failed)
            append_number(bytes, (uint32_t)crc32(0, (const Bytef *)bytes->data + begin,
                                     (uInt)(bytes->length - begin)));

        str_append_bytes(bytes, plain.data + PNG_HEAD_BYTES, plain.length - PNG_HEAD_BYTES);
    }
    return code;
}
