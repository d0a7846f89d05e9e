/* gpu-tracker compare: the results of several runs side by side. */
#include "base/error.h"
#include "base/screen.h"
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

/* What is compared: columns of the table "ranks", which has a row a file. */
static const struct figure {
    const char *label, *column, *unit;
    int decimals;
} figures[] = {
    {"Wall time", "seconds", "s", 3},
    {"CPU time", "cpu_seconds", "s", 3},
    {"Cores used", "busy_cores", "", 2},
    {"RAM peak", "max_ram_bytes", "B", 0},
    {"GPU RAM peak", "max_gpu_ram_bytes", "B", 0},
    {"GPU use", "gpu_percent", "%", 1},
    {"Energy", "energy_joules", "J", 1},
    {"Exit status", "exit_status", "", 0},
};

static double value_of(const struct gput_table *ranks, size_t row, const char *name)
{
    size_t column = 0, count = gput_table_column_count(ranks);
    while (column < count && strcmp(gput_table_column_name(ranks, column), name) != 0)
        column++;
    if (column == count || gput_table_is_missing(ranks, row, column))
        return NAN;
    return gput_table_column_type(ranks, column) == GPUT_COLUMN_INT
               ? (double)gput_table_int(ranks, row, column)
               : gput_table_double(ranks, row, column);
}

static const char *path_of(const struct gput_table *ranks, size_t row)
{
    size_t column = 0, count = gput_table_column_count(ranks);
    while (column < count && strcmp(gput_table_column_name(ranks, column), "path") != 0)
        column++;
    const char *path = column < count ? gput_table_text(ranks, row, column) : NULL;
    return path ? path : "";
}

/* The row of a file; the files may have been sorted. */
static size_t row_of(const struct gput_table *ranks, const char *path)
{
    size_t row = 0, count = gput_table_row_count(ranks);
    while (row < count && strcmp(path_of(ranks, row), path) != 0)
        row++;
    return row;
}

/* "104 MB"; all cells of a row have the unit that fits the largest. */
static void print_value(
    char *text, size_t size, const struct figure *figure, double value, double largest)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    size_t prefix = 0;
    bool is_scaled = strcmp(figure->unit, "B") == 0 || strcmp(figure->unit, "J") == 0;
    for (; is_scaled && largest >= 1000 && prefix < 4; prefix++) {
        largest /= 1000;
        value /= 1000;
    }
    if (isnan(value))
        snprintf(text, size, "n/a");
    else
        snprintf(text, size, "%.*f%s%s%s", prefix > 0 ? 2 : figure->decimals, value,
            figure->unit[0] ? " " : "", prefixes[prefix], figure->unit);
}

/* One row, unless no file has the figure. */
static void print_figure(FILE *file, const struct gput_table *ranks, const struct figure *figure,
    const size_t *rows, size_t count)
{
    double largest = 0, first = value_of(ranks, rows[0], figure->column);
    bool is_known = false;
    for (size_t i = 0; i < count; i++) {
        double value = value_of(ranks, rows[i], figure->column);
        is_known |= !isnan(value);
        largest = fmax(largest, value);
    }
    if (!is_known)
        return;
    fprintf(file, "%-*s", LABEL_WIDTH, figure->label);
    for (size_t i = 0; i < count; i++) {
        char text[64], change[32] = "", whole[96];
        double value = value_of(ranks, rows[i], figure->column);
        print_value(text, sizeof text, figure, value, largest);
        if (i > 0 && first > 0 && !isnan(value) && figure->decimals + figure->unit[0] > 0)
            snprintf(change, sizeof change, " (%+.1f %%)", 100 * (value - first) / first);
        snprintf(whole, sizeof whole, "%s%s", text, change);
        fprintf(file, "  %*s", VALUE_WIDTH, whole);
    }
    fputc('\n', file);
}

static void print_all(FILE *file, const struct gput_table *ranks, char *const *paths,
    const size_t *rows, size_t count)
{
    fprintf(file, "%-*s", LABEL_WIDTH, "");
    for (size_t i = 0; i < count; i++) {
        char name[NAME_SIZE];
        size_t length = strlen(paths[i]), cut = length > VALUE_WIDTH ? length - VALUE_WIDTH : 0;
        snprintf(name, sizeof name, "%s", paths[i] + cut); /* the ends of names differ */
        fprintf(file, "  %*.*s", VALUE_WIDTH, (int)screen_clean(name, strlen(name)), name);
    }
    fputc('\n', file);
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
