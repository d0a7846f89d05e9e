#include "views/plot/drawing.h"

#include "base/array.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Returns a text that XML and fonts can show: valid UTF-8 without control characters. NULL: out of
 * memory. */
static char *clean(const char *text)
{
    struct str valid = {0};
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t point;
        size_t length = utf8_decode(text, left, &point);
        bool is_drawn =
            length > 0 && point >= 0x20 && !screen_is_control(point) && (point & 0xfffe) != 0xfffe;
        utf8_append_point(is_drawn ? point : UTF8_REPLACEMENT, &valid);
        length = length ? length : 1;
        text += length;
        left -= length;
    }
    return str_steal(&valid);
}

void drawing_init(struct drawing *drawing, double width, double height, const char *title)
{
    *drawing = (struct drawing){
        .width = width, .height = height, .has_paper = true, .title = clean(title)};
    drawing->failed = !drawing->title;
}

void drawing_finish(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->count; i++)
        free(drawing->shapes[i].text);
    free(drawing->shapes);
    free(drawing->points);
    free(drawing->title);
    *drawing = (struct drawing){0};
}

/* ---- Shapes ---- */

/* Adds a shape, with a copy of its text. NULL without memory. */
static struct drawing_shape *add_shape(struct drawing *drawing, enum drawing_kind kind,
    const struct drawing_style *style, const char *text)
{
    char *copy = text ? clean(text) : NULL;
    if ((text && !copy) || !ARRAY_EXTEND(drawing->shapes, drawing->count)) {
        free(copy);
        drawing->failed = true;
        return NULL;
    }
    struct drawing_shape *shape = &drawing->shapes[drawing->count++];
    *shape = (struct drawing_shape){
        .kind = kind, .style = *style, .first = drawing->point_count, .text = copy};
    return shape;
}

void drawing_begin_line(
    struct drawing *drawing, const struct drawing_style *style, const char *stands_for)
{
    add_shape(drawing, DRAWING_LINE, style, stands_for);
}

void drawing_add_point(struct drawing *drawing, double x, double y)
{
    if (drawing->failed || !ARRAY_EXTEND(drawing->points, drawing->point_count)) {
        drawing->failed = true;
        return;
    }
    drawing->points[drawing->point_count++] = (struct drawing_point){x, y};
    drawing->shapes[drawing->count - 1].count++;
}

void drawing_add_line(struct drawing *drawing, struct drawing_point from, struct drawing_point to,
    const struct drawing_style *style)
{
    drawing_begin_line(drawing, style, NULL);
    drawing_add_point(drawing, from.x, from.y);
    drawing_add_point(drawing, to.x, to.y);
}

void drawing_add_box(struct drawing *drawing, struct drawing_point corner, double width,
    double height, const struct drawing_style *style, const char *stands_for)
{
    add_shape(drawing, DRAWING_BOX, style, stands_for);
    drawing_add_point(drawing, corner.x, corner.y);
    drawing_add_point(drawing, corner.x + width, corner.y + height);
}

void drawing_add_text(struct drawing *drawing, struct drawing_point place,
    enum drawing_anchor anchor, double size, uint32_t colour, const char *text)
{
    const struct drawing_style style = {.colour = colour, .opacity = 1};
    struct drawing_shape *shape = add_shape(drawing, DRAWING_TEXT, &style, text);
    if (!shape)
        return;
    shape->anchor = anchor;
    shape->size = size;
    drawing_add_point(drawing, place.x, place.y);
}

const double *drawing_dash_lengths(enum drawing_dash dash, int *count)
{
    static const double lengths[DRAWING_DASHES][4] = {
        [DRAWING_DASHED] = {4, 2},
        [DRAWING_DOTTED] = {1, 1.8},
        [DRAWING_DASH_DOT] = {6, 2, 1, 2},
    };
    static const int counts[DRAWING_DASHES] = {
        [DRAWING_DASHED] = 2, [DRAWING_DOTTED] = 2, [DRAWING_DASH_DOT] = 4};
    *count = counts[dash];
    return lengths[dash];
}

/* ---- Text ---- */

/* Thousandths of the size that characters from the blank on are wide in DejaVu Sans, the widest of
 * the fonts that systems usually have for texts without serifs. */
static const unsigned short widths[] = {318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838,
    318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838,
    531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787,
    695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818,
    592, 592, 525, 636, 337, 636, 838};

#define OTHER_WIDTH 600
#define WIDE_WIDTH 1050 /* Chinese, Japanese, Korean; pictures */
#define FIRST_WIDE_POINT 0x1100

double drawing_text_width(const char *text, double size)
{
    double sum = 0;
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t point;
        size_t length = utf8_decode(text, left, &point);
        if (length == 0 || point < ' ')
            sum += OTHER_WIDTH;
        else if (point - ' ' < sizeof widths / sizeof *widths)
            sum += widths[point - ' '];
        else
            sum += point < FIRST_WIDE_POINT ? OTHER_WIDTH : WIDE_WIDTH;
        length = length ? length : 1;
        text += length;
        left -= length;
    }
    return sum * size / 1000;
}
