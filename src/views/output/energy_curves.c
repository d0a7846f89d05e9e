/*
 * Metrics of a recording of power point by point: text, JSON, CSV, and a picture.
 */
#include "analysis/analyze/energy_recording.h"
#include "base/cleanup.h"
#include "base/csv.h"
#include "base/doc.h"
#include "base/number.h"
#include "base/screen.h"
#include "views/plot/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct curves {
    struct energy_curve *list;
    size_t count;
};

static void curves_finish(struct curves *curves)
{
    for (size_t i = 0; curves->list && i < curves->count; i++)
        free(curves->list[i].points);
    free(curves->list);
}

/* Reads the points of the selected metrics. */
static int read_curves(const struct gput_energy_recording *recording, const char *const *names,
    size_t n_names, const struct gput_energy_window *window, struct curves *curves,
    struct gput_error *error)
{
    CLEANUP_FREE const char **selected = NULL;
    size_t count;
    TRY(energy_recording_select(recording, names, n_names, &selected, &count, error));
    *curves = (struct curves){calloc(count + 1, sizeof *curves->list), count};
    int code = curves->list ? GPUT_OK : error_memory(error);
    for (size_t i = 0; i < count && code == GPUT_OK; i++)
        code = energy_recording_points(recording, selected[i], window, &curves->list[i], error);
    if (code != GPUT_OK)
        curves_finish(curves);
    return code;
}

/* ---- points ---- */

/* Writes a line for each point, below the name of its metric. */
static void write_text(const struct curves *curves, struct str *text)
{
    for (size_t i = 0; i < curves->count; i++) {
        const struct energy_curve *curve = &curves->list[i];
        str_printf(text, "%s%s:\n", i ? "\n" : "", curve->metric.name);
        for (size_t k = 0; k < curve->count; k++) {
            char date[32], number[NUMBER_TEXT_SIZE];
            if (k > 0 && curve->points[k].segment != curve->points[k - 1].segment)
                str_append(text, "   …\n");
            gput_energy_recording_date(curve->points[k].time_us, date, sizeof date);
            number_format_double(curve->points[k].value, number);
            str_printf(text, "   %-26s  %s\n", date, number);
        }
    }
}

/* Writes a row for each point. */
static void write_csv(const struct curves *curves, struct str *text)
{
    str_append(text, "metric,segment,date,value\n");
    for (size_t i = 0; i < curves->count; i++) {
        const struct energy_curve *curve = &curves->list[i];
        for (size_t k = 0; k < curve->count; k++) {
            char date[32];
            gput_energy_recording_date(curve->points[k].time_us, date, sizeof date);
            csv_append_shown(text, curve->metric.name);
            str_printf(text, ",%u,%s,", curve->points[k].segment, date);
            csv_append_number(text, curve->points[k].value);
            str_append_char(text, '\n');
        }
    }
}

/* Writes a list of points for each metric. */
static void write_json(const struct curves *curves, struct str *text)
{
    struct doc *root = doc_create_object();
    for (size_t i = 0; i < curves->count; i++) {
        const struct energy_curve *curve = &curves->list[i];
        struct doc *points = doc_add_array(root, curve->metric.name);
        for (size_t k = 0; k < curve->count; k++) {
            char date[32];
            struct doc *point = doc_add_object(points, NULL);
            gput_energy_recording_date(curve->points[k].time_us, date, sizeof date);
            doc_add_string(point, "date", date);
            doc_add_double(point, "value", curve->points[k].value);
            doc_add_int(point, "segment", curve->points[k].segment);
        }
    }
    doc_finish_json(root, text);
    str_append_char(text, '\n');
}

/* ---- the picture ---- */

/* The panel of what a curve is of, made when it is its first; NULL without memory. */
static struct chart_panel *panel_of(struct chart *chart, const struct energy_curve *curve)
{
    /* Name the panel by what the unit measures. */
    const char *unit = curve->metric.unit ? curve->metric.unit : "";
    const char *name = strcmp(unit, "watts") == 0   ? "Power"
                       : strcmp(unit, "bytes") == 0 ? "Memory"
                                                    : curve->metric.name;
    for (size_t i = 0; i < chart->panel_count; i++) {
        if (strcmp(chart->panels[i].name, name) == 0)
            return &chart->panels[i];
    }
    return chart_add_panel(chart, name, curve->metric.unit ? curve->metric.unit : "");
}

/* Adds a curve to the panel that it belongs to. */
static int add_line(struct chart *chart, const struct energy_curve *curve, int64_t first_us,
    struct gput_error *error)
{
    struct chart_panel *panel = panel_of(chart, curve);
    struct chart_line *line =
        panel ? chart_add_line(chart, panel, curve->metric.name, (unsigned)panel->count) : NULL;
    if (!line)
        return error_memory(error);
    line->curve.is_of_intervals = energy_metric_is_of_interval(curve->metric.name);
    for (size_t i = 0; i < curve->count; i++) {
        const struct gput_energy_point *point = &curve->points[i];
        if (i > 0 && point->segment != point[-1].segment)
            curve_add(&line->curve, NAN, NAN);
        curve_add(&line->curve, (double)(point->time_us - first_us) / 1e6, point->value);
    }
    curve_end(&line->curve);
    return GPUT_OK;
}

/* Draws all curves over one time axis. */
static int draw(const struct curves *curves, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct chart chart = {.start = 0};
    int64_t first_us, last_us;
    int code = GPUT_OK;
    /* Find the first and the last moment of all points. */
    first_us = INT64_MAX;
    last_us = INT64_MIN;
    for (size_t i = 0; i < curves->count; i++) {
        const struct energy_curve *curve = &curves->list[i];
        for (size_t k = 0; k < curve->count; k++) {
            int64_t time_us = curve->points[k].time_us;
            first_us = time_us < first_us ? time_us : first_us;
            last_us = time_us > last_us ? time_us : last_us;
        }
    }
    chart.end = last_us > first_us ? (double)(last_us - first_us) / 1e6 : 0;
    for (size_t i = 0; i < curves->count && code == GPUT_OK; i++)
        code = add_line(&chart, &curves->list[i], first_us, error);
    if (code == GPUT_OK)
        code = chart_render(&chart, format, bytes, length, error);
    chart_finish(&chart);
    return code;
}

/* ---- formats ---- */

int gput_energy_recording_render_curves(const struct gput_energy_recording *recording,
    const char *const *names, size_t n_names, const struct gput_energy_window *window,
    enum gput_format format, char **bytes, size_t *length, struct gput_error *error)
{
    static void (*const writers[])(const struct curves *, struct str *) = {
        [GPUT_FORMAT_TEXT] = write_text,
        [GPUT_FORMAT_JSON] = write_json,
        [GPUT_FORMAT_CSV] = write_csv,
    };
    struct curves curves;
    struct str text = {0};
    *bytes = NULL;
    bool is_picture = drawing_has_format(format);
    bool is_text = (size_t)format < sizeof writers / sizeof *writers && writers[format];
    if (!is_picture && !is_text)
        return error_set(error, GPUT_ERROR_INVALID,
            "Curves are text, JSON or CSV, or pictures as " DRAWING_FORMATS ".");
    TRY(read_curves(recording, names, n_names, window, &curves, error));
    int code = is_picture ? draw(&curves, format, bytes, length, error) : GPUT_OK;
    if (is_text)
        writers[format](&curves, &text);
    if (format == GPUT_FORMAT_TEXT)
        screen_sanitize(&text, 0);
    curves_finish(&curves);
    return is_picture ? code : str_steal_bytes(&text, bytes, length, error);
}
