/*
 * Metrics of a recording of power point by point: text, JSON, CSV, and a picture.
 */
#include "analyze/energy_recording.h"
#include "base/csv.h"
#include "base/doc.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The points of one metric in the window; owned. */
struct curve {
    const char *name;
    struct gput_energy_point *points;
    size_t count;
};

struct curves {
    struct curve *list;
    size_t count;
};

static void curves_finish(struct curves *curves)
{
    for (size_t i = 0; curves->list && i < curves->count; i++)
        free(curves->list[i].points);
    free(curves->list);
}

static int read_curve(const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window, struct curve *curve, struct gput_error *error)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    TRY(gput_energy_recording_metric(recording, name, window, &metric, error));
    curve->name = metric.name;
    curve->points = malloc((metric.points + 1) * sizeof *curve->points);
    if (!curve->points)
        return error_memory(error);
    curve->count =
        gput_energy_recording_curve(recording, name, window, curve->points, metric.points);
    return GPUT_OK;
}

static int read_curves(const struct gput_energy_recording *recording, const char *const *names,
    size_t n_names, const struct gput_energy_window *window, struct curves *curves,
    struct gput_error *error)
{
    const char **selected;
    size_t count;
    TRY(energy_recording_select(recording, names, n_names, &selected, &count, error));
    *curves = (struct curves){calloc(count + 1, sizeof *curves->list), count};
    int code = curves->list ? GPUT_OK : error_memory(error);
    for (size_t i = 0; i < count && code == GPUT_OK; i++)
        code = read_curve(recording, selected[i], window, &curves->list[i], error);
    free(selected);
    if (code != GPUT_OK)
        curves_finish(curves);
    return code;
}

/* ---- points ---- */

static void write_text(const struct curves *curves, struct str *text)
{
    for (size_t i = 0; i < curves->count; i++) {
        const struct curve *curve = &curves->list[i];
        str_printf(text, "%s%s:\n", i ? "\n" : "", curve->name);
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

static void write_csv(const struct curves *curves, struct str *text)
{
    str_append(text, "metric,segment,date,value\n");
    for (size_t i = 0; i < curves->count; i++) {
        const struct curve *curve = &curves->list[i];
        for (size_t k = 0; k < curve->count; k++) {
            char date[32];
            gput_energy_recording_date(curve->points[k].time_us, date, sizeof date);
            csv_append_text(text, curve->name);
            str_printf(text, ",%u,%s,", curve->points[k].segment, date);
            csv_append_number(text, curve->points[k].value);
            str_append_char(text, '\n');
        }
    }
}

static void write_json(const struct curves *curves, struct str *text)
{
    struct doc *root = doc_create_object();
    for (size_t i = 0; i < curves->count; i++) {
        const struct curve *curve = &curves->list[i];
        struct doc *points = doc_add_array(root, curve->name);
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

#define WIDTH 960
#define HEIGHT 400
#define LEFT 80
#define RIGHT 20
#define TOP 30
#define BOTTOM 50
#define TICKS 5

/* Colours that people who are colour-blind distinguish  too (Okabe and Ito). */
static const char *const colours[] = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
#define COLOURS (sizeof colours / sizeof colours[0])

/* Names in a row above the picture, and the height of one. */
#define NAMES_IN_ROW 4
#define ROW_HEIGHT 14

struct frame {
    int64_t first_us, last_us;
    double least, most;
    double top; /* below the names */
};

static struct frame frame_of(const struct curves *curves)
{
    size_t rows = curves->count > 0 ? (curves->count - 1) / NAMES_IN_ROW : 0;
    struct frame frame = {INT64_MAX, INT64_MIN, 0, 0, TOP + ROW_HEIGHT * (double)rows};
    for (size_t i = 0; i < curves->count; i++) {
        for (size_t k = 0; k < curves->list[i].count; k++) {
            const struct gput_energy_point *point = &curves->list[i].points[k];
            frame.first_us = point->time_us < frame.first_us ? point->time_us : frame.first_us;
            frame.last_us = point->time_us > frame.last_us ? point->time_us : frame.last_us;
            frame.least = fmin(frame.least, point->value);
            frame.most = fmax(frame.most, point->value);
        }
    }
    if (!(frame.most > frame.least))
        frame.most = frame.least + 1;
    return frame;
}

static double x_of(const struct frame *frame, int64_t time_us)
{
    double span = (double)(frame->last_us - frame->first_us);
    double part = span > 0 ? (double)(time_us - frame->first_us) / span : 0.5;
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct frame *frame, double value)
{
    double part = (value - frame->least) / (frame->most - frame->least);
    return HEIGHT - BOTTOM - part * (HEIGHT - frame->top - BOTTOM);
}

/* In any locale. */
static void append_number(struct str *text, double value, int decimals)
{
    char number[NUMBER_TEXT_SIZE];
    size_t length = number_format_rounded(value, decimals, number);
    str_append_bytes(text, number, length);
}

/* name="value" */
static void append_attribute(struct str *text, const char *name, double value)
{
    str_printf(text, " %s=\"", name);
    append_number(text, value, 1);
    str_append_char(text, '"');
}

/* As many decimals as a tick of that distance to the next needs. */
static int tick_decimals(double distance)
{
    int decimals = 0;
    while (decimals < 9 && distance < 10) {
        distance *= 10;
        decimals++;
    }
    return decimals;
}

static void draw_label(
    struct str *text, double x, double y, const char *anchor, double value, int decimals)
{
    str_append(text, "<text");
    append_attribute(text, "x", x);
    append_attribute(text, "y", y);
    str_printf(text, " text-anchor=\"%s\">", anchor);
    append_number(text, value, decimals);
}

static void draw_axes(const struct frame *frame, struct str *text)
{
    double seconds =
        frame->last_us > frame->first_us ? (double)(frame->last_us - frame->first_us) / 1e6 : 0;
    double range = frame->most - frame->least;
    for (int i = 0; i <= TICKS; i++) {
        double value = frame->least + range * i / TICKS;
        double x = LEFT + (double)(WIDTH - LEFT - RIGHT) * i / TICKS, y = y_of(frame, value);
        str_append(text, "<line stroke=\"#ddd\"");
        append_attribute(text, "x1", LEFT);
        append_attribute(text, "y1", y);
        append_attribute(text, "x2", WIDTH - RIGHT);
        append_attribute(text, "y2", y);
        str_append(text, "/>\n");
        draw_label(text, LEFT - 6, y + 4, "end", value, tick_decimals(range / TICKS));
        str_append(text, "</text>\n");
        draw_label(text, x, HEIGHT - BOTTOM + 18, "middle", seconds * i / TICKS,
            tick_decimals(seconds / TICKS));
        str_append(text, " s</text>\n");
    }
}

/* Metric names come from files. */
static void append_escaped(struct str *text, const char *name)
{
    for (; *name; name++) {
        if (*name == '<' || *name == '>' || *name == '&' || *name == '"')
            str_printf(text, "&#%d;", *name);
        else
            str_append_char(text, *name);
    }
}

static void draw_curve(
    const struct frame *frame, const struct curve *curve, size_t index, struct str *text)
{
    const char *colour = colours[index % COLOURS];
    for (size_t k = 0; k < curve->count; k++) {
        const struct gput_energy_point *point = &curve->points[k];
        bool begins = k == 0 || point->segment != point[-1].segment;
        if (begins)
            str_printf(text,
                "%s<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"",
                k ? "\"/>\n" : "", colour);
        str_append(text, begins ? "" : " ");
        append_number(text, x_of(frame, point->time_us), 1);
        str_append_char(text, ',');
        append_number(text, y_of(frame, point->value), 1);
    }
    if (curve->count > 0)
        str_append(text, "\"/>\n");
    str_printf(text, "<text x=\"%zu\" y=\"%zu\" fill=\"%s\">", LEFT + 220 * (index % NAMES_IN_ROW),
        18 + ROW_HEIGHT * (index / NAMES_IN_ROW), colour);
    append_escaped(text, curve->name);
    str_append(text, "</text>\n");
}

static void write_svg(const struct curves *curves, struct str *text)
{
    struct frame frame = frame_of(curves);
    str_printf(text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
        "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_axes(&frame, text);
    for (size_t i = 0; i < curves->count; i++)
        draw_curve(&frame, &curves->list[i], i, text);
    str_append(text, "</svg>\n");
}

/* ---- formats ---- */

int gput_energy_recording_render_curves(const struct gput_energy_recording *recording,
    const char *const *names, size_t n_names, const struct gput_energy_window *window,
    enum gput_format format, char **bytes, size_t *length, struct gput_error *error)
{
    static void (*const writers[])(const struct curves *, struct str *) = {
        [GPUT_TEXT] = write_text,
        [GPUT_JSON] = write_json,
        [GPUT_CSV] = write_csv,
        [GPUT_SVG] = write_svg,
    };
    struct curves curves;
    struct str text = {0};
    *bytes = NULL;
    if ((size_t)format >= sizeof writers / sizeof *writers || !writers[format])
        return error_set(error, GPUT_ERROR_INVALID, "Curves are text, JSON, CSV or SVG only.");
    TRY(read_curves(recording, names, n_names, window, &curves, error));
    writers[format](&curves, &text);
    curves_finish(&curves);
    return str_steal_bytes(&text, bytes, length, error);
}
