/* gpu-tracker history: which sessions ran on this machine, and what they used. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/table.h"
#include "base/text.h"
#include "base/utf8.h"
#include "common/environment.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "track/report.h"

#include <gputracker/history.h>

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Rows that the screen gets unless -n says otherwise. */
#define SHOWN_ROWS 50

/* ---- Options and operands ---- */

/* Whether a word is the number of a session. */
static bool read_number(const char *word, int64_t *number)
{
    char *end;
    long long value = strtoll(word, &end, 10);
    *number = value;
    return end > word && !*end && value > 0;
}

/* What the command reads or forgets. */
struct request {
    char folder[PATH_MAX];
    struct gput_history_query query;
    int64_t *numbers; /* owned; those of the query */
};

static void request_finish(struct request *request)
{
    free(request->numbers);
}

static void warn(void *user, const char *text)
{
    (void)user;
    message_warning(NULL, text);
}

/* Reads which sessions are meant: the operands from `first` on, --since, --sort and -n. */
static int read_request(
    struct request *request, const struct arguments *arguments, int first, struct gput_error *error)
{
    static const char *const sort_columns[] = {"start_seconds", "wall_seconds", "cpu_seconds",
        "ram_bytes", "gpu_ram_bytes", "energy_joules"}; /* as the words of --sort */
    int sort = 0;
    TRY(history_place_find(request->folder, error));
    request->query = gput_history_query_default();
    request->query.warn = warn;
    TRY(arguments_read_since(
        arguments, OPTION_HISTORY_SINCE, &request->query.since_seconds, error));
    /* Read -n. */
    const char *text = arguments_value(arguments, OPTION_HISTORY_LAST);
    char *end;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    if (text && (end == text || *end || strchr(text, '-')))
        return error_set(error, GPUT_ERROR_INVALID,
            "-n %s is not a number of sessions. It is a whole number; 0 is all.", text);
    if (text)
        request->query.last = value;
    TRY(arguments_read_choice(arguments, OPTION_HISTORY_SORT, "order", &sort, error));
    request->query.sort = sort_columns[sort];
    /* Read the operands from `first` on as numbers of sessions, or as one name. */
    int count = arguments->n_operands - first;
    if (count <= 0)
        return GPUT_OK;
    request->numbers = calloc((size_t)count, sizeof *request->numbers);
    if (!request->numbers)
        return error_memory(error);
    size_t n_numbers = 0;
    for (int i = first; i < arguments->n_operands; i++)
        n_numbers += read_number(arguments->operands[i], &request->numbers[n_numbers]);
    if (n_numbers == (size_t)count) {
        request->query.numbers = request->numbers;
        request->query.n_numbers = n_numbers;
        return GPUT_OK;
    }
    if (count > 1)
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%s\" is not the number of a session. Give one name, or numbers: the first column of "
            "gpu-tracker history.",
            arguments->operands
                [first + (read_number(arguments->operands[first], &request->numbers[0]) ? 1 : 0)]);
    request->query.name = arguments->operands[first];
    return GPUT_OK;
}

/* ---- Lines for people ---- */

/* The name of a signal that ends programs: sigabbrev_np() is newer than the systems that this runs
 * on. */
static const char *name_of_signal(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGHUP, "SIGHUP"}, {SIGINT, "SIGINT"}, {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].number == number)
            return names[i].name;
    }
    return NULL;
}

/* How a session ended, in a word or two. */
static const char *end_of(const struct gput_table *table, size_t row, char text[32])
{
    double status = table_cells_number_of(table, row, "exit_status"),
           signal = table_cells_number_of(table, row, "signal");
    const char *limit = table_cells_text_of(table, row, "limit_passed");
    if (table_cells_number_of(table, row, "limit_enforced") > 0)
        snprintf(text, 32, "limit: %s", limit);
    else if (table_cells_number_of(table, row, "oom_killed") > 0)
        snprintf(text, 32, "out of memory");
    else if (signal > 0 && name_of_signal((int)signal))
        snprintf(text, 32, "%s", name_of_signal((int)signal));
    else if (signal > 0)
        snprintf(text, 32, "signal %.0f", signal);
    else if (isnan(status))
        snprintf(text, 32, "n/a");
    else if (status == 0)
        snprintf(text, 32, "ok");
    else
        snprintf(text, 32, "exit %.0f", status);
    return text;
}

/* Appends a text of a program or a launcher in one line. */
static void append_text(struct str *text, const char *value)
{
    size_t start = text->length;
    str_append(text, value);
    for (size_t i = start; i < text->length; i++) {
        if (text->data[i] == '\n' || text->data[i] == '\t')
            text->data[i] = '?';
    }
    screen_sanitize(text, start);
}

/* When a session began, in the time of this place. */
static const char *when_of(const struct gput_table *table, size_t row, char text[32])
{
    double seconds = table_cells_number_of(table, row, "start_seconds");
    time_t moment = isnan(seconds) ? 0 : (time_t)seconds;
    struct tm local;
    if (isnan(seconds) || !localtime_r(&moment, &local) ||
        strftime(text, 32, "%Y-%m-%d %H:%M", &local) == 0)
        snprintf(text, 32, "n/a");
    return text;
}

/* A figure, or "-" where it is missing or there is nothing of it. */
static const char *figure_of(const struct gput_table *table, size_t row, const char *name,
    const char *(*write)(double, char *), char *text)
{
    double value = table_cells_number_of(table, row, name);
    if (isnan(value))
        return "n/a";
    return value == 0 ? "-" : write(value, text);
}

/* Appends the line of a session in the list for people. */
static void append_line(struct str *text, const struct gput_table *table, size_t row)
{
    char when[32], wall[HUMAN_SIZE], cpu[HUMAN_SIZE], ram[HUMAN_SIZE], gpu[HUMAN_SIZE], end[32];
    double number = table_cells_number_of(table, row, "number");
    char id[32] = "-";
    if (!isnan(number))
        snprintf(id, sizeof id, "%.0f", number);
    human_seconds(table_cells_number_of(table, row, "wall_seconds"), wall);
    const char *used = figure_of(table, row, "cpu_seconds", human_seconds_of_figure, cpu);
    str_printf(text, "%5s  %-16s  %*s  %*s  %8s  %8s  %-13s  ", id, when_of(table, row, when),
        utf8_field(wall, 11), wall, utf8_field(used, 10), used,
        figure_of(table, row, "ram_bytes", human_bytes, ram),
        table_cells_number_of(table, row, "gpus") == 0
            ? "-"
            : figure_of(table, row, "gpu_ram_bytes", human_bytes, gpu),
        end_of(table, row, end));
    append_text(text, table_cells_text_of(table, row, "name"));
    str_append_char(text, '\n');
}

/* Appends a value of a session as people read it. */
static void append_value(
    struct str *text, const struct gput_table *table, size_t row, size_t column)
{
    const char *unit = gput_table_column_unit(table, column);
    const char *name = gput_table_column_name(table, column);
    const char *meaning = gput_table_column_meaning(table, column);
    char figure[HUMAN_SIZE];
    double value = table_cells_number_of(table, row, name);
    if (gput_table_column_type(table, column) == GPUT_COLUMN_TEXT)
        append_text(text, table_cells_text_of(table, row, name));
    else if (unit && strcmp(unit, "bytes") == 0)
        str_append(text, human_bytes(value, figure));
    else if (unit && strcmp(unit, "joules") == 0)
        str_append(text, human_joules(value, figure));
    else if (unit && strcmp(unit, "seconds") == 0 && strcmp(name, "start_seconds") != 0)
        str_append(text, human_seconds(value, figure));
    else if (meaning && text_begins_with(meaning, "1: "))
        str_append(text, value == 1 ? "yes" : "no");
    else if (gput_table_column_type(table, column) == GPUT_COLUMN_INT)
        str_printf(text, "%.0f", value);
    else
        str_printf(text, "%.3g", value);
}

/* Writes the name of a column as words: "gpu_ram_bytes" is "GPU RAM". */
static const char *label_of(const struct gput_table *table, size_t column, char label[64])
{
    static const char *const acronyms[] = {"cpu", "gpu", "gpus", "ram", "oom", "id"};
    const char *unit = gput_table_column_unit(table, column);
    text_fit(label, 64, "%s", gput_table_column_name(table, column));
    if (unit && text_ends_with(label, unit) && strlen(label) > strlen(unit))
        label[strlen(label) - strlen(unit) - 1] = '\0'; /* with its underscore */
    for (char *word = label; *word;) {
        size_t length = strcspn(word, "_");
        for (size_t i = 0; i < sizeof acronyms / sizeof *acronyms; i++) {
            if (strlen(acronyms[i]) == length && memcmp(word, acronyms[i], length) == 0)
                for (size_t k = 0; k < length && word[k] != 's'; k++)
                    word[k] = (char)(word[k] - 'a' + 'A');
        }
        word += length;
        if (*word)
            *word++ = ' ';
    }
    if (label[0] >= 'a' && label[0] <= 'z')
        label[0] = (char)(label[0] - 'a' + 'A');
    return label;
}

/* Appends all that is known of a session, a line each. */
static void append_all(struct str *text, const struct gput_table *table, size_t row)
{
    char label[64];
    if (text->length)
        str_append_char(text, '\n');
    for (size_t column = 0; column < gput_table_column_count(table); column++) {
        const char *name = gput_table_column_name(table, column);
        if (gput_table_is_missing(table, row, column) || strcmp(name, "start_seconds") == 0)
            continue;
        str_printf(text, "%-18s  ", label_of(table, column, label));
        append_value(text, table, row, column);
        str_append_char(text, '\n');
    }
}

/* ---- Writing ---- */

/* Where the rows go, part by part. */
struct output {
    enum gput_format format;
    bool is_full; /* all that is known of each session */
    const char *path;
    struct file_writing file;
    struct gput_table_writer *writer; /* NULL: lines for people */
    struct str text;
    uint64_t n_rows;
};

static void output_finish(struct output *output)
{
    gput_table_writer_destroy(output->writer);
    if (output->file.path)
        file_writing_discard(&output->file);
    str_finish(&output->text);
}

static int write_text(struct output *output, const char *text, struct gput_error *error)
{
    return output->file.path ? file_writing_add(&output->file, text, strlen(text), error)
                             : report_write_text(NULL, STDOUT_FILENO, text, error);
}

static int begin_output(struct output *output, struct gput_error *error)
{
    if (output->format != GPUT_FORMAT_TEXT)
        TRY(gput_table_writer_create(output->format, 1, &output->writer, error));
    return report_is_file(output->path) ? file_writing_begin(output->path, &output->file, error)
                                        : GPUT_OK;
}

/* Receives a part of the sessions. */
static int write_part(void *user, struct gput_tables *part, struct gput_error *error)
{
    struct output *output = user;
    const struct gput_table *table = gput_tables_get(part, 0);
    size_t count = gput_table_row_count(table);
    const char *text = "";
    int code = GPUT_OK;
    str_clear(&output->text);
    if (output->writer) {
        code = gput_table_writer_add(output->writer, table, &text, error);
    } else {
        if (count && !output->is_full && output->n_rows == 0) {
            str_printf(&output->text, "%5s  %-16s  %11s  %10s  %8s  %8s  %-13s  %s\n", "", "Began",
                "Took", "CPU", "RAM", "GPU RAM", "End", "Command");
        }
        for (size_t row = 0; row < count; row++) {
            if (output->is_full)
                append_all(&output->text, table, row);
            else
                append_line(&output->text, table, row);
        }
        text = str_text(&output->text);
        if (output->text.failed)
            code = error_memory(error);
    }
    output->n_rows += count;
    if (code == GPUT_OK)
        code = write_text(output, text, error);
    gput_tables_destroy(part);
    return code;
}

/* What to do where there is nothing to show. */
static void explain_nothing(const struct request *request)
{
    char line[MESSAGE_LINE_SIZE / 2];
    if (request->query.name || request->query.n_numbers || !isnan(request->query.since_seconds))
        message_note(gput_history_is_on(request->folder)
                         ? "no session in the history matches. gpu-tracker history shows all."
                         : "no session in the history matches. gpu-tracker history shows all, "
                           "gpu-tracker history on keeps those that end from now on.");
    else if (gput_history_is_on(request->folder))
        message_note("the history has no session yet: it keeps those that end from now on.");
    else {
        text_fit(line, sizeof line,
            "no session was kept in %s. gpu-tracker history on keeps them from now on.",
            request->folder);
        message_note(line);
    }
}

/* Whether an operand is a folder of results: not a name such as "train", which may be one, too. */
static bool names_folder(const char *operand)
{
    struct stat info;
    return (strchr(operand, '/') || strcmp(operand, ".") == 0 || strcmp(operand, "..") == 0) &&
           stat(operand, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Shows sessions: a line each, or all that is known of them. */
static int show(const struct arguments *arguments, bool is_full, struct gput_error *error)
{
    CLEANUP(request_finish) struct request request = {.numbers = NULL};
    CLEANUP(output_finish)
    struct output output = {.is_full = is_full, .path = arguments_value(arguments, OPTION_OUTPUT)};
    TRY(report_read_format(
        arguments, OPTION_HISTORY_FORMAT, output.path, GPUT_FORMAT_TEXT, &output.format, error));
    bool is_folder = !is_full && arguments->n_operands > 0 && names_folder(arguments->operands[0]);
    TRY(read_request(&request, arguments, is_full || is_folder, error));
    if (is_full && !request.query.n_numbers && !request.query.name)
        return error_set(error, GPUT_ERROR_INVALID,
            "show needs the number of a session: gpu-tracker history show 12");
    bool is_short = output.format == GPUT_FORMAT_TEXT && !is_full;
    if (is_short && !arguments_have(arguments, OPTION_HISTORY_LAST))
        request.query.last = SHOWN_ROWS;
    TRY(begin_output(&output, error));
    if (is_folder)
        TRY(gput_history_read_files((const char *const *)arguments->operands, 1, &request.query,
            write_part, &output, error));
    else if (access(request.folder, F_OK) == 0)
        TRY(gput_history_read(request.folder, &request.query, write_part, &output, error));
    else /* a table without rows, from no file at all */
        TRY(gput_history_read_files(NULL, 0, NULL, write_part, &output, error));
    const char *text;
    if (output.writer) {
        TRY(gput_table_writer_end(output.writer, &text, error));
        TRY(write_text(&output, text, error));
    }
    TRY(output.file.path ? file_writing_end(&output.file, error) : GPUT_OK);
    if (output.n_rows == 0 && is_full)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "The history has no such session. gpu-tracker history shows their numbers.");
    if (output.n_rows == 0 && is_folder)
        message_note("no session in that folder matches: no report in JSON, tracking file or "
                     "manifest (.session.json).");
    else if (output.n_rows == 0)
        explain_nothing(&request);
    else if (is_short && output.n_rows == SHOWN_ROWS &&
             !arguments_have(arguments, OPTION_HISTORY_LAST) && isatty(STDOUT_FILENO))
        message_note("these are the last 50 sessions; -n 0 shows all.");
    return GPUT_OK;
}

/* ---- On, off, forget ---- */

/* Turns the keeping of sessions on or off, and says where they are. */
static int turn(const struct arguments *arguments, bool on, struct gput_error *error)
{
    char folder[PATH_MAX], line[PATH_MAX + 200];
    if (arguments->n_operands > 1)
        return error_set(error, GPUT_ERROR_INVALID, "%s takes no \"%s\": it is for all sessions.",
            arguments->operands[0], arguments->operands[1]);
    TRY(history_place_find(folder, error));
    TRY(gput_history_turn(folder, on, error));
    if (on)
        snprintf(line, sizeof line,
            "sessions are kept from now on, in %s. gpu-tracker history shows them; gpu-tracker "
            "history off stops keeping them.",
            folder);
    else
        snprintf(line, sizeof line,
            "no more sessions are kept. Those in %s stay; gpu-tracker history forget all removes "
            "them.",
            folder);
    message_note(line);
    return GPUT_OK;
}

/* Removes the named sessions, or all, from the history. */
static int forget(const struct arguments *arguments, struct gput_error *error)
{
    CLEANUP(request_finish) struct request request = {.numbers = NULL};
    uint64_t n_removed = 0;
    char line[128];
    bool is_all = arguments->n_operands == 2 && strcmp(arguments->operands[1], "all") == 0;
    TRY(read_request(&request, arguments, is_all ? 2 : 1, error));
    if (!is_all && !request.query.name && !request.query.n_numbers &&
        isnan(request.query.since_seconds))
        return error_set(error, GPUT_ERROR_INVALID,
            "What is to be forgotten? gpu-tracker history forget 12, forget NAME, or forget all");
    if (access(request.folder, F_OK) == 0)
        TRY(gput_history_forget(request.folder, &request.query, &n_removed, error));
    if (n_removed == 0 && !is_all)
        return error_set(
            error, GPUT_ERROR_NOT_FOUND, "The history has no such session: nothing was removed.");
    snprintf(line, sizeof line, "%" PRIu64 " %s removed from the history.", n_removed,
        n_removed == 1 ? "session was" : "sessions were");
    message_note(line);
    return GPUT_OK;
}

/* ---- Reports and comparisons of sessions by their numbers ---- */

/* The files of sessions, as operands of another command. */
struct session_files {
    bool is_one_each; /* one of each session, a report in JSON if there is one; else all of them */
    char **paths;     /* NULL at the end; owned, as are the texts */
    size_t count;
};

static void session_files_finish(struct session_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
}

/* Adds the path of a file, before the NULL at the end of the list. */
static int add_path(struct session_files *files, const char *path, struct gput_error *error)
{
    if (!ARRAY_RESIZE(files->paths, files->count + 2))
        return error_memory(error);
    files->paths[files->count] = strdup(path);
    if (!files->paths[files->count])
        return error_memory(error);
    files->paths[++files->count] = NULL;
    return GPUT_OK;
}

/* Adds the files of a session that are still there. */
static int add_session(struct session_files *files, const struct gput_table *table, size_t row,
    struct gput_error *error)
{
    CLEANUP(doc_destroy_pointer) struct doc *list = NULL;
    const char *text = table_cells_text_of(table, row, "files");
    const char *best = NULL;
    if (text[0])
        TRY(doc_read_json(text, strlen(text), "the list of files", &list, error));
    for (const struct doc *file = list ? list->first : NULL; file; file = file->next) {
        const char *path = doc_string(file);
        if (!path || text_ends_with(path, ".html") || access(path, R_OK) != 0)
            continue;
        if (!best || text_ends_with(path, ".json"))
            best = path;
        if (!files->is_one_each)
            TRY(add_path(files, path, error));
    }
    if (!best)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "Session %.0f has no file that is still there. gpu-tracker run --tf and -o write "
            "files.",
            table_cells_number_of(table, row, "number"));
    return files->is_one_each ? add_path(files, best, error) : GPUT_OK;
}

/* Receives a part of the sessions, and adds the files of each. */
static int add_sessions(void *user, struct gput_tables *part, struct gput_error *error)
{
    const struct gput_table *table = gput_tables_get(part, 0);
    int code = GPUT_OK;
    for (size_t row = 0; row < gput_table_row_count(table) && code == GPUT_OK; row++)
        code = add_session(user, table, row, error);
    gput_tables_destroy(part);
    return code;
}

/* Runs report or compare with the files of the sessions that are named. */
static int run_other(const struct arguments *arguments, int *status, struct gput_error *error)
{
    CLEANUP(request_finish) struct request request = {.numbers = NULL};
    const char *word = arguments->operands[0];
    CLEANUP(session_files_finish)
    struct session_files files = {.is_one_each = strcmp(word, "compare") == 0};
    TRY(read_request(&request, arguments, 1, error));
    if (request.query.n_numbers < (files.is_one_each ? 2 : 1))
        return error_set(error, GPUT_ERROR_INVALID,
            "%s needs numbers of sessions: gpu-tracker "
            "history %s 12 13",
            word, word);
    TRY(gput_history_read(request.folder, &request.query, add_sessions, &files, error));
    if (files.count == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "The history has no such session. gpu-tracker history shows their numbers.");
    struct arguments other = {
        .command = command_find(word), .operands = files.paths, .n_operands = (int)files.count};
    *status = other.command->function(&other);
    return GPUT_OK;
}

/* Does what the first operand says; without such a word it shows sessions. */
static int run(const struct arguments *arguments, int *status, struct gput_error *error)
{
    const char *word = arguments->n_operands ? arguments->operands[0] : "";
    int format;
    TRY(arguments_read_choice(arguments, OPTION_HISTORY_FORMAT, "format", &format, error));
    if (strcmp(word, "on") == 0 || strcmp(word, "off") == 0)
        return turn(arguments, strcmp(word, "on") == 0, error);
    if (strcmp(word, "forget") == 0)
        return forget(arguments, error);
    if (strcmp(word, "report") == 0 || strcmp(word, "compare") == 0)
        return run_other(arguments, status, error);
    return show(arguments, strcmp(word, "show") == 0, error);
}

int cmd_history(const struct arguments *arguments)
{
    struct gput_error error;
    int status = EXIT_SUCCESS;
    int code = run(arguments, &status, &error);
    return code == GPUT_OK ? status : message_exit_status(code, &error, EXIT_FAILURE);
}
