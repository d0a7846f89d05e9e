#include "views/output/bench_render.h"

#include "base/csv.h"
#include "base/human.h"
#include "base/number.h"
#include "base/screen.h"
#include "base/text.h"
#include "views/output/text_grid.h"

#include <math.h>
#include <string.h>

/* ---- Text ---- */

/* What every table has of a variant and a figure: mean with interval, spread, smallest, largest,
 * and the comparison with the baseline, or without one with the first variant; "" where there is
 * none. */
#define BENCH_CELLS 5
struct bench_row {
    char texts[BENCH_CELLS - 1][80];
    const char *cells[BENCH_CELLS]; /* point into `texts`, and into the document */
};

/* A figure in a unit that fits it: "412 MB", "12.3 ms". `unit`: "seconds", "bytes", "joules" or
 * NULL. Returns `text`, of HUMAN_SIZE bytes. */
static const char *figure_text(double value, const char *unit, char *text)
{
    if (unit && strcmp(unit, "seconds") == 0)
        return human_seconds(value, text);
    if (unit && strcmp(unit, "bytes") == 0)
        return human_bytes(value, text);
    if (unit && strcmp(unit, "joules") == 0)
        return human_joules(value, text);
    return human_count(value, text);
}

/* The row of an array whose member `key` is `value`; NULL: there is none. */
static const struct doc *find_row(const struct doc *array, const char *key, const char *value)
{
    const struct doc *row = doc_first(array);
    while (row && strcmp(doc_get_string(row, key), value) != 0)
        row = row->next;
    return row;
}

static bool is_true(const struct doc *object, const char *key)
{
    const struct doc *value = doc_get(object, key);
    return value && value->kind == DOC_BOOL && value->boolean;
}

/* Whether some verdict of a figure says that there is a difference. */
static bool differs(const struct doc *comparisons, const char *figure)
{
    for (const struct doc *row = doc_first(comparisons); row; row = row->next) {
        const char *verdict = doc_get_string(row, "verdict");
        if (strcmp(doc_get_string(row, "figure"), figure) == 0 &&
            (strcmp(verdict, "less") == 0 || strcmp(verdict, "more") == 0))
            return true;
    }
    return false;
}

/* Whether text shows a figure. Details are shown where they differ: that may explain the rest. */
static bool is_shown(const struct doc *document, const struct doc *figure,
    const struct gput_bench_render_options *options)
{
    const char *key = doc_get_string(figure, "figure");
    if (options->details || !is_true(figure, "is_detail"))
        return true;
    const struct doc *baseline = doc_get(document, "baseline");
    return differs(doc_get(document, "comparisons"), key) ||
           (baseline && differs(doc_get(baseline, "comparisons"), key));
}

/* `variant` is the one of that number. */
static void row_fill(const struct doc *document, const struct doc *variant, int64_t number,
    const struct doc *figure, struct bench_row *row)
{
    char mean[HUMAN_SIZE];
    const char *key = doc_get_string(figure, "figure"), *unit = doc_string(doc_get(figure, "unit"));
    const struct doc *summary = doc_get(doc_get(variant, "figures"), key);
    const struct doc *baseline = doc_get(document, "baseline");
    double value = doc_get_number(summary, "mean");
    double half = (doc_get_number(summary, "high") - doc_get_number(summary, "low")) / 2;
    double spread = doc_get_number(summary, "spread_percent");
    figure_text(value, unit, mean);
    if (isnan(half) || !(value > 0))
        text_fit(row->texts[0], sizeof row->texts[0], "%s", mean);
    else
        text_fit(row->texts[0], sizeof row->texts[0], "%s ± %.*f %%", mean,
            half / value < 0.0995 ? 1 : 0, 100 * half / value);
    text_fit(row->texts[1], sizeof row->texts[1], isnan(spread) ? "n/a" : "%.1f %%", spread);
    figure_text(doc_get_number(summary, "min"), unit, row->texts[2]);
    figure_text(doc_get_number(summary, "max"), unit, row->texts[3]);
    for (size_t i = 0; i < BENCH_CELLS - 1; i++)
        row->cells[i] = row->texts[i];
    const struct doc *compared = doc_get(baseline ? baseline : document, "comparisons")->first;
    while (compared && (doc_get_int(compared, "variant") != number ||
                           strcmp(doc_get_string(compared, "figure"), key) != 0))
        compared = compared->next;
    row->cells[BENCH_CELLS - 1] = compared ? doc_get_string(compared, "words") : "";
}

/* A table of one variant. */
static void add_variant(const struct doc *document, const struct doc *variant, int64_t number,
    const struct gput_bench_render_options *options, struct str *text)
{
    CLEANUP(text_grid_finish)
    struct text_grid grid = {.gap = 2, .margin = 2, .screen = options->width};
    text_grid_add_column(&grid, (struct text_grid_column){.is_left = true, .min_width = 16});
    text_grid_add_column(&grid, (struct text_grid_column){.min_width = 16});
    text_grid_add_column(&grid, (struct text_grid_column){.drop = 1, .min_width = 8});
    text_grid_add_column(&grid, (struct text_grid_column){.drop = 2, .min_width = 8});
    text_grid_add_column(&grid, (struct text_grid_column){.drop = 3, .min_width = 8});
    text_grid_add_column(&grid, (struct text_grid_column){.is_left = true});
    size_t start = text->length;
    int64_t n_runs = doc_get_int(variant, "runs"),
            n_counted = doc_get_int(variant, "runs_that_count");
    int64_t n_failed = doc_get_int(variant, "runs_that_failed");
    str_printf(text, "%s  %lld run%s", doc_get_string(variant, "name"), (long long)n_runs,
        n_runs == 1 ? "" : "s");
    if (n_counted < n_runs)
        str_printf(text, ", %lld of them count", (long long)n_counted);
    if (n_failed > 0)
        str_printf(text, ", %lld failed", (long long)n_failed);
    str_append(text, "\n");
    static const char *const names[] = {"", "mean (95 %)", "spread", "smallest", "largest"};
    const struct doc *baseline = doc_get(document, "baseline"),
                     *variants = doc_get(document, "variants");
    char with[300] = "";
    if (baseline)
        text_fit(with, sizeof with, "against %.200s", doc_get_string(baseline, "file"));
    else if (variants->count > 1)
        text_fit(with, sizeof with, "against %.200s", doc_get_string(variants->first, "name"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_grid_put(&grid, names[i]);
    text_grid_put(&grid, with);

    const struct doc *figures = doc_get(variant, "figures"), *before = NULL;
    for (const struct doc *figure = doc_get(document, "figures")->first; figure;
         figure = figure->next) {
        const struct doc *summary = doc_get(figures, doc_get_string(figure, "figure"));
        bool is_needed =
            summary && doc_get_int(summary, "n") > 0 &&
            (!is_true(figure, "is_bound") || (before && doc_get_number(summary, "mean") >
                                                            1.01 * doc_get_number(before, "mean")));
        if (is_needed && is_shown(document, figure, options)) {
            struct bench_row row;
            char label[80];
            text_fit(label, sizeof label, "%s%s", is_true(figure, "is_part") ? "  " : "",
                doc_get_string(figure, "label"));
            text_grid_put(&grid, label);
            row_fill(document, variant, number, figure, &row);
            for (size_t i = 0; i < BENCH_CELLS; i++)
                text_grid_put(&grid, row.cells[i]);
        }
        before = summary;
    }
    text_grid_write(&grid, text);
    str_append(text, "\n");
    screen_sanitize(text, start);
}

/* The first variant's runs against each other: what chance and the machine alone make. */
static void add_null(const struct doc *document, struct str *text)
{
    const struct doc *row = find_row(doc_get(document, "null"), "figure", "wall_seconds");
    const struct doc *ram = find_row(doc_get(document, "null"), "figure", "ram_bytes");
    double wall = row ? doc_get_number(row, "change_percent") : NAN;
    double of_ram = ram ? doc_get_number(ram, "change_percent") : NAN;
    if (isnan(wall) || doc_get(document, "variants")->count < 2)
        return;
    str_printf(text,
        "One half of the runs of %s differs from the other half by %.1f %% in wall time",
        doc_get_string(doc_get(document, "variants")->first, "name"), fabs(wall));
    if (!isnan(of_ram))
        str_printf(text, " and %.1f %% in RAM", fabs(of_ram));
    str_append(
        text, is_true(row, "is_quiet") ? ": no more than chance.\n" : ": more than chance.\n");
}

/* Appends everything as text. */
static void bench_text(
    const struct doc *document, const struct gput_bench_render_options *options, struct str *text)
{
    int64_t number = 0;
    for (const struct doc *variant = doc_get(document, "variants")->first; variant;
         variant = variant->next)
        add_variant(document, variant, number++, options, text);
    size_t start = text->length;
    add_null(document, text);
    for (const struct doc *note = doc_get(document, "notes")->first; note; note = note->next)
        str_printf(text, "%s\n", doc_string(note));
    const struct doc *baseline = doc_get(document, "baseline");
    const struct doc *differs = doc_get(baseline, "machine_differs");
    for (const struct doc *row = doc_first(differs); row; row = row->next)
        str_printf(text, "The machine differs from the baseline's: %s was %s and is %s.\n",
            doc_get_string(row, "what"), doc_get_string(row, "before"), doc_get_string(row, "now"));

    if (options->details) {
        /* Figures that the machine has not, each reason once. */
        const struct doc *missing = doc_get(document, "missing");
        for (const struct doc *row = missing->first; row; row = row->next) {
            const char *reason = doc_get_string(row, "reason");
            const struct doc *first = find_row(missing, "reason", reason);
            if (first != row)
                continue;
            str_printf(text, "Not measured: %s", doc_get_string(row, "label"));
            for (const struct doc *other = row->next; other; other = other->next) {
                if (strcmp(doc_get_string(other, "reason"), reason) == 0)
                    str_printf(text, ", %s", doc_get_string(other, "label"));
            }
            str_printf(text, " (%s)\n", reason);
        }
    }
    screen_sanitize(text, start);
}

/* ---- CSV ---- */

static void add_csv_number(struct str *text, double value)
{
    str_append(text, ",");
    if (!isnan(value))
        csv_append_number(text, value);
}

static void add_csv_text(struct str *text, const char *cell)
{
    csv_append_cell(text, cell, strlen(cell));
}

/* A line a run: variant, command, block, exit status, figures, causes. */
static void bench_csv(const struct doc *document, struct str *text)
{
    const struct doc *runs = doc_get(document, "runs"), *variants = doc_get(document, "variants");
    str_append(text, "variant,command,block,at_seconds,exit_status,left_out");
    const char *const objects[] = {"figures", "causes"};
    for (size_t i = 0; i < 2 && runs->first; i++) {
        for (const struct doc *value = doc_get(runs->first, objects[i])->first; value;
             value = value->next)
            str_printf(text, ",%s", value->key);
    }
    str_append(text, "\n");
    for (const struct doc *run = runs->first; run; run = run->next) {
        const struct doc *variant = doc_item(variants, (size_t)doc_get_int(run, "variant"));
        const char *left_out = doc_string(doc_get(run, "left_out"));
        add_csv_text(text, doc_get_string(variant, "name"));
        str_append(text, ",");
        add_csv_text(text, doc_get_string(variant, "command"));
        str_printf(text, ",%lld", (long long)doc_get_int(run, "block"));
        add_csv_number(text, doc_get_number(run, "at_seconds"));
        add_csv_number(text, doc_get_number(run, "exit_status"));
        str_printf(text, ",%s", left_out ? left_out : "");
        for (size_t i = 0; i < 2; i++) {
            for (const struct doc *value = doc_get(run, objects[i])->first; value;
                 value = value->next)
                add_csv_number(text, doc_number(value));
        }
        str_append(text, "\n");
    }
}

/* ---- Tables of documents ---- */

/* How a document has a table. */
struct markup {
    const char *title_end;   /* after the label of a figure */
    const char *begin, *end; /* of the table */
    const char *row_begin, *cell, *row_end;
    const char *special; /* characters that are escaped by a backslash */
};

static const struct markup markdown = {"**\n\n",
    "| variant | mean (95 %) | spread | min | max | compared |\n|---|---:|---:|---:|---:|---|\n",
    "\n", "| ", " | ", " |\n", "|*_`<>\\"};
static const struct markup asciidoc = {"\n",
    "[cols=\"<,>,>,>,>,<\",options=\"header\"]\n|===\n"
    "| variant | mean (95 %) | spread | min | max | compared\n",
    "|===\n\n", "| ", " | ", "\n", "|"};

/* Appends a cell with its special characters escaped. */
static void add_escaped(struct str *text, const struct markup *markup, const char *cell)
{
    for (; *cell; cell++) {
        if (strchr(markup->special, *cell))
            str_append_char(text, '\\');
        str_append_char(text, *cell == '\n' ? ' ' : *cell);
    }
}

/* Writes a table for each figure, then the notes. */
static void add_tables(
    struct str *text, const struct markup *markup, const char *title, const struct doc *document)
{
    const struct gput_bench_render_options options = {0};
    for (const struct doc *figure = doc_get(document, "figures")->first; figure;
         figure = figure->next) {
        int64_t number = 0;
        if (!is_shown(document, figure, &options))
            continue;
        str_printf(text, "%s%s%s%s", title, doc_get_string(figure, "label"), markup->title_end,
            markup->begin);
        for (const struct doc *variant = doc_get(document, "variants")->first; variant;
             variant = variant->next) {
            struct bench_row row;
            row_fill(document, variant, number++, figure, &row);
            str_append(text, markup->row_begin);
            add_escaped(text, markup, doc_get_string(variant, "name"));
            for (size_t i = 0; i < BENCH_CELLS; i++) {
                str_append(text, markup->cell);
                add_escaped(text, markup, row.cells[i]);
            }
            str_append(text, markup->row_end);
        }
        str_append(text, markup->end);
    }
    for (const struct doc *note = doc_get(document, "notes")->first; note; note = note->next)
        str_printf(text, "%s\n\n", doc_string(note));
}

/* A table a figure, a row a variant. */
static void bench_markdown(const struct doc *document, struct str *text)
{
    add_tables(text, &markdown, "**", document);
}

static void bench_asciidoc(const struct doc *document, struct str *text)
{
    add_tables(text, &asciidoc, ".", document);
}

/* ---- Forms of other programs ---- */

/* Adds a member of another name from a summary; null where it is not known. */
static void add_from(struct doc *to, const char *key, const struct doc *figures, const char *figure,
    const char *member)
{
    const struct doc *summary = doc_get(figures, figure);
    double value = summary ? doc_get_number(summary, member) : NAN;
    if (isnan(value))
        doc_add_null(to, key);
    else
        doc_add_double(to, key, value);
}

/* What hyperfine calls figures of ours, from version 2 on. */
static const struct {
    const char *name, *unit, *key;
} hyperfine_metrics[] = {{"time_wall_clock", "second", "wall_seconds"},
    {"time_cpu", "second", "cpu_seconds"}, {"time_user", "second", "cpu_user_seconds"},
    {"time_system", "second", "cpu_system_seconds"}, {"memory_peak_resident", "byte", "ram_bytes"}};
#define N_METRICS (sizeof hyperfine_metrics / sizeof *hyperfine_metrics)

/* Adds the measurements of a run. */
static void add_hyperfine_run(struct doc *measurements, const struct doc *run)
{
    const struct doc *figures = doc_get(run, "figures");
    struct doc *measurement = doc_add_object(measurements, NULL);
    for (size_t i = 0; i < N_METRICS; i++) {
        struct doc *metric = doc_add_object(measurement, hyperfine_metrics[i].name);
        doc_add_double(metric, "value", doc_get_number(figures, hyperfine_metrics[i].key));
        doc_add_string(metric, "unit", hyperfine_metrics[i].unit);
    }
    doc_add_copy(measurement, "exit_code", doc_get(run, "exit_status"));
}

/* The JSON that hyperfine exports, of version 1 (mean, stddev, median, user, system, min, max,
 * times, exit_codes, parameters) and of version 2 (measurements, summary) in one. */
static void bench_hyperfine(const struct doc *document, struct str *text)
{
    struct doc *root = doc_create_object();
    doc_add_int(root, "schema_version", 2);
    doc_add_string(root, "primary_metric", hyperfine_metrics[0].name);
    struct doc *results = doc_add_array(root, "results");
    int64_t number = 0;
    for (const struct doc *variant = doc_get(document, "variants")->first; variant;
         variant = variant->next, number++) {
        const struct doc *figures = doc_get(variant, "figures");
        struct doc *row = doc_add_object(results, NULL);
        doc_add_string(row, "command", doc_get_string(variant, "command"));
        add_from(row, "mean", figures, "wall_seconds", "mean");
        add_from(row, "stddev", figures, "wall_seconds", "sd");
        add_from(row, "median", figures, "wall_seconds", "median");
        add_from(row, "user", figures, "cpu_user_seconds", "mean");
        add_from(row, "system", figures, "cpu_system_seconds", "mean");
        add_from(row, "min", figures, "wall_seconds", "min");
        add_from(row, "max", figures, "wall_seconds", "max");
        struct doc *times = doc_add_array(row, "times");
        struct doc *memory = doc_add_array(row, "memory_usage_byte");
        struct doc *codes = doc_add_array(row, "exit_codes");
        struct doc *measurements = doc_add_array(row, "measurements");
        for (const struct doc *run = doc_get(document, "runs")->first; run; run = run->next) {
            if (doc_get_int(run, "variant") != number || doc_string(doc_get(run, "left_out")))
                continue;
            const struct doc *of_run = doc_get(run, "figures");
            doc_add_double(times, NULL, doc_get_number(of_run, "wall_seconds"));
            doc_add_copy(memory, NULL, doc_get(of_run, "ram_bytes"));
            doc_add_copy(codes, NULL, doc_get(run, "exit_status"));
            add_hyperfine_run(measurements, run);
        }
        struct doc *summary = doc_add_object(row, "summary");
        for (size_t i = 0; i < N_METRICS; i++) {
            struct doc *metric = doc_add_object(summary, hyperfine_metrics[i].name);
            doc_add_string(metric, "unit", hyperfine_metrics[i].unit);
            doc_add_int(metric, "count", (int64_t)(times ? times->count : 0));
            add_from(metric, "mean", figures, hyperfine_metrics[i].key, "mean");
            add_from(metric, "stddev", figures, hyperfine_metrics[i].key, "sd");
            add_from(metric, "median", figures, hyperfine_metrics[i].key, "median");
            add_from(metric, "min", figures, hyperfine_metrics[i].key, "min");
            add_from(metric, "max", figures, hyperfine_metrics[i].key, "max");
        }

        const struct doc *parameters = doc_get(variant, "parameters");
        if (parameters->count > 0)
            doc_add_copy(row, "parameters", parameters);
    }
    doc_finish_json(root, text);
}

/* Bencher Metric Format: for each variant and measure value, lower_value and upper_value. */
static void bench_bencher(const struct doc *document, struct str *text)
{
    struct doc *root = doc_create_object();
    for (const struct doc *variant = doc_get(document, "variants")->first; variant;
         variant = variant->next) {
        const struct doc *figures = doc_get(variant, "figures");
        struct doc *row = doc_add_object(root, doc_get_string(variant, "name"));
        for (const struct doc *figure = doc_get(document, "figures")->first; figure;
             figure = figure->next) {
            const char *key = doc_get_string(figure, "figure");
            const struct doc *summary = doc_get(figures, key);
            if (!summary || isnan(doc_get_number(summary, "mean")))
                continue;
            struct doc *measure = doc_add_object(row, key);
            doc_add_double(measure, "value", doc_get_number(summary, "mean"));
            if (isnan(doc_get_number(summary, "low")))
                continue;
            doc_add_double(measure, "lower_value", doc_get_number(summary, "low"));
            doc_add_double(measure, "upper_value", doc_get_number(summary, "high"));
        }
    }
    doc_finish_json(root, text);
}

/* ---- A page ---- */

/* The size of a chart, and of the space for its axes. */
#define WIDTH 720.0
#define HEIGHT 220.0
#define LEFT 76.0
#define BOTTOM 26.0
#define TOP 10.0
#define N_COLORS 8
#define N_TICKS 4

/* The style of the page: fonts, colours and tiles are those of reports (web/src/page.css). */
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

/* The colours of the page of reports, which all eyes can distinguish. */
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

/* Returns where a value is in the picture. */
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

/* Returns the value of a tick, counted from 0. */
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

/* Draws the axis of values, with its ticks. */
static void add_value_axis(struct str *html, const struct axis *axis, const char *unit)
{
    char text[HUMAN_SIZE];
    for (int i = 0; i <= N_TICKS; i++) {
        double value = axis_tick(axis, i), y = axis_at(axis, value);
        str_printf(html,
            "<line class=grid x1=%.1f x2=%.1f y1=%.1f y2=%.1f /><text class=axis x=%.1f y=%.1f "
            "text-anchor=end>%s</text>",
            LEFT, WIDTH, y, y, LEFT - 6, y + 4, figure_text(value, unit, text));
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

/* Draws a point for each run, in the order of the runs. */
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
            figure_text(value, unit, text));
        if (left_out)
            str_append(html, "\nleft out of the figures");
        add_causes(html, document, run);
        str_append(html, "</title></circle>");
    }
}

/* Draws the runs of a figure, unless it has no values. */
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

    /* Means with their intervals, to the right of the points. */
    const struct doc *variants = doc_get(document, "variants");
    int64_t number = 0;
    for (const struct doc *variant = variants->first; variant; variant = variant->next, number++) {
        const struct doc *summary = doc_get(doc_get(variant, "figures"), key);
        double mean = doc_get_number(summary, "mean"), low = doc_get_number(summary, "low");
        double high = doc_get_number(summary, "high");
        double x = WIDTH - 55 + 50 * ((double)number + 0.5) / (double)variants->count;
        if (isnan(mean))
            continue;
        low = fmax(isnan(low) ? mean : low, y.low);
        high = fmin(isnan(high) ? mean : high, y.high);
        str_printf(html,
            "<line x1=%.1f x2=%.1f y1=%.1f y2=%.1f stroke=\"%s\" stroke-width=2 /><circle cx=%.1f "
            "cy=%.1f r=4 fill=\"%s\" />",
            x, x, axis_at(&y, low), axis_at(&y, high), color_of(number), x, axis_at(&y, mean),
            color_of(number));
    }

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

/* Adds a picture that a function draws with both kinds of axes; nothing where it draws none. */
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

/* Writes the page. */
static void bench_html(const struct doc *document, struct str *text)
{
    const struct gput_bench_render_options options = {0};
    const struct doc *machine = doc_get(document, "machine"), *head = doc_get(document, "bench");
    str_printf(text,
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
        add_text(text, texts[i]);
        str_append(text, i + 1 < sizeof texts / sizeof *texts ? ", " : "");
    }
    str_append(text, "</p><ul class=variants>");
    for (const struct doc *variant = doc_get(document, "variants")->first; variant;
         variant = variant->next) {
        str_append(text, "<li>");
        add_text(text, doc_get_string(variant, "name"));
        str_append(text, ": <code>");
        add_text(text, doc_get_string(variant, "command"));
        str_append(text, "</code>");
    }
    str_append(text, "</ul>");

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
        if (!is_shown(document, figure, &options))
            continue;
        str_append(text, "<h2>");
        add_text(text, doc_get_string(figure, "label"));
        str_append(text, "</h2>");
        int64_t number = 0;
        str_append(text,
            "<table><tr><th>variant<th>mean (95 %)<th>spread<th>smallest<th>largest<th>"
            "compared\n");
        for (const struct doc *variant = doc_get(document, "variants")->first; variant;
             variant = variant->next, number++) {
            struct bench_row row;
            row_fill(document, variant, number, figure, &row);
            str_printf(text, "<tr><td><span class=swatch style=\"background:%s\"></span>",
                color_of(number));
            add_text(text, doc_get_string(variant, "name"));
            for (size_t i = 0; i < BENCH_CELLS; i++) {
                str_append(text, "<td>");
                add_text(text, row.cells[i]);
            }
            str_append(text, "\n");
        }
        str_append(text, "</table>");

        add_svg(text, document, figure, "by parameter", add_curve);
        add_svg(text, document, figure, "of each run", add_run_chart);
    }
    str_append(text, "<script>addEventListener(\"keydown\",e=>{if(e.key===\"l\"||e.key===\"L\")"
                     "document.body.classList.toggle(\"is-log\")})</script></html>\n");
}

static void bench_json(const struct doc *document, struct str *text)
{
    doc_write_json(document, 1, text);
    str_append(text, "\n");
}

int bench_render(const struct doc *document, const struct gput_bench_render_options *options,
    enum gput_format format, struct str *text, struct gput_error *error)
{
    static void (*const writers[])(const struct doc *, struct str *) = {
        [GPUT_FORMAT_JSON] = bench_json,
        [GPUT_FORMAT_CSV] = bench_csv,
        [GPUT_FORMAT_MARKDOWN] = bench_markdown,
        [GPUT_FORMAT_ASCIIDOC] = bench_asciidoc,
        [GPUT_FORMAT_HTML] = bench_html,
        [GPUT_FORMAT_HYPERFINE] = bench_hyperfine,
        [GPUT_FORMAT_BENCHER] = bench_bencher,
    };
    if (format == GPUT_FORMAT_TEXT)
        bench_text(document, options, text);
    else if ((size_t)format < sizeof writers / sizeof *writers && writers[format])
        writers[format](document, text);
    else
        return error_set(error, GPUT_ERROR_INVALID, "A benchmark has no such format.");
    return GPUT_OK;
}
