#include "views/plot/bars.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "views/plot/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FONT 8.0
#define MARGIN 4.0
#define GAP 4.0
#define HEADING 13.0
#define ROW 11.0
#define THICKNESS 7.0
#define PANEL_GAP 5.0
#define CAP 2.0              /* half the length of the caps of an interval */
#define MAX_LABEL_SHARE 0.28 /* part of the width for labels */
#define MIN_BAR 40.0         /* minimum length of the longest bar */

struct bars_panel *bars_add_panel(struct bars *bars, const char *name)
{
    char *copy = strdup(name);
    if (!copy || !ARRAY_EXTEND(bars->panels, bars->count)) {
        free(copy);
        return NULL;
    }
    bars->panels[bars->count] = (struct bars_panel){.name = copy};
    return &bars->panels[bars->count++];
}

bool bars_add(struct bars_panel *panel, const struct bar *bar)
{
    struct bar copy = *bar;
    copy.label = strdup(bar->label);
    copy.text = strdup(bar->text);
    if (!copy.label || !copy.text || !ARRAY_EXTEND(panel->bars, panel->count)) {
        free(copy.label);
        free(copy.text);
        return false;
    }
    panel->bars[panel->count++] = copy;
    return true;
}

void bars_finish(struct bars *bars)
{
    for (size_t i = 0; i < bars->count; i++) {
        struct bars_panel *panel = &bars->panels[i];
        for (size_t k = 0; k < panel->count; k++) {
            free(panel->bars[k].label);
            free(panel->bars[k].text);
        }
        free(panel->bars);
        free(panel->name);
    }
    free(bars->panels);
    *bars = (struct bars){0};
}

/* ---- The layout ---- */

struct layout {
    struct drawing *drawing;
    const struct bars *bars;
    uint32_t ink;
    double width, label; /* width of the picture; maximum width of a label */
    double left, right;  /* edges of the bars */
};

/* Returns the largest value of a panel, intervals included. */
static double longest(const struct bars_panel *panel)
{
    double most = 0;
    for (size_t i = 0; i < panel->count; i++)
        most = fmax(most, fmax(panel->bars[i].value, panel->bars[i].high));
    return most;
}

/* Adds a text in the colour and size of labels. */
static void add_text(
    struct layout *layout, double x, double y, enum drawing_anchor anchor, const char *text)
{
    drawing_add_text(
        layout->drawing, (struct drawing_point){x, y}, anchor, FONT, layout->ink, text);
}

/* Draws a bar, with a title for those who point at it. */
static void draw_box(struct layout *layout, const struct bar *bar, double width, double y)
{
    const struct drawing_style style = {
        .colour = chart_colour(bar->look, layout->bars->is_inline), .opacity = 1};
    CLEANUP_STR struct str title = {0};
    str_printf(&title, "%s: %s", bar->label, bar->text);
    drawing_add_box(layout->drawing, (struct drawing_point){layout->left, y},
        fmax(width, CHART_COLUMN_WIDTH), THICKNESS, &style, str_text(&title));
    layout->drawing->failed |= title.failed;
}

/* Draws the bars of one figure below its name. Returns where it ends. */
static double draw_panel(struct layout *layout, const struct bars_panel *panel, double y)
{
    const struct drawing_style axis = {.colour = layout->ink, .opacity = 1, .width = 0.6};
    double most = longest(panel), top = y + HEADING;
    char *name = chart_cut(panel->name, FONT, layout->width - layout->left - MARGIN);
    add_text(layout, layout->left, y + FONT, DRAWING_START, name ? name : "");
    layout->drawing->failed |= !name;
    free(name);
    for (size_t i = 0; i < panel->count; i++) {
        /* Draw a bar with its label, interval and value. */
        double scale = most > 0 ? (layout->right - layout->left) / most : 0;
        double end = layout->left + (panel->bars[i].value > 0 ? panel->bars[i].value * scale : 0);
        double middle = (top + ROW * (double)i) + ROW / 2, baseline = middle + FONT * 0.35;
        char *label = chart_cut(panel->bars[i].label, FONT, layout->label);
        add_text(layout, layout->left - GAP, baseline, DRAWING_STOP, label ? label : "");
        layout->drawing->failed |= !label;
        free(label);
        if (panel->bars[i].value > 0)
            draw_box(layout, &panel->bars[i], end - layout->left, middle - THICKNESS / 2);
        if (panel->bars[i].high > panel->bars[i].low) {
            double low = layout->left + fmax(panel->bars[i].low, 0) * scale;
            double high = layout->left + panel->bars[i].high * scale;

            /* Draw the interval of a value as a line with caps. */
            const struct drawing_style style = {.colour = layout->ink, .opacity = 1, .width = 0.8};
            drawing_add_line(layout->drawing, (struct drawing_point){low, middle},
                (struct drawing_point){high, middle}, &style);
            for (int k = 0; k < 2; k++) {
                double x = k ? high : low;
                drawing_add_line(layout->drawing, (struct drawing_point){x, middle - CAP},
                    (struct drawing_point){x, middle + CAP}, &style);
            }

            end = fmax(end, high);
        }
        add_text(layout, end + GAP, baseline, DRAWING_START, panel->bars[i].text);
    }
    drawing_add_line(layout->drawing, (struct drawing_point){layout->left, top},
        (struct drawing_point){layout->left, top + ROW * (double)panel->count}, &axis);
    return top + ROW * (double)panel->count + PANEL_GAP;
}

/* Returns the height that all panels need. */
static double height_of(const struct bars *bars)
{
    double height = 2 * MARGIN;
    for (size_t i = 0; i < bars->count; i++)
        height += HEADING + ROW * (double)bars->panels[i].count + PANEL_GAP;
    return height;
}

int bars_render(const struct bars *bars, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct drawing drawing;
    struct str title = {0};
    struct layout layout = {.drawing = &drawing,
        .bars = bars,
        .ink = chart_ink(bars->is_inline),
        .width = bars->is_inline ? CHART_INLINE_WIDTH : CHART_WIDTH};
    double y = MARGIN;

    /* Describe the picture for screen readers. */
    for (size_t i = 0; i < bars->count; i++) {
        const struct bars_panel *panel = &bars->panels[i];
        str_printf(&title, "%s%s: ", i ? "; " : "", panel->name);
        for (size_t k = 0; k < panel->count; k++)
            str_printf(&title, "%s%s %s", k ? ", " : "", panel->bars[k].label, panel->bars[k].text);
    }

    drawing_init(&drawing, layout.width, height_of(bars), str_text(&title));
    drawing.has_paper = !bars->is_inline;
    drawing.failed |= title.failed;

    /* Find where bars begin and end, by the widths of labels and values. */
    double text = 0, most = layout.width * MAX_LABEL_SHARE;
    for (size_t i = 0; i < layout.bars->count; i++) {
        const struct bars_panel *panel = &layout.bars->panels[i];
        for (size_t k = 0; k < panel->count; k++) {
            double label = drawing_text_width(panel->bars[k].label, FONT);
            layout.label = fmin(fmax(layout.label, label), most);
            text = fmax(text, drawing_text_width(panel->bars[k].text, FONT));
        }
    }
    layout.left = MARGIN + layout.label + GAP;
    layout.right = fmax(layout.width - MARGIN - text - GAP, layout.left + MIN_BAR);

    for (size_t i = 0; i < bars->count; i++)
        y = draw_panel(&layout, &bars->panels[i], y);
    int code = drawing_render(&drawing, format, bytes, length, error);
    str_finish(&title);
    drawing_finish(&drawing);
    return code;
}
