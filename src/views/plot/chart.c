#include "views/plot/chart.h"

#include "base/array.h"

#include <math.h>
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

int chart_render(const struct chart *chart, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct drawing drawing = {0};
    *bytes = NULL;
    int code = chart_draw(chart, &drawing, error);
    if (code == GPUT_OK)
        code = drawing_render(&drawing, format, bytes, length, error);
    drawing_finish(&drawing);
    return code;
}
