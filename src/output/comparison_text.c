#include "output/comparison_render.h"
#include "output/text_table.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* "main_n_threads" as "Main N Threads", each line after tabs. */
static void write_title(const char *name, int indent, struct str *text)
{
    bool inside = false;
    str_append_repeated(text, '\t', (size_t)indent);
    for (; *name; name++) {
        bool letter = isalpha((unsigned char)*name);
        char byte = *name == '_' ? ' ' : *name;
        if (letter)
            byte = (char)(inside ? tolower(byte) : toupper(byte));
        str_append_char(text, byte);
        inside = letter;
    }
    str_append(text, ":\n");
}

static void write_name(const char *name, int indent, struct str *text)
{
    str_append_repeated(text, '\t', (size_t)indent);
    str_append(text, name);
    str_append(text, ":\n");
}

/* "+5.3 %", with a note where the runs' spread explains it; "n/a" when it cannot be known. */
static void set_change(
    struct text_table *table, size_t row, size_t column, const struct comparison_value *value)
{
    struct str cell = {0};
    if (isnan(value->change))
        str_append(&cell, "n/a");
    else
        str_printf(&cell, "%+.2f %%%s", value->change, value->noise ? " (noise)" : "");
    text_table_set(table, row, column, str_text(&cell));
    str_finish(&cell);
}

/* What lies to either side of the mean of several runs. */
static void set_interval(
    struct text_table *table, size_t row, size_t column, const struct comparison_value *value)
{
    char number[NUMBER_TEXT_SIZE];
    struct str cell = {0};
    if (isnan(value->low)) {
        str_append(&cell, "n/a");
    } else {
        number_format_rounded(value->high - value->value, 8, number);
        str_append(&cell, "+-");
        str_append(&cell, number);
    }
    text_table_set(table, row, column, str_text(&cell));
    str_finish(&cell);
}

/* The report's values as a table of one line, more when more was asked for. */
static void write_values(const struct comparison_report *report, int indent, struct str *text)
{
    const struct gput_comparison *comparison = report->comparison;
    bool runs = comparison_has_runs(comparison);
    size_t n = comparison->n_sessions;
    bool integers = comparison_are_integers(report->values, n);
    size_t change_row = 1, interval_row = 1 + report->options.relative;
    struct text_table *table = text_table_create(1 + report->options.relative + runs, n);
    if (report->options.relative)
        text_table_set_row_name(table, change_row, "change");
    if (runs)
        text_table_set_row_name(table, interval_row, "95 %");
    for (size_t i = 0; i < n; i++) {
        const struct comparison_value *value = &report->values[i];
        text_table_set_number_column_name(table, i, comparison->sessions[value->session].name);
        if (integers)
            text_table_set_integer(table, 0, i, value->value);
        else
            text_table_set_number(table, 0, i, value->value);
        if (report->options.relative)
            set_change(table, change_row, i, value);
        if (runs)
            set_interval(table, interval_row, i, value);
    }
    text_table_write(table, indent, text);
    text_table_destroy(table);
}

static void write_blocks(
    const struct comparison_report *report, const char *measurement, int indent, struct str *text)
{
    for (size_t block = 0; block < report->comparison->n_blocks; block++) {
        write_name(report->comparison->block_names[block], indent, text);
        comparison_report_values(report, measurement, block);
        write_values(report, indent + 1, text);
    }
}

/* Joules, where some session has them. */
static void write_energy(const struct comparison_report *report, bool blocks, struct str *text)
{
    bool any = false;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!comparison_has_energy(report->comparison, (enum gput_energy_figure)i))
            continue;
        if (!any)
            str_append(
                text, blocks ? "Code Block Energy (joules):\n" : "Overall Energy (joules):\n");
        any = true;
        write_title(gput_energy_figure_name((enum gput_energy_figure)i), 1, text);
        if (blocks) {
            write_blocks(report, comparison_energy_measurements[i], 2, text);
        } else {
            comparison_report_values(report, comparison_energy_measurements[i], COMPARISON_OVERALL);
            write_values(report, 2, text);
        }
    }
}

void comparison_write_text(const struct comparison_report *report, struct str *text)
{
    const struct gput_analysis *first = report->comparison->first;
    str_append(text, "Overall Resource Usage:\n");
    for (size_t i = 0; i < first->n_measurements; i++) {
        write_title(first->measurements[i], 1, text);
        comparison_report_values(report, first->measurements[i], COMPARISON_OVERALL);
        write_values(report, 2, text);
    }
    write_energy(report, false, text);
    if (report->comparison->n_blocks == 0)
        return;
    str_append(text, "Code Block Resource Usage:\n");
    for (size_t i = 0; i < first->n_measurements; i++) {
        write_title(first->measurements[i], 1, text);
        write_blocks(report, first->measurements[i], 2, text);
    }
    str_append(text, "Code Block Compute Time:\n");
    write_blocks(report, NULL, 1, text);
    write_energy(report, true, text);
}
