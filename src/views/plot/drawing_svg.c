/* Drawings as SVG 1.1, without scripts, style sheets or links. */
#include "views/plot/drawing_format.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

#define DECIMALS 2

/* Writes a number without zeros at its end, whatever the locale is. */
static void append_number(struct str *text, double value)
{
    char number[NUMBER_TEXT_SIZE];
    size_t length = number_format_rounded(value, DECIMALS, number);
    if (length > 2 && memcmp(number + length - 2, ".0", 2) == 0)
        length -= 2;
    str_append_bytes(text, number, length);
}

/* Writes an attribute with a number. */
static void append_attribute(struct str *text, const char *name, double value)
{
    str_printf(text, " %s=\"", name);
    append_number(text, value);
    str_append_char(text, '"');
}

/* Appends a text with what XML gives a meaning to replaced. */
static void append_escaped(struct str *text, const char *name)
{
    for (; *name; name++) {
        if (*name == '<' || *name == '>' || *name == '&' || *name == '"')
            str_printf(text, "&#%d;", *name);
        else
            str_append_char(text, *name);
    }
}

/* Ends an element that stands for something. */
static void end_shape(struct str *text, const char *name, const char *stands_for)
{
    if (!stands_for) {
        str_append(text, "/>\n");
        return;
    }
    str_append(text, "><title>");
    append_escaped(text, stands_for);
    str_printf(text, "</title></%s>\n", name);
}

/* Writes a line as a path. */
static void write_line(
    struct str *text, const struct drawing_shape *shape, const struct drawing_point *points)
{
    const struct drawing_style *style = &shape->style;
    str_printf(text, "<path fill=\"none\" stroke=\"#%06x\"", style->colour);
    append_attribute(text, "stroke-width", style->width);
    if (style->opacity < 1)
        append_attribute(text, "stroke-opacity", style->opacity);

    /* Append the lengths of dashes. */
    int count;
    const double *lengths = drawing_dash_lengths(style->dash, &count);
    for (int i = 0; i < count; i++) {
        str_append(text, i == 0 ? " stroke-dasharray=\"" : " ");
        append_number(text, lengths[i]);
    }
    str_append(text, count > 0 ? "\"" : "");

    str_append(text, " d=\"");

    /* Write "M1 2L3 4 5 6M7 8h0". A point by itself becomes a dot, as lines have round ends. */
    bool is_down = false;
    size_t length = 0;
    for (size_t i = 0; i < shape->count; i++) {
        if (isnan(points[i].x) || isnan(points[i].y)) {
            str_append(text, length == 1 ? "h0" : "");
            is_down = false;
            length = 0;
            continue;
        }
        str_append(text, !is_down ? "M" : length == 1 ? "L" : " ");
        append_number(text, points[i].x);
        str_append_char(text, ' ');
        append_number(text, points[i].y);
        is_down = true;
        length++;
    }
    str_append(text, length == 1 ? "h0" : "");

    str_append_char(text, '"');
    end_shape(text, "path", shape->text);
}

/* Writes a box, with its title. */
static void write_box(
    struct str *text, const struct drawing_shape *shape, const struct drawing_point *points)
{
    str_printf(text, "<rect fill=\"#%06x\"", shape->style.colour);
    if (shape->style.opacity < 1)
        append_attribute(text, "fill-opacity", shape->style.opacity);
    append_attribute(text, "x", points[0].x);
    append_attribute(text, "y", points[0].y);
    append_attribute(text, "width", points[1].x - points[0].x);
    append_attribute(text, "height", points[1].y - points[0].y);
    end_shape(text, "rect", shape->text);
}

/* Writes a text at its anchor. */
static void write_text(
    struct str *text, const struct drawing_shape *shape, const struct drawing_point *points)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    str_printf(text, "<text fill=\"#%06x\"%s", shape->style.colour, anchors[shape->anchor]);
    append_attribute(text, "font-size", shape->size);
    append_attribute(text, "x", points[0].x);
    append_attribute(text, "y", points[0].y);
    str_append_char(text, '>');
    append_escaped(text, shape->text);
    str_append(text, "</text>\n");
}

int drawing_write_svg(const struct drawing *drawing, struct str *bytes, struct gput_error *error)
{
    static void (*const writers[])(
        struct str *, const struct drawing_shape *, const struct drawing_point *) = {
        [DRAWING_LINE] = write_line,
        [DRAWING_BOX] = write_box,
        [DRAWING_TEXT] = write_text,
    };

    /* Write the size, the font and the title of the picture. */
    str_append(bytes, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ");
    append_number(bytes, drawing->width);
    str_append_char(bytes, ' ');
    append_number(bytes, drawing->height);
    str_append(bytes, "\" width=\"");
    append_number(bytes, drawing->width);
    str_append(bytes, "pt\" height=\"");
    append_number(bytes, drawing->height);
    str_append(bytes, "pt\" font-family=\"" DRAWING_FONTS
                      "\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n<title>");
    append_escaped(bytes, drawing->title);
    str_append(bytes, "</title>\n");
    if (drawing->has_paper)
        str_append(bytes, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");

    for (size_t i = 0; i < drawing->count; i++) {
        const struct drawing_shape *shape = &drawing->shapes[i];
        writers[shape->kind](bytes, shape, drawing->points + shape->first);
    }
    str_append(bytes, "</svg>\n");
    return bytes->failed ? error_memory(error) : GPUT_OK;
}
