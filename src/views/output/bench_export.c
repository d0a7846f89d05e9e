#include "views/output/bench_export.h"

#include "base/csv.h"
#include "views/output/bench_text.h"

#include <math.h>
#include <string.h>

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

/* The values of an object, by the keys of its first sibling: all runs have the same ones. */
static void add_csv_values(struct str *text, const struct doc *object)
{
    for (const struct doc *value = object->first; value; value = value->next)
        add_csv_number(text, doc_number(value));
}

void bench_csv(const struct doc *document, struct str *text)
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
        for (size_t i = 0; i < 2; i++)
            add_csv_values(text, doc_get(run, objects[i]));
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

static void add_escaped(struct str *text, const struct markup *markup, const char *cell)
{
    for (; *cell; cell++) {
        if (strchr(markup->special, *cell))
            str_append_char(text, '\\');
        str_append_char(text, *cell == '\n' ? ' ' : *cell);
    }
}

static void add_tables(
    struct str *text, const struct markup *markup, const char *title, const struct doc *document)
{
    const struct gput_bench_render_options options = {0};
    for (const struct doc *figure = doc_get(document, "figures")->first; figure;
         figure = figure->next) {
        int64_t number = 0;
        if (!bench_is_shown(document, figure, &options))
            continue;
        str_printf(text, "%s%s%s%s", title, doc_get_string(figure, "label"), markup->title_end,
            markup->begin);
        for (const struct doc *variant = doc_get(document, "variants")->first; variant;
             variant = variant->next) {
            struct bench_row row;
            bench_row_fill(document, variant, number++, figure, &row);
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

void bench_markdown(const struct doc *document, struct str *text)
{
    add_tables(text, &markdown, "**", document);
}

void bench_asciidoc(const struct doc *document, struct str *text)
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

static void add_hyperfine_summary(struct doc *row, const struct doc *figures, size_t n_runs)
{
    struct doc *summary = doc_add_object(row, "summary");
    for (size_t i = 0; i < N_METRICS; i++) {
        struct doc *metric = doc_add_object(summary, hyperfine_metrics[i].name);
        doc_add_string(metric, "unit", hyperfine_metrics[i].unit);
        doc_add_int(metric, "count", (int64_t)n_runs);
        add_from(metric, "mean", figures, hyperfine_metrics[i].key, "mean");
        add_from(metric, "stddev", figures, hyperfine_metrics[i].key, "sd");
        add_from(metric, "median", figures, hyperfine_metrics[i].key, "median");
        add_from(metric, "min", figures, hyperfine_metrics[i].key, "min");
        add_from(metric, "max", figures, hyperfine_metrics[i].key, "max");
    }
}

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

void bench_hyperfine(const struct doc *document, struct str *text)
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
        add_hyperfine_summary(row, figures, times ? times->count : 0);
        const struct doc *parameters = doc_get(variant, "parameters");
        if (parameters->count > 0)
            doc_add_copy(row, "parameters", parameters);
    }
    doc_finish_json(root, text);
}

void bench_bencher(const struct doc *document, struct str *text)
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
