/* gpu-tracker size: how much to ask a scheduler for. */
#include "base/cleanup.h"
#include "base/command_name.h"
#include "base/error.h"
#include "base/str.h"
#include "base/text.h"
#include "common/environment.h"
#include "common/message.h"
#include "options/arguments.h"
#include "track/report.h"

#include <gputracker/history.h>
#include <gputracker/size.h>
#include <gputracker/table.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

CLEANUP_DEFINE(struct gput_size, gput_size_destroy)

/* The bound of --ranks, as that of ranks in files (jobs_read.c). */
#define MOST_RANKS 1e7

static void warn(void *user, const char *text)
{
    (void)user;
    message_warning(NULL, text);
}

/* Receives a part of the history. */
static int add_part(void *user, struct gput_tables *part, struct gput_error *error)
{
    int code = gput_size_add(user, gput_tables_get(part, 0), error);
    gput_tables_destroy(part);
    return code;
}

/* Whether the operands are files of sessions, not a command: each is a report in JSON, or a folder.
 */
static bool are_sessions(const struct arguments *arguments)
{
    for (int i = 0; i < arguments->n_operands; i++) {
        struct stat info;
        const char *path = arguments->operands[i];
        bool is_there = stat(path, &info) == 0;
        if (!is_there ||
            !(S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && text_ends_with(path, ".json"))))
            return false;
    }
    return arguments->n_operands > 0;
}

/* Reads the share of runs that is to fit, and what is known of the next run. */
static int read_options(
    const struct arguments *arguments, struct gput_size_options *options, struct gput_error *error)
{
    const char *text = arguments_value(arguments, OPTION_SIZE_SHARE);
    char *end;
    double percent = text ? strtod(text, &end) : 95;
    if (text && (end == text || *end || !(percent >= 50 && percent < 100)))
        return error_set(error, GPUT_ERROR_INVALID,
            "--share=%s is not a valid share. It is how many of 100 runs are to fit: 50 or more, "
            "below 100.",
            text);
    *options = gput_size_options_default();
    options->share = percent / 100;
    text = arguments_value(arguments, OPTION_NEXT_RANKS);
    if (text)
        options->ranks = strtod(text, &end);
    bool is_number = text && end > text && !*end && options->ranks >= 1 &&
                     options->ranks <= MOST_RANKS && options->ranks == floor(options->ranks);
    if (text && !is_number)
        return error_set(error, GPUT_ERROR_INVALID,
            "--ranks=%s is not a number of ranks: it is a whole number, 1 or more.", text);
    /* Add up the sizes of the next run's inputs: of --size-of, else of the files among the
     * command's arguments. NaN: there are none. */
    double *bytes = &options->input_bytes;
    struct stat info;
    size_t position = 0;
    const char *path;
    *bytes = NAN;
    while ((path = arguments_next(arguments, OPTION_NEXT_SIZE_OF, &position))) {
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
            return error_set(error, GPUT_ERROR_NOT_FOUND,
                "--size-of=%s is not a file whose size could be read.", path);
        *bytes = (isnan(*bytes) ? 0 : *bytes) + (double)info.st_size;
    }
    if (arguments_have(arguments, OPTION_NEXT_SIZE_OF))
        return GPUT_OK;
    for (int i = 1; i < arguments->n_operands; i++) {
        if (stat(arguments->operands[i], &info) == 0 && S_ISREG(info.st_mode) &&
            !(info.st_mode & S_IXUSR))
            *bytes = (isnan(*bytes) ? 0 : *bytes) + (double)info.st_size;
    }
    return GPUT_OK;
}

/* Adds the runs of the history whose command is the one that is named. */
static int add_history(struct gput_size *size, const struct arguments *arguments, struct str *name,
    struct gput_error *error)
{
    struct gput_history_query query = gput_history_query_default();
    const char *words[COMMAND_NAME_WORDS];
    char folder[PATH_MAX];
    size_t count = command_name_of((const char *const *)arguments->operands, words);
    for (size_t i = 0; i < count; i++)
        str_printf(name, "%s%s", i ? " " : "", words[i]);
    if (name->failed)
        return error_memory(error);
    TRY(arguments_read_since(arguments, OPTION_HISTORY_SINCE, &query.since_seconds, error));
    query.name = str_text(name);
    query.is_whole_name = true;
    query.warn = warn;
    TRY(history_place_find(folder, error));
    return access(folder, F_OK) == 0 ? gput_history_read(folder, &query, add_part, size, error)
                                     : GPUT_OK;
}

/* Receives a part of the history, and appends the name of its last session to `user`. */
static int add_name(void *user, struct gput_tables *part, struct gput_error *error)
{
    struct str *name = user;
    const struct gput_table *table = gput_tables_get(part, 0);
    size_t n_rows = gput_table_row_count(table);
    for (size_t i = 0; n_rows > 0 && i < gput_table_column_count(table); i++) {
        if (strcmp(gput_table_column_name(table, i), "name") != 0)
            continue;
        const char *text = gput_table_text(table, n_rows - 1, i);
        str_clear(name);
        str_append(name, text ? text : "");
    }
    gput_tables_destroy(part);
    return name->failed ? error_memory(error) : GPUT_OK;
}

/* Where there is nothing to go by: how there would be, or the name of which `name` is a part. */
static void explain(const char *name)
{
    CLEANUP_STR struct str longer = {0};
    struct gput_error error;
    char folder[PATH_MAX], line[MESSAGE_LINE_SIZE / 2];
    struct gput_history_query query = gput_history_query_default();
    query.name = name;
    query.last = 1;
    if (history_place_find(folder, &error) == GPUT_OK && access(folder, F_OK) == 0)
        gput_history_read(folder, &query, add_name, &longer, &error);
    if (longer.length > 0 && strcmp(str_text(&longer), name) != 0)
        text_fit(line, sizeof line,
            "the history has no run of %.200s alone, but of \"%.200s\": gpu-tracker size "
            "\"%.200s\"",
            name, str_text(&longer), str_text(&longer));
    else
        text_fit(line, sizeof line,
            "the history has no run of %.200s that helps. gpu-tracker history on keeps those to "
            "come, and gpu-tracker history shows what there is.",
            name);
    message_note(line);
}

/* Computes what to ask for from past sessions, and writes it; the evidence goes to stderr. */
static int run(const struct arguments *arguments, struct gput_error *error)
{
    CLEANUP(gput_size_destroy_pointer) struct gput_size *size = NULL;
    CLEANUP_STR struct str name = {0};
    CLEANUP_FREE char *text = NULL;
    struct gput_size_options options;
    int format = GPUT_SIZE_FORMAT_SLURM; /* the words of the option are in the order of the enum */
    bool are_files = are_sessions(arguments);
    TRY(arguments_read_choice(arguments, OPTION_SIZE_FORMAT, "format", &format, error));
    TRY(read_options(arguments, &options, error));
    TRY(gput_size_create(&options, &size, error));
    if (are_files)
        TRY(gput_history_read_files((const char *const *)arguments->operands,
            (size_t)arguments->n_operands, NULL, add_part, size, error));
    else
        TRY(add_history(size, arguments, &name, error));
    int code = gput_size_compute(size, error);
    if (code == GPUT_ERROR_NOT_FOUND && !are_files)
        explain(str_text(&name));
    TRY(code);
    TRY(gput_size_render(size, (enum gput_size_format)format, &text, NULL, error));
    if (format != GPUT_SIZE_FORMAT_TEXT) {
        char line[MESSAGE_LINE_SIZE];
        const char *at = gput_size_evidence(size);
        while (*at) {
            size_t length = strcspn(at, "\n");
            text_fit(line, sizeof line, "%.*s", (int)length, at);
            message_note(line);
            at += length + (at[length] == '\n');
        }
    }
    return report_write_text(NULL, STDOUT_FILENO, text, error);
}

int cmd_size(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(run(arguments, &error), &error, EXIT_FAILURE);
}
