#include "views/output/bench_text.h"

#include "base/human.h"
#include "base/screen.h"
#include "base/text.h"
#include "views/output/text_grid.h"

#include <math.h>
#include <string.h>

const char *bench_figure_text(double value, const char *unit, char *text)
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

bool bench_is_shown(const struct doc *document, const struct doc *figure,
    const struct gput_bench_render_options *options)
{
    const char *key = doc_get_string(figure, "figure");
    if (options->details || !is_true(figure, "is_detail"))
        return true;
    const struct doc *baseline = doc_get(document, "baseline");
    return differs(doc_get(document, "comparisons"), key) ||
           (baseline && differs(doc_get(baseline, "comparisons"), key));
}

/* Whether an upper bound is more than the figure before it: else that figure is exact. */
static bool is_wide(const struct doc *summary, const struct doc *before)
{
    return before && doc_get_number(summary, "mean") > 1.01 * doc_get_number(before, "mean");
}

void bench_row_fill(const struct doc *document, const struct doc *variant, int64_t number,
    const struct doc *figure, struct bench_row *row)
{
    char mean[HUMAN_SIZE];
    const char *key = doc_get_string(figure, "figure"), *unit = doc_string(doc_get(figure, "unit"));
    const struct doc *summary = doc_get(doc_get(variant, "figures"), key);
    const struct doc *baseline = doc_get(document, "baseline");
    double value = doc_get_number(summary, "mean");
    double half = (doc_get_number(summary, "high") - doc_get_number(summary, "low")) / 2;
    double spread = doc_get_number(summary, "spread_percent");
    bench_figure_text(value, unit, mean);
    if (isnan(half) || !(value > 0))
        text_fit(row->texts[0], sizeof row->texts[0], "%s", mean);
    else
        text_fit(row->texts[0], sizeof row->texts[0], "%s ± %.*f %%", mean,
            half / value < 0.0995 ? 1 : 0, 100 * half / value);
    text_fit(row->texts[1], sizeof row->texts[1], isnan(spread) ? "n/a" : "%.1f %%", spread);
    bench_figure_text(doc_get_number(summary, "min"), unit, row->texts[2]);
    bench_figure_text(doc_get_number(summary, "max"), unit, row->texts[3]);
    for (size_t i = 0; i < BENCH_CELLS - 1; i++)
        row->cells[i] = row->texts[i];
    const struct doc *compared = doc_get(baseline ? baseline : document, "comparisons")->first;
    while (compared && (doc_get_int(compared, "variant") != number ||
                           strcmp(doc_get_string(compared, "figure"), key) != 0))
        compared = compared->next;
    row->cells[BENCH_CELLS - 1] = compared ? doc_get_string(compared, "words") : "";
}

static void put_head(struct text_grid *grid, const struct doc *document)
{
    static const char *const names[] = {"", "mean (95 %)", "spread", "smallest", "largest"};
    const struct doc *baseline = doc_get(document, "baseline"),
                     *variants = doc_get(document, "variants");
    char with[300] = "";
    if (baseline)
        text_fit(with, sizeof with, "against %.200s", doc_get_string(baseline, "file"));
    else if (variants->count > 1)
        text_fit(with, sizeof with, "against %.200s", doc_get_string(variants->first, "name"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_grid_put(grid, names[i]);
    text_grid_put(grid, with);
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
    put_head(&grid, document);
    const struct doc *figures = doc_get(variant, "figures"), *before = NULL;
    for (const struct doc *figure = doc_get(document, "figures")->first; figure;
         figure = figure->next) {
        const struct doc *summary = doc_get(figures, doc_get_string(figure, "figure"));
        bool is_needed = summary && doc_get_int(summary, "n") > 0 &&
                         (!is_true(figure, "is_bound") || is_wide(summary, before));
        if (is_needed && bench_is_shown(document, figure, options)) {
            struct bench_row row;
            char label[80];
            text_fit(label, sizeof label, "%s%s", is_true(figure, "is_part") ? "  " : "",
                doc_get_string(figure, "label"));
            text_grid_put(&grid, label);
            bench_row_fill(document, variant, number, figure, &row);
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

/* Figures that the machine has not, each reason once. */
static void add_missing(const struct doc *document, struct str *text)
{
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

static void add_machine_differences(const struct doc *document, struct str *text)
{
    const struct doc *baseline = doc_get(document, "baseline");
    const struct doc *differs = doc_get(baseline, "machine_differs");
    for (const struct doc *row = doc_first(differs); row; row = row->next)
        str_printf(text, "The machine differs from the baseline's: %s was %s and is %s.\n",
            doc_get_string(row, "what"), doc_get_string(row, "before"), doc_get_string(row, "now"));
}

void bench_text(
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
    add_machine_differences(document, text);
    if (options->details)
        add_missing(document, text);
    screen_sanitize(text, start);
}
