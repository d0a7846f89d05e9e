#include "check_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void check_table_init(struct check_table *table)
{
    *table = (struct check_table){.rows = json_array()};
    pthread_mutex_init(&table->lock, NULL);
}

void check_table_finish(struct check_table *table)
{
    json_decref(table->rows);
    pthread_mutex_destroy(&table->lock);
}

void check_table_begin(struct check_table *table, const char *trial)
{
    table->trial = trial;
    fprintf(stderr, "gpu-check: %s\n", trial);
}

/* NaN becomes null: JSON has none. */
static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

/* Takes the lock, which finish_row() gives back. */
static json_t *begin_row(struct check_table *table, const char *figure, const char *unit)
{
    pthread_mutex_lock(&table->lock);
    json_t *row =
        json_pack("{s:s, s:s, s:s}", "trial", table->trial, "figure", figure, "unit", unit);
    json_array_append_new(table->rows, row);
    return row;
}

static void finish_row(struct check_table *table)
{
    pthread_mutex_unlock(&table->lock);
}

static void set_text(json_t *row, const char *key, const char *text)
{
    json_object_set_new(row, key, json_string(text ? text : ""));
}

static void set_verdict(struct check_table *table, json_t *row, bool agrees)
{
    table->n_compared++;
    table->n_different += !agrees;
    set_text(row, "verdict", agrees ? "agrees" : "differs");
    if (!agrees)
        fprintf(
            stderr, "gpu-check: differs: %s\n", json_string_value(json_object_get(row, "figure")));
}

static void set_skipped(struct check_table *table, json_t *row, const char *why)
{
    table->n_skipped++;
    set_text(row, "verdict", "skipped");
    set_text(row, "note", why);
}

static void set_figure(json_t *row, const struct check_figure *figure, double error)
{
    json_object_set_new(row, "truth", number(figure->truth));
    json_object_set_new(row, "ours", number(figure->ours));
    json_object_set_new(row, "driver", number(figure->reference));
    json_object_set_new(row, "error", number(error));
    json_object_set_new(row, "tolerance", number(figure->tolerance));
}

static double right_value(const struct check_figure *figure)
{
    return isnan(figure->truth) ? figure->reference : figure->truth;
}

void check_table_compare(struct check_table *table, struct check_figure figure)
{
    json_t *row = begin_row(table, figure.figure, figure.unit);
    double right = right_value(&figure), error = figure.ours - right;
    set_figure(row, &figure, error);
    if (isnan(right) && isnan(figure.ours)) {
        set_skipped(table, row, "neither the driver nor gpu-tracker has it");
    } else {
        bool agrees = fabs(error) <= figure.tolerance;
        set_verdict(table, row, agrees);
        if (!agrees && fabs(figure.ours - figure.reference) <= figure.tolerance)
            set_text(row, "note", "it is what the driver says");
    }
    finish_row(table);
}

void check_table_skip_missed(struct check_table *table, struct check_figure figure, const char *why)
{
    json_t *row = begin_row(table, figure.figure, figure.unit);
    set_figure(row, &figure, figure.ours - right_value(&figure));
    set_skipped(table, row, why);
    finish_row(table);
}

void check_table_bounds(
    struct check_table *table, struct check_figure figure, double at_least, double at_most)
{
    json_t *row = begin_row(table, figure.figure, figure.unit);
    double right = right_value(&figure), error = NAN;
    if (right > at_most)
        error = at_most - right;
    else if (right < at_least)
        error = at_least - right;
    else if (!isnan(at_least))
        error = 0;
    figure.ours = at_least;
    set_figure(row, &figure, error);
    json_object_set_new(row, "at_most", number(at_most));
    set_verdict(table, row, fabs(error) <= figure.tolerance);
    finish_row(table);
}

void check_table_state(struct check_table *table, const char *figure, bool holds, const char *note)
{
    json_t *row = begin_row(table, figure, "");
    set_text(row, "note", note);
    set_verdict(table, row, holds);
    finish_row(table);
}

void check_table_note(struct check_table *table, const char *figure, const char *unit, double value)
{
    json_object_set_new(begin_row(table, figure, unit), "ours", number(value));
    finish_row(table);
}

void check_table_skip(struct check_table *table, const char *figure, const char *why)
{
    set_skipped(table, begin_row(table, figure, ""), why);
    finish_row(table);
}

static void print_number(FILE *file, const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (json_is_real(value))
        fprintf(file, " %.6g |", json_real_value(value));
    else
        fprintf(file, "  |");
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static void print_rows(FILE *file, const struct check_table *table)
{
    const char *trial = "";
    size_t index;
    json_t *row;
    json_array_foreach(table->rows, index, row)
    {
        if (strcmp(trial, text_of(row, "trial")) != 0) {
            trial = text_of(row, "trial");
            fprintf(file,
                "\n## %s\n\n| figure | unit | truth | gpu-tracker | at most | driver | error | "
                "tolerance | verdict |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
                trial);
        }
        fprintf(file, "| %s | %s |", text_of(row, "figure"), text_of(row, "unit"));
        print_number(file, row, "truth");
        print_number(file, row, "ours");
        print_number(file, row, "at_most");
        print_number(file, row, "driver");
        print_number(file, row, "error");
        print_number(file, row, "tolerance");
        fprintf(file, " %s%s%s |\n", text_of(row, "verdict"), *text_of(row, "note") ? ": " : "",
            text_of(row, "note"));
    }
}

/* Opens NAME.new of the folder; publish() gives it its name. */
static FILE *open_new(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.new", folder, name);
    return fopen(path, "we");
}

static bool publish(FILE *file, const char *folder, const char *name, bool is_written)
{
    char from[4096], to[4096];
    snprintf(from, sizeof from, "%s/%s.new", folder, name);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    is_written = is_written && !ferror(file);
    return fclose(file) == 0 && is_written && rename(from, to) == 0;
}

static bool write_markdown(
    const struct check_table *table, const char *folder, const json_t *machine)
{
    const char *key;
    json_t *value;
    FILE *file = open_new(folder, "gpu-check.md");
    if (!file)
        return false;
    fprintf(file, "# %s, driver %s\n\n", text_of(machine, "gpu"), text_of(machine, "driver"));
    json_object_foreach((json_t *)machine, key, value)
        fprintf(file, "- %s: %s\n", key, json_string_value(value));
    fprintf(file, "\n%d figures compared, %d differ, %d could not be tried.\n", table->n_compared,
        table->n_different, table->n_skipped);
    print_rows(file, table);
    return publish(file, folder, "gpu-check.md", true);
}

static bool write_json(const struct check_table *table, const char *folder, json_t *machine)
{
    FILE *file = open_new(folder, "gpu-check.json");
    if (!file)
        return false;
    json_t *document = json_pack("{s:O, s:O}", "machine", machine, "rows", table->rows);
    bool is_written = json_dumpf(document, file, JSON_INDENT(1)) == 0;
    json_decref(document);
    return publish(file, folder, "gpu-check.json", is_written);
}

bool check_table_write(struct check_table *table, const char *folder, json_t *machine)
{
    pthread_mutex_lock(&table->lock);
    bool is_written = write_json(table, folder, machine) && write_markdown(table, folder, machine);
    pthread_mutex_unlock(&table->lock);
    return is_written;
}
