#include "views/output/bench_html.h"

#include "base/human.h"
#include "base/number.h"
#include "views/output/bench_text.h"

#include <math.h>
#include <string.h>

/* The size of a chart, and of the space for its axes. */
#define WIDTH 720.0
#define HEIGHT 220.0
#define LEFT 76.0
#define BOTTOM 26.0
#define TOP 10.0
#define N_COLORS 8
#define N_TICKS 4

/* Of one family with the page of reports: its fonts, colours and tiles (web/src/page.css). */
static const char style[] =
    ":root{--page:#f7f7f5;--surface:#fff;--ink:#1b1f24;--muted:#5a6370;--line:#e6e7e4;"
    "--edge:#c9ccc8}@media (prefers-color-scheme:dark){:root{color-scheme:dark;--page:#101316;"
    "--surface:#171b20;--ink:#e9ebee;--muted:#a0a9b5;--line:#262c33;--edge:#444c56}}"
    "body{font:14px/1.5 system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",sans-serif;"
    "font-variant-numeric:tabular-nums;margin:0 auto;max-width:1360px;padding:28px 40px;"
    "color:var(--ink);background:var(--page)}.eyebrow,.facts,th{color:var(--muted);"
    "font-size:12.5px;margin:0}h1{font-size:25px;line-height:1.25;margin:6px 0}"
    "h2{font-size:17px;margin:36px 0 10px}.variants{list-style:none;padding:0}"
    "table{border-collapse:collapse;margin:0 0 12px;width:100%;font-size:13px}"
    "td,th{padding:4px 14px 4px 0;text-align:right;border-bottom:1px solid var(--line)}"
    "th{font-weight:500;border-bottom-color:var(--edge)}td:first-child,th:first-child,"
    "td:last-child,th:last-child{text-align:left}svg{display:block;box-sizing:border-box;"
    "width:100%;height:auto;max-width:900px;font:11px system-ui,sans-serif;margin:0 0 12px;"
    "padding:12px;background:var(--surface);border:1px solid var(--line);border-radius:8px}"
    ".grid{stroke:var(--line)}.axis{fill:var(--muted)}.out{fill:none;stroke-width:1.5}"
    ".log{display:none}body.is-log .log{display:inline}body.is-log .linear{display:none}"
    "code{font:12.5px ui-monospace,\"DejaVu Sans Mono\",monospace}.note{padding:10px 16px;"
    "border-left:3px solid #8a6d00;background:var(--surface);border-radius:0 8px 8px 0}"
    ".swatch{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:8px}";

/* Of the page of reports: they differ for all eyes. */
static const char *const colors[N_COLORS] = {
    "#0b65c2", "#c8500a", "#0a8560", "#a8457f", "#8a6d00", "#2f7fb3", "#6a4fc0", "#5d6672"};

static const char *color_of(int64_t variant)
{
    return colors[variant % N_COLORS];
}

/* Appends text that is no markup. */
static void add_text(struct str *html, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            str_append(html, "&lt;");
        else if (*text == '&')
            str_append(html, "&amp;");
        else if (*text == '"')
            str_append(html, "&quot;");
        else
            str_append_char(html, *text);
    }
}

/* ---- Axes ---- */

/* Where values are in a chart; logarithmic ones need values above 0. */
struct axis {
    double low, high;
    double begin, end; /* in the picture */
    bool is_log;
};

static double axis_at(const struct axis *axis, double value)
{
    double low = axis->low, high = axis->high;
    if (axis->is_log) {
        low = log(low);
        high = log(high);
        value = log(value);
    }
    return axis->begin +
           (axis->end - axis->begin) * (high > low ? (value - low) / (high - low) : 0.5);
}

static double axis_tick(const struct axis *axis, int number)
{
    double part = (double)number / N_TICKS;
    if (axis->is_log)
        return exp(log(axis->low) + part * (log(axis->high) - log(axis->low)));
    return axis->low + part * (axis->high - axis->low);
}

/* The range of a figure over all runs, with some space; false: no run has it. */
static bool range_of(const struct doc *document, const char *key, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (const struct doc *run = doc_get(document, "runs")->first; run; run = run->next) {
        double value = doc_get_number(doc_get(run, "figures"), key);
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    double space = (*high - *low) * 0.06;
    if (!(space > 0))
        space = fabs(*high) * 0.05;
    *low = *low >= 0 ? fmax(0, *low - space) : *low - space;
    *high += space;
    return isfinite(*low);
}

static void add_value_axis(struct str *html, const struct axis *axis, const char *unit)
{
    char text[HUMAN_SIZE];
    for (int i = 0; i <= N_TICKS; i++) {
        double value = axis_tick(axis, i), y = axis_at(axis, value);
        str_printf(html,
            "<line class=grid x1=%.1f x2=%.1f y1=%.1f y2=%.1f /><text class=axis x=%.1f y=%.1f "
            "text-anchor=end>%s</text>",
            LEFT, WIDTH, y, y, LEFT - 6, y + 4, bench_figure_text(value, unit, text));
    }
}

/* ---- Runs in their order ---- */

/* What disturbed a run, for its tip. */
static void add_causes(struct str *html, const struct doc *document, const struct doc *run)
{
    const struct doc *causes = doc_get(run, "causes");
    for (const struct doc *cause = doc_get(document, "causes")->first; cause; cause = cause->next) {
        const struct doc *is_share = doc_get(cause, "is_share");
        double value = doc_get_number(causes, doc_get_string(cause, "cause"));
        if (!(value > 0.005))
            continue;
        str_append(html, "\n");
        add_text(html, doc_get_string(cause, "label"));
        if (is_share->boolean)
            str_printf(html, ": %.0f %%", 100 * value);
    }
}

static void add_points(
    struct str *html, const struct doc *document, const struct doc *figure, const struct axis *y)
{
    char text[HUMAN_SIZE];
    const char *key = doc_get_string(figure, "figure"), *unit = doc_string(doc_get(figure, "unit"));
    const struct doc *runs = doc_get(document, "runs"), *variants = doc_get(document, "variants");
    size_t number = 0;
    for (const struct doc *run = runs->first; run; run = run->next, number++) {
        double value = doc_get_number(doc_get(run, "figures"), key);
        int64_t variant = doc_get_int(run, "variant");
        const char *left_out = doc_string(doc_get(run, "left_out"));
        double x = LEFT + 8 + (WIDTH - LEFT - 70) * ((double)number + 0.5) / (double)runs->count;
        if (isnan(value))
            continue;
        str_printf(html, "<circle cx=%.1f cy=%.1f r=3.5 ", x, axis_at(y, value));
        if (left_out)
            str_printf(html, "class=out stroke=\"%s\"><title>", color_of(variant));
        else
            str_printf(html, "fill=\"%s\"><title>", color_of(variant));
        add_text(html, doc_get_string(doc_item(variants, (size_t)variant), "name"));
        str_printf(html, ", run %lld: %s", (long long)doc_get_int(run, "block") + 1,
            bench_figure_text(value, unit, text));
        if (left_out)
            str_append(html, "\nleft out of the figures");
        add_causes(html, document, run);
        str_append(html, "</title></circle>");
    }
}

/* Means with their intervals, to the right of the points. */
static void add_means(
    struct str *html, const struct doc *document, const char *key, const struct axis *y)
{
    const struct doc *variants = doc_get(document, "variants");
    int64_t number = 0;
    for (const struct doc *variant = variants->first; variant; variant = variant->next, number++) {
        const struct doc *summary = doc_get(doc_get(variant, "figures"), key);
        double mean = doc_get_number(summary, "mean"), low = doc_get_number(summary, "low");
        double high = doc_get_number(summary, "high");
        double x = WIDTH - 55 + 50 * ((double)number + 0.5) / (double)variants->count;
        if (isnan(mean))
            continue;
        low = fmax(isnan(low) ? mean : low, y->low);
        high = fmin(isnan(high) ? mean : high, y->high);
        str_printf(html,
            "<line x1=%.1f x2=%.1f y1=%.1f y2=%.1f stroke=\"%s\" stroke-width=2 /><circle cx=%.1f "
            "cy=%.1f r=4 fill=\"%s\" />",
            x, x, axis_at(y, low), axis_at(y, high), color_of(number), x, axis_at(y, mean),
            color_of(number));
    }
}

static void add_run_chart(
    struct str *html, const struct doc *document, const struct doc *figure, bool is_log)
{
    struct axis y = {.begin = HEIGHT - BOTTOM, .end = TOP, .is_log = is_log};
    const char *key = doc_get_string(figure, "figure");
    if (!range_of(document, key, &y.low, &y.high) || (is_log && !(y.low > 0)))
        return;
    str_printf(html, "<g class=%s>", is_log ? "log" : "linear");
    add_value_axis(html, &y, doc_string(doc_get(figure, "unit")));
    add_points(html, document, figure, &y);
    add_means(html, document, key, &y);
    str_append(html, "</g>");
}

/* ---- The curve of a parameter ---- */

/* The value of the only parameter of a variant, where it is a number; NaN otherwise. */
static double parameter_of(const struct doc *variant)
{
    double value;
    const struct doc *parameters = doc_get(variant, "parameters");
    const char *text = parameters->count == 1 ? doc_string(parameters->first) : NULL;
    return text && number_read_double(text, &value) ? value : NAN;
}

/* Means over a parameter; nothing where the variants have none, or several. */
static void add_curve(
    struct str *html, const struct doc *document, const struct doc *figure, bool is_log)
{
    const struct doc *variants = doc_get(document, "variants");
    const char *key = doc_get_string(figure, "figure");
    struct axis x = {.low = INFINITY, .high = -INFINITY, .begin = LEFT + 10, .end = WIDTH - 20};
    struct axis y = {.begin = HEIGHT - BOTTOM, .end = TOP, .is_log = is_log};
    for (const struct doc *variant = variants->first; variant; variant = variant->next) {
        x.low = fmin(x.low, parameter_of(variant));
        x.high = fmax(x.high, parameter_of(variant));
        if (isnan(parameter_of(variant)))
            return;
    }
    x.is_log = is_log && x.low > 0;
    if (!(x.high > x.low) || !range_of(document, key, &y.low, &y.high) || (is_log && !(y.low > 0)))
        return;
    str_printf(html, "<g class=%s>", is_log ? "log" : "linear");
    add_value_axis(html, &y, doc_string(doc_get(figure, "unit")));
    str_printf(html, "<polyline fill=none stroke=\"%s\" stroke-width=2 points=\"", color_of(0));
    for (const struct doc *variant = variants->first; variant; variant = variant->next) {
        double mean = doc_get_number(doc_get(doc_get(variant, "figures"), key), "mean");
        if (!isnan(mean))
            str_printf(html, "%.1f,%.1f ", axis_at(&x, parameter_of(variant)), axis_at(&y, mean));
    }
    str_append(html, "\"/>");
    for (const struct doc *variant = variants->first; variant; variant = variant->next) {
        const struct doc *summary = doc_get(doc_get(variant, "figures"), key);
        double at = axis_at(&x, parameter_of(variant)), mean = doc_get_number(summary, "mean");
        double low = doc_get_number(summary, "low"), high = doc_get_number(summary, "high");
        if (isnan(mean))
            continue;
        str_printf(html,
            "<line x1=%.1f x2=%.1f y1=%.1f y2=%.1f stroke=\"%s\" /><circle cx=%.1f cy=%.1f r=3.5 "
            "fill=\"%s\" /><text class=axis x=%.1f y=%.1f text-anchor=middle>",
            at, at, axis_at(&y, fmax(isnan(low) ? mean : low, y.low)),
            axis_at(&y, fmin(isnan(high) ? mean : high, y.high)), color_of(0), at,
            axis_at(&y, mean), color_of(0), at, HEIGHT - 8);
        add_text(html, doc_string(doc_get(variant, "parameters")->first));
        str_append(html, "</text>");
    }
    str_append(html, "</g>");
}

/* ---- The page ---- */

static void add_svg(struct str *html, const struct doc *document, const struct doc *figure,
    const char *what,
    void (*add)(
        struct str *html, const struct doc *document, const struct doc *figure, bool is_log))
{
    size_t before = html->length;
    str_printf(html, "<svg viewBox=\"0 0 %.0f %.0f\" role=img aria-label=\"", WIDTH, HEIGHT);
    add_text(html, doc_get_string(figure, "label"));
    str_printf(html, " %s\">", what);
    size_t start = html->length;
    add(html, document, figure, false);
    add(html, document, figure, true);
    if (html->length == start && !html->failed)
        html->data[html->length = before] = '\0'; /* there is nothing to draw */
    else
        str_append(html, "</svg>");
}

static void add_table(struct str *html, const struct doc *document, const struct doc *figure)
{
    int64_t number = 0;
    str_append(html, "<table><tr><th>variant<th>mean (95 %)<th>spread<th>smallest<th>largest<th>"
                     "compared\n");
    for (const struct doc *variant = doc_get(document, "variants")->first; variant;
         variant = variant->next, number++) {
        struct bench_row row;
        bench_row_fill(document, variant, number, figure, &row);
        str_printf(
            html, "<tr><td><span class=swatch style=\"background:%s\"></span>", color_of(number));
        add_text(html, doc_get_string(variant, "name"));
        for (size_t i = 0; i < BENCH_CELLS; i++) {
            str_append(html, "<td>");
            add_text(html, row.cells[i]);
        }
        str_append(html, "\n");
    }
    str_append(html, "</table>");
}

static void add_head(struct str *html, const struct doc *document)
{
    const struct doc *machine = doc_get(document, "machine"), *head = doc_get(document, "bench");
    str_printf(html,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
        "content=\"width=device-width\"><title>Benchmark</title><style>%s</style>"
        "<p class=eyebrow>gpu-tracker bench</p><h1>Benchmark</h1><p class=facts>",
        style);
    const char *const texts[] = {doc_string(doc_get(head, "date")),
        doc_string(doc_get(machine, "name")), doc_string(doc_get(machine, "cpu_model")),
        doc_string(doc_get(machine, "kernel"))};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i])
            continue;
        add_text(html, texts[i]);
        str_append(html, i + 1 < sizeof texts / sizeof *texts ? ", " : "");
    }
    str_append(html, "</p><ul class=variants>");
    for (const struct doc *variant = doc_get(document, "variants")->first; variant;
         variant = variant->next) {
        str_append(html, "<li>");
        add_text(html, doc_get_string(variant, "name"));
        str_append(html, ": <code>");
        add_text(html, doc_get_string(variant, "command"));
        str_append(html, "</code>");
    }
    str_append(html, "</ul>");
}

void bench_html(const struct doc *document, struct str *text)
{
    const struct gput_bench_render_options options = {0};
    add_head(text, document);
    for (const struct doc *note = doc_get(document, "notes")->first; note; note = note->next) {
        str_append(text, "<p class=note>");
        add_text(text, doc_string(note));
        str_append(text, "</p>");
    }
    str_append(text,
        "<p class=facts>Points are runs in their order, hollow ones were left out. To the right "
        "are means with 95 % intervals. The key L switches logarithmic axes.</p>");
    for (const struct doc *figure = doc_get(document, "figures")->first; figure;
         figure = figure->next) {
        if (!bench_is_shown(document, figure, &options))
            continue;
        str_append(text, "<h2>");
        add_text(text, doc_get_string(figure, "label"));
        str_append(text, "</h2>");
        add_table(text, document, figure);
        add_svg(text, document, figure, "by parameter", add_curve);
        add_svg(text, document, figure, "of each run", add_run_chart);
    }
    str_append(text, "<script>addEventListener(\"keydown\",e=>{if(e.key===\"l\"||e.key===\"L\")"
                     "document.body.classList.toggle(\"is-log\")})</script></html>\n");
}
