#include "views/output/comparison_render.h"
#include "views/output/pandas_table.h"

#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* "+5.3 %", with a note where the runs' spread explains it; "n/a" when it cannot be known. */
static void set_change(
    struct pandas_table *table, size_t row, size_t column, const struct comparison_value *value)
{
    char cell[NUMBER_TEXT_SIZE + 16] = "n/a";
    if (!isnan(value->change))
        text_fit(cell, sizeof cell, "%+.2f %%%s", value->change, value->noise ? " (noise)" : "");
    pandas_table_set(table, row, column, cell);
}

/* What lies to either side of the mean of several runs. */
static void set_interval(
    struct pandas_table *table, size_t row, size_t column, const struct comparison_value *value)
{
    char cell[2 + NUMBER_TEXT_SIZE] = "+-";
    if (isnan(value->low))
        strcpy(cell, "n/a");
    else
        number_format_rounded(value->high - value->value, 8, cell + 2);
    pandas_table_set(table, row, column, cell);
}

/* The report's values as a table of one line, more when more was asked for. */
static void write_values(const struct comparison_report *report, int indent, struct str *text)
{
    const struct gput_comparison *comparison = report->comparison;
    bool runs = comparison_has_runs(comparison);
    size_t n = comparison->n_sessions;
    bool integers = comparison_are_integers(report->values, n);
    size_t change_row = 1, interval_row = 1 + report->options.relative;
    struct pandas_table *table = pandas_table_create(1 + report->options.relative + runs, n);
    if (report->options.relative)
        pandas_table_set_row_name(table, change_row, "change");
    if (runs)
        pandas_table_set_row_name(table, interval_row, "95 %");
    for (size_t i = 0; i < n; i++) {
        const struct comparison_value *value = &report->values[i];
        pandas_table_set_number_column_name(table, i, comparison->sessions[value->session].name);
        if (integers)
            pandas_table_set_integer(table, 0, i, value->value);
        else
            pandas_table_set_number(table, 0, i, value->value);
        if (report->options.relative)
            set_change(table, change_row, i, value);
        if (runs)
            set_interval(table, interval_row, i, value);
    }
    pandas_table_write(table, indent, text);
    pandas_table_destroy(table);
}

/* Titles of parts and measurements, names of blocks; values below them. */
struct writer {
    const struct comparison_report *report;
    struct str *text;
    int depth;
    bool blocks;
};

static void open_part(void *user, const char *key)
{
    struct writer *writer = user;
    bool energy = strstr(key, "_energy") != NULL;
    str_append_repeated(writer->text, '\t', (size_t)writer->depth);
    pandas_table_append_title(writer->text, key);
    str_append(writer->text, writer->depth == 0 && energy ? " (joules):\n" : ":\n");
    writer->depth++;
}

static void close_part(void *user)
{
    struct writer *writer = user;
    writer->depth--;
}

static void write_named_values(void *user, const char *key)
{
    struct writer *writer = user;
    str_append_repeated(writer->text, '\t', (size_t)writer->depth);
    if (writer->blocks)
        str_append(writer->text, key);
    else
        pandas_table_append_title(writer->text, key);
    str_append(writer->text, ":\n");
    write_values(writer->report, writer->depth + 1, writer->text);
}

static void write_lost_calls(const struct gput_comparison *comparison, struct str *text)
{
    if (comparison_lacks_calls(comparison))
        str_append(text, "Lost Calls:\n");
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        struct comparison_lost lost = comparison_lost_calls(session);
        if (lost.calls > 0)
            str_printf(text, "\t%s: %s%llu\n", session->name, lost.at_least ? "at least " : "",
                (unsigned long long)lost.calls);
        else if (lost.at_least)
            str_printf(text, "\t%s: not known\n", session->name);
    }
}

void comparison_write_text(const struct comparison_report *report, struct str *text)
{
    static const struct comparison_writer functions = {open_part, close_part, write_named_values};
    static const enum comparison_part overall[] = {
        COMPARISON_OVERALL_USAGE, COMPARISON_OVERALL_ENERGY};
    static const enum comparison_part blocks[] = {
        COMPARISON_BLOCK_USAGE, COMPARISON_BLOCK_TIME, COMPARISON_BLOCK_ENERGY};
    struct writer writer = {.report = report, .text = text};
    for (size_t i = 0; i < sizeof overall / sizeof *overall; i++)
        comparison_walk(report, overall[i], &functions, &writer);
    writer.blocks = true;
    for (size_t i = 0; report->comparison->n_blocks > 0 && i < sizeof blocks / sizeof *blocks; i++)
        comparison_walk(report, blocks[i], &functions, &writer);
    write_lost_calls(report->comparison, text);
}
