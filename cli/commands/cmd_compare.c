/* gpu-tracker compare: the results of several runs side by side. */
#include "base/error.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/text.h"
#include "common/message.h"
#include "options/arguments.h"
#include "track/report.h"

#include <gputracker/jobs.h>
#include <gputracker/table.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LABEL_WIDTH 14
#define VALUE_WIDTH 22
#define NAME_SIZE 80

static const char *write_percent(double percent, char *text)
{
    text_fit(text, HUMAN_SIZE, isnan(percent) ? "n/a" : "%.1f %%", percent);
    return text;
}

static const char *write_whole(double number, char *text)
{
    text_fit(text, HUMAN_SIZE, isnan(number) ? "n/a" : "%.0f", number);
    return text;
}

/* What is compared: columns of the table "ranks", which has a row a file. */
static const struct figure {
    const char *label, *column;
    const char *(*write)(double value, char *text);
    bool is_code; /* no change of it is a percentage */
} figures[] = {
    {"Wall time", "seconds", human_seconds, false},
    {"CPU time", "cpu_seconds", human_seconds, false},
    {"Cores used", "busy_cores", human_cores, false},
    {"RAM peak", "max_ram_bytes", human_bytes, false},
    {"GPU RAM peak", "max_gpu_ram_bytes", human_bytes, false},
    {"GPU use", "gpu_percent", write_percent, false},
    {"Energy", "energy_joules", human_joules, false},
    {"Exit status", "exit_status", write_whole, true},
};

/* The column of that name; their number: there is none. */
static size_t column_of(const struct gput_table *ranks, const char *name)
{
    size_t column = 0, count = gput_table_column_count(ranks);
    while (column < count && strcmp(gput_table_column_name(ranks, column), name) != 0)
        column++;
    return column;
}

static double value_of(const struct gput_table *ranks, size_t row, const char *name)
{
    size_t column = column_of(ranks, name);
    if (column == gput_table_column_count(ranks) || gput_table_is_missing(ranks, row, column))
        return NAN;
    return gput_table_column_type(ranks, column) == GPUT_COLUMN_INT
               ? (double)gput_table_int(ranks, row, column)
               : gput_table_double(ranks, row, column);
}

/* The text of a column; "": there is none. */
static const char *text_of(const struct gput_table *ranks, size_t row, const char *name)
{
    size_t column = column_of(ranks, name);
    const char *text =
        column < gput_table_column_count(ranks) ? gput_table_text(ranks, row, column) : NULL;
    return text ? text : "";
}

/* The row of a file; the files may have been sorted. */
static size_t row_of(const struct gput_table *ranks, const char *path)
{
    size_t row = 0, count = gput_table_row_count(ranks);
    while (row < count && strcmp(text_of(ranks, row, "path"), path) != 0)
        row++;
    return row;
}

/* One row, unless no file has the figure. */
static void print_figure(FILE *file, const struct gput_table *ranks, const struct figure *figure,
    const size_t *rows, size_t count)
{
    double first = value_of(ranks, rows[0], figure->column);
    bool is_known = false;
    for (size_t i = 0; i < count; i++)
        is_known |= !isnan(value_of(ranks, rows[i], figure->column));
    if (!is_known)
        return;
    fprintf(file, "%-*s", LABEL_WIDTH, figure->label);
    for (size_t i = 0; i < count; i++) {
        char text[HUMAN_SIZE], change[32] = "", whole[96];
        double value = value_of(ranks, rows[i], figure->column);
        if (i > 0 && first > 0 && !isnan(value) && !figure->is_code)
            snprintf(change, sizeof change, " (%+.1f %%)", 100 * (value - first) / first);
        snprintf(whole, sizeof whole, "%s%s", figure->write(value, text), change);
        fprintf(file, "  %*s", VALUE_WIDTH, whole);
    }
    fputc('\n', file);
}

/* Prints a text to the right of its column. Where that is too narrow, the beginning is cut: the
 * ends of names and commands differ. */
static void print_text(FILE *file, const char *text)
{
    char shown[NAME_SIZE];
    size_t length = strlen(text), cut = length > VALUE_WIDTH ? length - VALUE_WIDTH : 0;
    snprintf(shown, sizeof shown, "%.*s", VALUE_WIDTH, text + cut);
    fprintf(file, "  %*.*s", VALUE_WIDTH, (int)screen_clean(shown, strlen(shown)), shown);
}

/* Prints the commands, unless all files have the same one. */
static void print_commands(
    FILE *file, const struct gput_table *ranks, const size_t *rows, size_t count)
{
    const char *first = text_of(ranks, rows[0], "command");
    size_t i = 1;
    while (i < count && strcmp(text_of(ranks, rows[i], "command"), first) == 0)
        i++;
    if (i == count)
        return;
    fprintf(file, "%-*s", LABEL_WIDTH, "Command");
    for (i = 0; i < count; i++) {
        const char *command = text_of(ranks, rows[i], "command");
        print_text(file, *command ? command : "n/a");
    }
    fputc('\n', file);
}

static void print_all(FILE *file, const struct gput_table *ranks, char *const *paths,
    const size_t *rows, size_t count)
{
    fprintf(file, "%-*s", LABEL_WIDTH, "");
    for (size_t i = 0; i < count; i++)
        print_text(file, paths[i]);
    fputc('\n', file);
    print_commands(file, ranks, rows, count);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        print_figure(file, ranks, &figures[i], rows, count);
}

/* Each file has a row of its own. Errors: GPUT_ERROR_INVALID. */
static int find_rows(const struct gput_table *ranks, const struct arguments *arguments,
    size_t *rows, struct gput_error *error)
{
    for (int i = 0; i < arguments->n_operands; i++) {
        rows[i] = row_of(ranks, arguments->operands[i]);
        if (access(arguments->operands[i], R_OK) != 0)
            return error_set(error, GPUT_ERROR_NOT_FOUND, "Cannot read %.400s: %s",
                arguments->operands[i], strerror(errno));
        if (rows[i] == gput_table_row_count(ranks))
            return error_set(error, GPUT_ERROR_INVALID,
                "%.300s cannot be compared: name reports in JSON or tracking files, each of "
                "another run. Analyses: gpu-tracker sub-track compare -m A=a.json -m B=b.json",
                arguments->operands[i]);
    }
    return GPUT_OK;
}

static int render(struct gput_tables *tables, const struct arguments *arguments,
    enum gput_format format, char **bytes, size_t *length, struct gput_error *error)
{
    const struct gput_table *ranks = gput_tables_find(tables, "ranks");
    size_t count = (size_t)arguments->n_operands;
    size_t *rows = calloc(count, sizeof *rows);
    if (!rows)
        return error_memory(error);
    int code = find_rows(ranks, arguments, rows, error);
    FILE *file = code == GPUT_OK ? open_memstream(bytes, length) : NULL;
    if (file) {
        print_all(file, ranks, arguments->operands, rows, count);
        if (fclose(file) != 0)
            code = error_memory(error);
    } else if (code == GPUT_OK) {
        code = error_memory(error);
    }
    free(rows);
    if (code != GPUT_OK || format == GPUT_FORMAT_SUMMARY)
        return code;
    free(*bytes);
    *bytes = NULL;
    TRY(gput_tables_select(tables, "ranks", error));
    return gput_tables_render(tables, format, bytes, length, error);
}

/* Errors: GPUT_ERROR_INVALID. */
static int refuse_folders(const struct arguments *arguments, struct gput_error *error)
{
    struct stat info;
    for (int i = 0; i < arguments->n_operands; i++) {
        const char *path = arguments->operands[i];
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            return error_set(error, GPUT_ERROR_INVALID,
                "%.300s is a folder: name files. gpu-tracker job %.300s shows a folder", path,
                path);
    }
    return GPUT_OK;
}

static int compare(const struct arguments *arguments, struct gput_error *error)
{
    TRY(refuse_folders(arguments, error));
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    enum gput_format format;
    struct gput_jobs *jobs;
    struct gput_tables *tables = NULL;
    char *bytes = NULL;
    size_t length = 0;
    TRY(report_read_format(
        arguments, OPTION_COMPARED_FORMAT, output, GPUT_FORMAT_SUMMARY, &format, error));
    TRY(report_check_output(output, error));
    TRY(gput_jobs_create(
        (const char *const *)arguments->operands, (size_t)arguments->n_operands, &jobs, error));
    int code = gput_jobs_tables(jobs, &tables, error);
    if (code == GPUT_OK)
        code = render(tables, arguments, format, &bytes, &length, error);
    if (code == GPUT_OK)
        code = report_write_bytes(output, STDOUT_FILENO, bytes, length, error);
    free(bytes);
    gput_tables_destroy(tables);
    gput_jobs_destroy(jobs);
    return code;
}

int cmd_compare(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(compare(arguments, &error), &error, EXIT_FAILURE);
}
