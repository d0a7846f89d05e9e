#include "views/plot/chart.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "views/plot/axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chart_panel *chart_add_panel(struct chart *chart, const char *name, const char *unit)
{
    struct chart_panel panel = {.name = strdup(name), .unit = strdup(unit)};
    if (!panel.name || !panel.unit || !ARRAY_EXTEND(chart->panels, chart->panel_count)) {
        free(panel.name);
        free(panel.unit);
        return NULL;
    }
    chart->panels[chart->panel_count] = panel;
    return &chart->panels[chart->panel_count++];
}

static double width_of(const struct chart *chart)
{
    return chart->width > 0 ? chart->width : chart->is_inline ? CHART_INLINE_WIDTH : CHART_WIDTH;
}

struct chart_line *chart_add_line(
    const struct chart *chart, struct chart_panel *panel, const char *label, unsigned look)
{
    char *copy = strdup(label);
    if (!copy || !ARRAY_EXTEND(panel->lines, panel->count)) {
        free(copy);
        return NULL;
    }
    struct chart_line *line = &panel->lines[panel->count++];
    *line = (struct chart_line){.label = copy, .look = look, .limit = NAN};
    curve_init(&line->curve, chart->start, chart->end,
        (unsigned)ceil(
            width_of(chart) / (chart->is_inline ? CHART_INLINE_COLUMN_WIDTH : CHART_COLUMN_WIDTH)));
    return line;
}

struct chart_row *chart_add_row(struct chart *chart, const char *label, unsigned look)
{
    char *copy = strdup(label);
    if (!copy || !ARRAY_EXTEND(chart->rows, chart->row_count)) {
        free(copy);
        return NULL;
    }
    chart->rows[chart->row_count] = (struct chart_row){.label = copy, .look = look};
    return &chart->rows[chart->row_count++];
}

bool chart_add_span(const struct chart *chart, struct chart_row *row, double start, double stop)
{
    struct chart_span *last = row->spans + row->count;
    double near = (chart->end - chart->start) / width_of(chart) * CHART_COLUMN_WIDTH;
    start = fmax(start, chart->start);
    stop = fmin(stop, chart->end);
    if (!(stop >= start))
        return true;
    if (row->count > 0 && start - last[-1].stop < near) {
        last[-1].stop = fmax(last[-1].stop, stop);
        return true;
    }
    if (!ARRAY_EXTEND(row->spans, row->count))
        return false;
    row->spans[row->count++] = (struct chart_span){start, stop};
    return true;
}

void chart_finish(struct chart *chart)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        struct chart_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->count; k++) {
            curve_finish(&panel->lines[k].curve);
            free(panel->lines[k].label);
        }
        free(panel->lines);
        free(panel->name);
        free(panel->unit);
    }
    for (size_t i = 0; i < chart->row_count; i++) {
        free(chart->rows[i].spans);
        free(chart->rows[i].label);
    }
    free(chart->panels);
    free(chart->rows);
    chart->panels = NULL;
    chart->rows = NULL;
    chart->panel_count = chart->row_count = 0;
}

/* ---- Layout ---- */

#define FONT 8.0
#define TITLE_FONT 9.5
#define LINE_HEIGHT 11.0
#define MARGIN 4.0
#define GAP 4.0       /* between a text and what it labels */
#define PANEL_GAP 9.0 /* below a panel */
#define MIN_PANEL 24.0
#define LEGEND_LINE 14.0
#define LEGEND_GAP 10.0
#define ROW_HEIGHT 10.0
#define ROW_BOX 7.0
#define TICK 3.0
#define TICK_DISTANCE 16.0  /* between labels of the vertical axis */
#define TIME_DISTANCE 42.0  /* between labels of the time axis */
#define MAX_LABEL_SHARE 0.3 /* part of the width for the names of rows */
#define LIMIT_IN_SIGHT 1.5  /* limits above this multiple of the highest value are not drawn */

/* Colours that colour-blind people can distinguish (Okabe and Ito), ordered so that neighbours
 * also differ in lightness. */
static const uint32_t colours[] = {
    0x0072b2, 0xe69f00, 0x009e73, 0xd55e00, 0xcc79a7, 0x56b4e9, 0x7f7f7f};
/* The darkest of them is hard to see where the page is dark. */
#define INLINE_FIRST_COLOUR 0x2f8fcf
#define COLOURS (sizeof colours / sizeof *colours)

struct layout {
    const struct chart *chart;
    struct drawing *drawing;
    uint32_t ink, faint; /* colours of texts, and of lines that guide the eye */
    double faint_opacity;
    double left, right, width, height;
    double panel_height;
    struct axis time;
    struct axis *axes; /* axes of the panels */
    bool failed;       /* memory for a text ran out */
};

uint32_t chart_colour(unsigned look, bool is_inline)
{
    unsigned number = look % COLOURS;
    return is_inline && number == 0 ? INLINE_FIRST_COLOUR : colours[number];
}

uint32_t chart_ink(bool is_inline)
{
    return is_inline ? 0x808891 : 0x262626;
}

/* Returns the colour and the dashes of a look. */
static struct drawing_style style_of(const struct chart *chart, unsigned look, double width)
{
    static const enum drawing_dash dashes[] = {
        DRAWING_SOLID, DRAWING_SOLID, DRAWING_DASHED, DRAWING_DASH_DOT, DRAWING_DOTTED};
    return (struct drawing_style){
        .colour = chart_colour(look, chart->is_inline),
        .opacity = 1,
        .width = width,
        .dash = dashes[look % (sizeof dashes / sizeof *dashes)],
    };
}

static double place_x(const struct layout *layout, double time)
{
    return layout->left + axis_place(&layout->time, time) * (layout->right - layout->left);
}

static void add_text(struct layout *layout, double x, double y, enum drawing_anchor anchor,
    uint32_t colour, const char *text)
{
    drawing_add_text(layout->drawing, (struct drawing_point){x, y}, anchor, FONT, colour, text);
}

/* ---- Legends ---- */

/* Returns whether all lines have the same limit, which then is labelled once. */
static bool have_one_limit(const struct chart_panel *panel)
{
    for (size_t i = 1; i < panel->count; i++) {
        if (panel->lines[i].limit != panel->lines[0].limit)
            return false;
    }
    return panel->count > 0;
}

/* Returns whether a panel needs a legend. It does not if its lines are those of the panel before,
 * unless it would name limits. */
static bool has_legend(const struct layout *layout, size_t index)
{
    const struct chart_panel *panel = &layout->chart->panels[index], *before = panel - 1;
    if (panel->count == 0 || (panel->count == 1 && strcmp(panel->lines[0].label, panel->name) == 0))
        return false;
    if (index == 0 || before->count != panel->count)
        return true;
    for (size_t i = 0; i < panel->count; i++) {
        if ((panel->lines[i].limit > layout->axes[index].high && !have_one_limit(panel)) ||
            panel->lines[i].look != before->lines[i].look ||
            strcmp(panel->lines[i].label, before->lines[i].label) != 0)
            return true;
    }
    return false;
}

char *chart_cut(const char *text, double size, double width)
{
    struct str shorter = {0};
    size_t length = strlen(text);
    str_append(&shorter, text);
    while (!shorter.failed && length > 0 && drawing_text_width(str_text(&shorter), size) > width) {
        do
            length--;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80);
        str_clear(&shorter);
        str_append_bytes(&shorter, text, length);
        str_append(&shorter, "…");
    }
    return str_steal(&shorter);
}

/* Appends a limit that is out of sight, after a text. */
static void append_limit(const struct layout *layout, size_t index, const struct chart_line *line,
    const char *before, struct str *text)
{
    char limit[AXIS_TEXT_SIZE];
    if (line->limit > layout->axes[index].high)
        str_printf(text, "%slimit %s", before,
            axis_value(line->limit, layout->chart->panels[index].unit, limit));
}

/* Draws one entry, or only measures it; returns its width. */
static double add_entry(
    struct layout *layout, size_t index, const struct chart_line *line, double x, double y)
{
    CLEANUP_STR struct str text = {0};
    double most = layout->width - 2 * MARGIN - LEGEND_LINE - GAP - LEGEND_GAP;
    str_append(&text, line->label);
    if (!have_one_limit(&layout->chart->panels[index]))
        append_limit(layout, index, line, ", ", &text);
    double width = fmin(drawing_text_width(str_text(&text), FONT), most);
    if (!isnan(y)) {
        struct drawing_style style = style_of(layout->chart, line->look, 1.4);
        char *label = chart_cut(str_text(&text), FONT, most);
        layout->failed |= text.failed || !label;
        drawing_add_line(layout->drawing, (struct drawing_point){x, y - FONT * 0.33},
            (struct drawing_point){x + LEGEND_LINE, y - FONT * 0.33}, &style);
        add_text(layout, x + LEGEND_LINE + GAP, y, DRAWING_START, layout->ink, label ? label : "");
        free(label);
    }
    return LEGEND_LINE + GAP + width + LEGEND_GAP;
}

/* Returns the number of lines above a panel: its name, then its legend where it fits. Draws them
 * below `y` unless that is NaN. */
static size_t add_heading(struct layout *layout, size_t index, double y)
{
    const struct chart_panel *panel = &layout->chart->panels[index];
    CLEANUP_STR struct str text = {0};
    size_t lines = 1, count = has_legend(layout, index) ? panel->count : 0;
    /* Write "RAM (GB)", with the limit if all lines have the same and it is out of sight. */
    const struct axis *axis = &layout->axes[index];
    str_append(&text, panel->name);
    if (*axis->unit)
        str_printf(&text, " (%s)", axis->unit);
    if (have_one_limit(panel))
        append_limit(layout, index, &panel->lines[0], ", ", &text);
    layout->failed |= text.failed;
    double begin = layout->left + drawing_text_width(str_text(&text), FONT) + 2 * LEGEND_GAP;
    double x = begin;
    if (!isnan(y))
        add_text(layout, layout->left, y + FONT, DRAWING_START, layout->ink, str_text(&text));
    for (size_t i = 0; i < count; i++) {
        double width = add_entry(layout, index, &panel->lines[i], 0, NAN);
        if (x + width > layout->width - MARGIN + LEGEND_GAP && x > layout->left) {
            x = layout->left;
            lines++;
        }
        add_entry(layout, index, &panel->lines[i], x, y + FONT + LINE_HEIGHT * (double)(lines - 1));
        x += width;
    }
    return lines;
}

/* ---- Panels ---- */

static double place_y(const struct layout *layout, const struct axis *axis, double bottom, double v)
{
    return bottom - axis_place(axis, v) * layout->panel_height;
}

/* Draws the ticks of an axis, with their values. */
static void draw_axis(struct layout *layout, const struct axis *axis, double bottom)
{
    char label[AXIS_TEXT_SIZE];
    for (size_t i = 0; i < axis->count; i++) {
        double y = place_y(layout, axis, bottom, axis->ticks[i]);
        bool is_zero = axis->ticks[i] == 0;
        const struct drawing_style style = {.colour = is_zero ? layout->ink : layout->faint,
            .opacity = is_zero ? 1 : layout->faint_opacity,
            .width = is_zero ? 0.6 : 0.4};
        drawing_add_line(layout->drawing, (struct drawing_point){layout->left, y},
            (struct drawing_point){layout->right, y}, &style);
        add_text(layout, layout->left - GAP, y + FONT * 0.35, DRAWING_STOP, layout->ink,
            axis_label(axis, axis->ticks[i], label));
    }
}

/* Returns whether a curve enters a box, judged by its points in and next to it. */
static bool is_crossed(const struct layout *layout, const struct chart_panel *panel,
    const struct axis *axis, double bottom, const double box[4])
{
    for (size_t i = 0; i < panel->count; i++) {
        const struct curve *curve = &panel->lines[i].curve;
        for (size_t k = 1; k < curve->count; k++) {
            const struct drawing_point *from = &curve->points[k - 1], *to = &curve->points[k];
            double y0 = place_y(layout, axis, bottom, from->y);
            double y1 = place_y(layout, axis, bottom, to->y);
            if (place_x(layout, to->x) >= box[0] && place_x(layout, from->x) <= box[2] &&
                fmax(y0, y1) >= box[1] && fmin(y0, y1) <= box[3])
                return true;
        }
    }
    return false;
}

/* Draws each limit once, with a label. */
static void draw_limits(
    struct layout *layout, const struct chart_panel *panel, const struct axis *axis, double bottom)
{
    struct drawing_style style = {
        .colour = layout->ink, .opacity = 1, .width = 0.7, .dash = DRAWING_DASHED};
    char value[AXIS_TEXT_SIZE], text[AXIS_TEXT_SIZE + 8];
    for (size_t i = 0; i < panel->count; i++) {
        double limit = panel->lines[i].limit, y = place_y(layout, axis, bottom, limit);
        bool is_drawn = limit <= axis->high && limit > axis->low;
        for (size_t k = 0; k < i; k++)
            is_drawn = is_drawn && panel->lines[k].limit != limit;
        if (!is_drawn)
            continue;
        style.colour = panel->count > 1
                           ? chart_colour(panel->lines[i].look, layout->chart->is_inline)
                           : layout->ink;
        drawing_add_line(layout->drawing, (struct drawing_point){layout->left, y},
            (struct drawing_point){layout->right, y}, &style);
        snprintf(text, sizeof text, "limit %s", axis_value(limit, panel->unit, value));

        /* Put the label at an end of its line, above or below it, where no curve is. */
        double width = drawing_text_width(text, FONT);
        bool has_space[] = {
            y - FONT >= bottom - layout->panel_height, y + FONT + 2 <= bottom}; /* above, below */
        int best = has_space[0] ? 0 : 2;
        for (int place = 3; place >= 0; place--) {
            bool is_below = place >= 2, is_left = place % 2 == 1;
            double left = is_left ? layout->left : layout->right - width;
            double top = is_below ? y + 1 : y - FONT - 1;
            const double box[] = {left, top, left + width, top + FONT};
            if (has_space[is_below] && !is_crossed(layout, panel, axis, bottom, box))
                best = place;
        }
        bool is_left = best % 2 == 1;
        add_text(layout, is_left ? layout->left + 2 : layout->right, best >= 2 ? y + FONT : y - 2,
            is_left ? DRAWING_START : DRAWING_STOP, layout->ink, text);
    }
}

/* Draws a panel. Returns the place of its lower edge. */
static double draw_panel(struct layout *layout, size_t index, double y)
{
    const struct chart_panel *panel = &layout->chart->panels[index];
    const struct axis *axis = &layout->axes[index];
    double top = y + LINE_HEIGHT * (double)add_heading(layout, index, y) + GAP;
    double bottom = top + layout->panel_height;

    /* Shade the times of code blocks under the curves. */
    for (size_t i = 0; i < layout->chart->row_count; i++) {
        const struct chart_row *row = &layout->chart->rows[i];
        struct drawing_style style = style_of(layout->chart, row->look, 0);
        style.opacity = 0.13;
        for (size_t k = 0; row->is_band && k < row->count; k++) {
            double x = place_x(layout, row->spans[k].start);
            drawing_add_box(layout->drawing, (struct drawing_point){x, top},
                place_x(layout, row->spans[k].stop) - x, layout->panel_height, &style, NULL);
        }
    }

    draw_axis(layout, axis, bottom);
    for (size_t i = panel->count; i-- > 0;) { /* the first is the most important one */
        /* Draw a curve. */
        const struct chart_line *line = &panel->lines[i];
        const struct drawing_style style =
            style_of(layout->chart, line->look, layout->chart->is_inline ? 1.2 : 1);
        const struct curve *curve = &line->curve;
        if (curve->count != 0) {
            drawing_begin_line(layout->drawing, &style, line->label);
            for (size_t j = 0; j < curve->count; j++)
                drawing_add_point(layout->drawing, place_x(layout, curve->points[j].x),
                    place_y(layout, axis, bottom, curve->points[j].y));
        }
    }

    draw_limits(layout, panel, axis, bottom);
    return bottom + PANEL_GAP;
}

/* ---- Rows and time ---- */

/* Draws the axis of time. */
static void draw_time(struct layout *layout, double y)
{
    const struct drawing_style style = {.colour = layout->ink, .opacity = 1, .width = 0.6};
    char label[AXIS_TEXT_SIZE], name[AXIS_TEXT_SIZE + 16];
    for (size_t i = 0; i < layout->time.count; i++) {
        double x = place_x(layout, layout->time.ticks[i]);
        drawing_add_line(layout->drawing, (struct drawing_point){x, y},
            (struct drawing_point){x, y + TICK}, &style);
        add_text(layout, x, y + TICK + FONT, DRAWING_MIDDLE, layout->ink,
            axis_label(&layout->time, layout->time.ticks[i], label));
    }
    drawing_add_line(layout->drawing, (struct drawing_point){layout->left, y},
        (struct drawing_point){layout->right, y}, &style);
    snprintf(name, sizeof name, "Time (%s)", layout->time.unit);
    add_text(layout, (layout->left + layout->right) / 2, y + TICK + FONT + LINE_HEIGHT,
        DRAWING_MIDDLE, layout->ink, name);
}

/* ---- All ---- */

static double title_height(const struct chart *chart)
{
    return chart->title ? TITLE_FONT + 2 * GAP : 0;
}

/* Returns the height of a panel; the more panels, the lower. */
static double usual_panel_height(const struct chart *chart)
{
    if (chart->is_inline)
        return 56;
    return chart->panel_count <= 1 ? 120 : chart->panel_count == 2 ? 90 : 72;
}

/* Makes the axes of all panels, and finds the space that their values need. */
static void make_axes(struct layout *layout, double panel_height)
{
    size_t ticks = (size_t)fmax(panel_height / TICK_DISTANCE, 1);
    for (size_t i = 0; i < layout->chart->panel_count; i++) {
        /* Make the axis of a panel from its values. */
        const struct chart_panel *panel = &layout->chart->panels[i];
        double low = 0, high = 0, limit = 0;
        for (size_t j = 0; j < panel->count; j++) {
            const struct chart_line *line = &panel->lines[j];
            low = fmin(low, line->curve.lowest);
            high = fmax(high, line->curve.highest);
        }
        for (size_t j = 0; j < panel->count; j++) {
            if (panel->lines[j].limit <= high * LIMIT_IN_SIGHT)
                limit = fmax(limit, panel->lines[j].limit);
        }
        axis_make(&layout->axes[i], low, fmax(high, limit), panel->unit, ticks);
    }

    /* Leave space at the left for the widest label. */
    const struct chart *chart = layout->chart;
    double widest = 0, most = layout->width * MAX_LABEL_SHARE;
    char label[AXIS_TEXT_SIZE];
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct axis *axis = &layout->axes[i];
        for (size_t k = 0; k < axis->count; k++)
            widest =
                fmax(widest, drawing_text_width(axis_label(axis, axis->ticks[k], label), FONT));
    }
    for (size_t i = 0; i < chart->row_count; i++)
        widest = fmax(widest, fmin(drawing_text_width(chart->rows[i].label, FONT), most));
    layout->left = MARGIN + widest + GAP;

    layout->right = layout->width - MARGIN - FONT;
    axis_make_time(&layout->time, layout->chart->start, layout->chart->end,
        (size_t)fmax((layout->right - layout->left) / TIME_DISTANCE, 1));
}

/* Axes depend on the height of panels, and that on what stands above them. */
static int lay_out(struct layout *layout, struct gput_error *error)
{
    const struct chart *chart = layout->chart;
    double count = (double)chart->panel_count;
    layout->width = chart->width > 0   ? chart->width
                    : chart->is_inline ? CHART_INLINE_WIDTH
                                       : CHART_WIDTH;
    layout->panel_height = usual_panel_height(chart);
    make_axes(layout, layout->panel_height);
    /* Compute the height of everything but the panels. */
    double height = 2 * MARGIN + title_height(chart) + TICK + FONT + LINE_HEIGHT;
    for (size_t i = 0; i < chart->panel_count; i++)
        height += LINE_HEIGHT * (double)add_heading(layout, i, NAN) + GAP + PANEL_GAP;
    double fixed =
        height + ROW_HEIGHT * (double)chart->row_count - (chart->row_count ? 0 : PANEL_GAP);
    layout->height = chart->height > 0 ? chart->height : fixed + count * layout->panel_height;
    if (chart->height > 0 && count > 0)
        layout->panel_height = (chart->height - fixed) / count;
    double least = fixed + count * MIN_PANEL, narrow = layout->right - layout->left;
    if (layout->height < least - 0.5 || narrow < 2 * TIME_DISTANCE)
        return error_set(error, GPUT_ERROR_INVALID,
            "The picture is too small: these charts need at least %.0f x %.0f mm.",
            ceil((layout->width + fmax(2 * TIME_DISTANCE - narrow, 0)) * 25.4 / 72),
            ceil(least * 25.4 / 72));
    make_axes(layout, layout->panel_height);
    return GPUT_OK;
}

/* Draws the whole chart, from the top to the bottom. */
static void draw(struct layout *layout)
{
    const struct chart *chart = layout->chart;
    double y = MARGIN + title_height(chart);
    if (chart->title)
        drawing_add_text(layout->drawing, (struct drawing_point){layout->left, MARGIN + TITLE_FONT},
            DRAWING_START, TITLE_FONT, layout->ink, chart->title);
    for (size_t i = 0; i < chart->panel_count; i++)
        y = draw_panel(layout, i, y);
    for (size_t i = 0; i < chart->row_count; i++, y += ROW_HEIGHT) {
        /* Draw the calls of a code block. */
        const struct chart_row *row = &chart->rows[i];
        struct drawing_style style = style_of(layout->chart, row->look, 0);
        double top = y + (ROW_HEIGHT - ROW_BOX) / 2;
        char *label = chart_cut(row->label, FONT, layout->left - GAP - MARGIN);
        add_text(layout, layout->left - GAP, y + ROW_HEIGHT / 2 + FONT * 0.35, DRAWING_STOP,
            layout->ink, label ? label : "");
        free(label);
        for (size_t k = 0; k < row->count; k++) {
            double x = place_x(layout, row->spans[k].start);
            double width = place_x(layout, row->spans[k].stop) - x;
            drawing_add_box(layout->drawing, (struct drawing_point){x, top},
                fmax(width, CHART_COLUMN_WIDTH), ROW_BOX, &style, NULL);
        }
    }
    draw_time(layout, chart->row_count ? y : y - PANEL_GAP);
}

/* Returns the largest value of a panel's curves, NAN without any. */
static double max_of(const struct chart_panel *panel)
{
    double max = NAN;
    for (size_t i = 0; i < panel->count; i++)
        max = fmax(max, panel->lines[i].curve.highest);
    return max;
}

/* Returns whether all curves are there; one fails when memory runs out. */
static bool is_complete(const struct chart *chart)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        for (size_t k = 0; k < chart->panels[i].count; k++) {
            if (chart->panels[i].lines[k].curve.failed)
                return false;
        }
    }
    return true;
}

/*
 * Draws the chart. The caller calls drawing_finish(), also after an error. Errors:
 * GPUT_ERROR_INVALID (its panels do not fit the height), GPUT_ERROR_MEMORY.
 */
static int draw_chart(const struct chart *chart, struct drawing *drawing, struct gput_error *error)
{
    struct layout layout = {.chart = chart, .drawing = drawing};
    struct str title = {0};
    layout.ink = chart_ink(chart->is_inline);
    layout.faint = chart->is_inline ? layout.ink : 0xdcdcdc;
    layout.faint_opacity = chart->is_inline ? 0.35 : 1;
    layout.axes = calloc(chart->panel_count + 1, sizeof *layout.axes);
    if (!layout.axes || !is_complete(chart)) {
        free(layout.axes);
        return error_memory(error);
    }
    int code = lay_out(&layout, error);

    /* Describe the picture for screen readers. */
    char value[AXIS_TEXT_SIZE];
    if (chart->title)
        str_printf(&title, "%s: ", chart->title);
    for (size_t i = 0; i < chart->panel_count; i++)
        str_printf(&title, "%s%s", i ? ", " : "", chart->panels[i].name);
    for (size_t i = 0; i < chart->row_count && chart->panel_count == 0; i++)
        str_printf(&title, "%s%s", i ? ", " : "", chart->rows[i].label);
    /* Append how long the chart is, as " over 90 s". */
    struct axis time;
    axis_make_time(&time, chart->start, chart->end, 1);
    str_printf(
        &title, " over %s", axis_value((chart->end - chart->start) / time.scale, time.unit, value));
    for (size_t i = 0; i < chart->panel_count; i++) {
        double max = max_of(&chart->panels[i]);
        if (!isnan(max))
            str_printf(&title, "%s%s", i ? ", " : ", at most ",
                axis_value(max, chart->panels[i].unit, value));
    }

    drawing_init(drawing, layout.width, layout.height, str_text(&title));
    drawing->failed |= title.failed;
    drawing->has_paper = !chart->is_inline;
    if (code == GPUT_OK)
        draw(&layout);
    str_finish(&title);
    free(layout.axes);
    drawing->failed |= layout.failed;
    return code == GPUT_OK && drawing->failed ? error_memory(error) : code;
}

int chart_render(const struct chart *chart, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct drawing drawing = {0};
    *bytes = NULL;
    int code = draw_chart(chart, &drawing, error);
    if (code == GPUT_OK)
        code = drawing_render(&drawing, format, bytes, length, error);
    drawing_finish(&drawing);
    return code;
}
