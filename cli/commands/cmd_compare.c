/* gpu-tracker compare: the results of several runs side by side. */
#include "base/error.h"
#include "base/human.h"
#include "base/limit_rule.h"
#include "base/screen.h"
#include "base/table.h"
#include "base/text.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "track/report.h"

#include <gputracker/jobs.h>
#include <gputracker/table.h>
#include <gputracker/words.h>

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
    const char *label, *column, *word; /* the word of --fail-if */
    const char *(*write)(double value, char *text);
    bool is_code; /* no change of it is a percentage */
} figures[] = {
    {"Wall time", "seconds", "wall", human_seconds, false},
    {"CPU time", "cpu_seconds", "cpu", human_seconds, false},
    {"Cores used", "busy_cores", "cores", human_cores, false},
    {"RAM peak", "max_ram_bytes", "ram", human_bytes, false},
    {"GPU RAM peak", "max_gpu_ram_bytes", "gpu_ram", human_bytes, false},
    {"GPU use", "gpu_percent", "gpu", write_percent, false},
    {"Read", "read_bytes", "read", human_bytes, false},
    {"Written", "written_bytes", "written", human_bytes, false},
    {"Energy", "energy_joules", "energy", human_joules, false},
    {"Exit status", "exit_status", "exit_status", write_whole, true},
};
#define N_FIGURES (sizeof figures / sizeof *figures)

/* One row, unless no file has the figure. */
static void print_figure(FILE *file, const struct gput_table *ranks, const struct figure *figure,
    const size_t *rows, size_t count)
{
    double first = table_cells_number_of(ranks, rows[0], figure->column);
    bool is_known = false;
    for (size_t i = 0; i < count; i++)
        is_known |= !isnan(table_cells_number_of(ranks, rows[i], figure->column));
    if (!is_known)
        return;
    fprintf(file, "%-*s", LABEL_WIDTH, figure->label);
    for (size_t i = 0; i < count; i++) {
        char text[HUMAN_SIZE], change[HUMAN_SIZE], whole[2 * HUMAN_SIZE + 4];
        double value = table_cells_number_of(ranks, rows[i], figure->column);
        snprintf(whole, sizeof whole, "%s", figure->write(value, text));
        if (i > 0 && first > 0 && !isnan(value) && !figure->is_code)
            snprintf(whole, sizeof whole, "%s (%s)", text,
                human_change(100 * (value - first) / first, change));
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
    const char *first = table_cells_text_of(ranks, rows[0], "command");
    size_t i = 1;
    while (i < count && strcmp(table_cells_text_of(ranks, rows[i], "command"), first) == 0)
        i++;
    if (i == count)
        return;
    fprintf(file, "%-*s", LABEL_WIDTH, "Command");
    for (i = 0; i < count; i++) {
        const char *command = table_cells_text_of(ranks, rows[i], "command");
        print_text(file, *command ? command : "n/a");
    }
    fputc('\n', file);
}

/* Each file has a row of its own. Errors: GPUT_ERROR_INVALID. */
static int find_rows(const struct gput_table *ranks, const struct arguments *arguments,
    size_t *rows, struct gput_error *error)
{
    for (int i = 0; i < arguments->n_operands; i++) {
        /* Find the row of the file: rows may be sorted. */
        size_t row = 0, count = gput_table_row_count(ranks);
        while (row < count &&
               strcmp(table_cells_text_of(ranks, row, "path"), arguments->operands[i]) != 0)
            row++;
        rows[i] = row;
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

static int refuse_rule(const char *text, const char *why, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_INVALID,
        "The rule \"%.150s\" is not valid: %s. A rule is like \"ram > +5%%\" or \"wall > 2.5\".",
        text, why);
}

/* Reads the figure and the limit of a rule. */
static int read_rule(const char *text, const struct figure **figure, struct limit_rule *rule,
    struct gput_error *error)
{
    const char *at = text + strspn(text, " \t");
    size_t length = strcspn(at, " \t<>");
    *figure = NULL;
    for (size_t i = 0; i < N_FIGURES && !*figure; i++) {
        if (strlen(figures[i].word) == length && memcmp(figures[i].word, at, length) == 0)
            *figure = &figures[i];
    }
    if (*figure) {
        const char *why = limit_rule_parse(at + length, rule);
        return why ? refuse_rule(text, why, error) : GPUT_OK;
    }
    char word[64], why[GPUT_NEAREST_SIZE + 128], near[GPUT_NEAREST_SIZE], words[256] = "";
    text_fit(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), at);
    for (size_t i = 0; i < N_FIGURES; i++) {
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", i > 0 ? " " : "", figures[i].word);
    }
    gput_nearest_words(words, word, near);
    text_fit(why, sizeof why, "there is no figure \"%.60s\"; %s%.100s", word,
        near[0] ? "did you mean " : "there are ", near[0] ? near : words);
    return refuse_rule(text, why, error);
}

/* The files that are compared: a row of `ranks` each, in the order of the operands. */
struct compared {
    const struct gput_table *ranks;
    const struct arguments *arguments;
    const size_t *rows;
};

/* Checks a rule for each file after the first. Errors: GPUT_ERROR_STATE where a file lacks the
 * figure, GPUT_ERROR_INVALID. */
static int check_rule(const void *subject, const char *text, bool *holds, struct gput_error *error)
{
    const struct compared *compared = subject;
    const struct gput_table *ranks = compared->ranks;
    const struct arguments *arguments = compared->arguments;
    const size_t *rows = compared->rows;
    struct limit_rule rule;
    const struct figure *figure;
    TRY(read_rule(text, &figure, &rule, error));
    double first = table_cells_number_of(ranks, rows[0], figure->column);
    int lacking = rule.is_percent && isnan(first) ? 0 : -1;
    for (int i = 1; i < arguments->n_operands; i++) {
        double value = table_cells_number_of(ranks, rows[i], figure->column);
        double change = value == first ? 0
                        : first != 0   ? 100 * (value - first) / fabs(first)
                                       : copysign(INFINITY, value);
        char shown[HUMAN_SIZE], before[HUMAN_SIZE];
        if (isnan(value))
            lacking = lacking < 0 ? i : lacking;
        if (isnan(value) || (rule.is_percent && isnan(first)) ||
            !limit_rule_holds(&rule, rule.is_percent ? change : value))
            continue;
        *holds = true;
        error_set(error, GPUT_ERROR_STATE, "%.150s: %.200s has %s, %.200s has %s", text,
            arguments->operands[i], figure->write(value, shown), arguments->operands[0],
            figure->write(first, before));
        return GPUT_OK;
    }
    if (lacking < 0)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_STATE,
        "The rule \"%.150s\" cannot be checked: %.200s has no such figure.", text,
        arguments->operands[lacking]);
}

/* Renders the sessions side by side, and checks the rules of --fail-if. */
static int render(struct gput_tables *tables, const struct arguments *arguments,
    enum gput_format format, int *status, char **bytes, size_t *length, struct gput_error *error)
{
    const struct gput_table *ranks = gput_tables_find(tables, "ranks");
    size_t count = (size_t)arguments->n_operands;
    size_t *rows = calloc(count, sizeof *rows);
    if (!rows)
        return error_memory(error);
    int code = find_rows(ranks, arguments, rows, error);
    if (code == GPUT_OK)
        code = rules_check(arguments, OPTION_COMPARED_FAIL_IF, check_rule,
            &(struct compared){ranks, arguments, rows}, status, error);
    FILE *file = code == GPUT_OK ? open_memstream(bytes, length) : NULL;
    if (file) {
        fprintf(file, "%-*s", LABEL_WIDTH, "");
        for (size_t i = 0; i < count; i++)
            print_text(file, arguments->operands[i]);
        fputc('\n', file);
        print_commands(file, ranks, rows, count);
        for (size_t i = 0; i < N_FIGURES; i++)
            print_figure(file, ranks, &figures[i], rows, count);
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

/* Reads the files, and writes the comparison of their figures. */
static int compare(const struct arguments *arguments, int *status, struct gput_error *error)
{
    /* Refuse folders: each operand is one file. */
    struct stat info;
    for (int i = 0; i < arguments->n_operands; i++) {
        const char *path = arguments->operands[i];
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            return error_set(error, GPUT_ERROR_INVALID,
                "%.300s is a folder: name files. gpu-tracker job %.300s shows a folder", path,
                path);
    }
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
        code = render(tables, arguments, format, status, &bytes, &length, error);
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
    int status = EXIT_SUCCESS, code = compare(arguments, &status, &error);
    return code == GPUT_OK ? status : message_exit_status(code, &error, EXIT_FAILURE);
}
