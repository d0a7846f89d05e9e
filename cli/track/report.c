#include "track/report.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/screen.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/pickles.h"
#include "track/claim.h"

#include <gputracker/rank.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

int report_refuse_pickle(struct gput_error *error)
{
    return error_set(
        error, GPUT_ERROR_INVALID, "A pickle cannot be shown on the screen: name a file with -o.");
}

/* What options call a format, and the extension of files in it. */
static const struct {
    const char *word;
    enum gput_format format;
    const char *extension; /* NULL: none that chooses it */
} formats[] = {
    {"json", GPUT_FORMAT_JSON, ".json"},
    {"csv", GPUT_FORMAT_CSV, ".csv"},
    {"pickle", GPUT_FORMAT_PICKLE, ".pkl"},
    {"pickle", GPUT_FORMAT_PICKLE, ".pickle"},
    {"prometheus", GPUT_FORMAT_PROMETHEUS, ".prom"},
    {"nextflow-trace", GPUT_FORMAT_NEXTFLOW_TRACE, NULL},
    {"snakemake-benchmark", GPUT_FORMAT_SNAKEMAKE_BENCHMARK, NULL},
    {"full", GPUT_FORMAT_FULL, NULL},
    {"summary", GPUT_FORMAT_SUMMARY, NULL},
    {"svg", GPUT_FORMAT_SVG, ".svg"},
    {"pdf", GPUT_FORMAT_PDF, ".pdf"},
    {"png", GPUT_FORMAT_PNG, ".png"},
    {"markdown", GPUT_FORMAT_MARKDOWN, ".md"},
    {"asciidoc", GPUT_FORMAT_ASCIIDOC, ".adoc"},
    {"html", GPUT_FORMAT_HTML, ".html"},
    {"hyperfine", GPUT_FORMAT_HYPERFINE, NULL},
    {"bencher", GPUT_FORMAT_BENCHER, NULL},
};
#define FORMATS (sizeof formats / sizeof *formats)

static bool has_extension(const char *path, const char *extension)
{
    size_t length = strlen(path), wanted = strlen(extension);
    return length > wanted && strcasecmp(path + length - wanted, extension) == 0;
}

/* Extensions of formats that no option of a format has. */
static const char *const other_extensions[] = {
    ".yml", ".yaml", ".toml", ".xml", ".jsonl", ".tsv", ".xlsx", ".parquet", ".arrow", ".sqlite"};

/* Returns whether a path ends as a file of some format does. */
static bool has_extension_of_format(const char *path)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].extension && has_extension(path, formats[i].extension))
            return true;
    }
    for (size_t i = 0; i < sizeof other_extensions / sizeof *other_extensions; i++) {
        if (has_extension(path, other_extensions[i]))
            return true;
    }
    return false;
}

/* The format of a path's extension, among those that the option has. */
static bool find_format_of_path(const char *path, enum option_id id, enum gput_format *format)
{
    for (size_t i = 0; i < FORMATS; i++) {
        *format = formats[i].format;
        if (formats[i].extension && choice_find(option(id)->words, formats[i].word) >= 0 &&
            has_extension(path, formats[i].extension))
            return true;
    }
    return false;
}

enum gput_format report_format(const struct arguments *arguments, enum option_id id,
    const char *output, enum gput_format usual)
{
    const char *word = arguments_value(arguments, id);
    enum gput_format format;
    if (word) {
        /* Find the format by its word: its position in the list differs from command to command. */
        for (size_t i = 0; i < FORMATS; i++) {
            if (strcmp(formats[i].word, word) == 0)
                return formats[i].format;
        }
        return GPUT_FORMAT_TEXT;
    }
    return report_is_file(output) && find_format_of_path(output, id, &format) ? format : usual;
}

/* Ranks of one job have one command line. */
static bool says_rank_0(void)
{
    struct gput_rank *rank;
    struct gput_error ignored;
    if (gput_rank_create(NULL, &rank, &ignored) != GPUT_OK)
        return false;
    bool is_another = gput_rank_number(rank) > 0;
    gput_rank_destroy(rank);
    return is_another;
}

/* What other options than -o write. */
static const struct {
    const char *extension;
    enum option_id id;
    const char *effect;
} others[] = {
    {".html", OPTION_HTML_REPORT, "writes the page"},
    {".csv", OPTION_TRACKING_FILE, "keeps the samples"},
    {".sqlite", OPTION_TRACKING_FILE, "keeps the samples"},
};
#define OTHERS (sizeof others / sizeof *others)

/* Warns of a file name whose extension promises a format that -f does not have. */
static void warn_of_extension(
    const struct arguments *arguments, enum option_id id, const char *output)
{
    enum gput_format format;
    char text[MESSAGE_LINE_SIZE];
    if (arguments_have(arguments, id) || !report_is_file(output) ||
        !has_extension_of_format(output) || find_format_of_path(output, id, &format) ||
        says_rank_0())
        return;
    snprintf(text, sizeof text, "%s is written as text: -f has no format for %s, only %s", output,
        strrchr(output, '.'), option(id)->words);
    /* Name the option that writes what the extension asks for: "; --report a.html writes the page".
     */
    for (size_t i = 0; i < OTHERS; i++) {
        char name[64];
        size_t used = strlen(text);
        if (has_extension(output, others[i].extension) &&
            option_is_among(arguments->command->options, others[i].id))
            snprintf(text + used, sizeof text - used, "; %s %.200s %s",
                option_name(option(others[i].id), name), output, others[i].effect);
    }
    message_warning(NULL, text);
}

int report_read_format(const struct arguments *arguments, enum option_id id, const char *output,
    enum gput_format usual, enum gput_format *format, struct gput_error *error)
{
    int choice;
    /* Refuse a format that only another option writes. */
    const char *word = arguments_value(arguments, id);
    for (size_t i = 0; word && i < OTHERS; i++) {
        char name[64];
        if (strcasecmp(word, others[i].extension + 1) == 0 &&
            choice_find(option(id)->words, others[i].extension + 1) < 0 &&
            option_is_among(arguments->command->options, others[i].id))
            return error_set(error, GPUT_ERROR_INVALID,
                "-f has no format %.64s; %s x%s %s, also next to a report in another format", word,
                option_name(option(others[i].id), name), others[i].extension, others[i].effect);
    }
    TRY(arguments_read_choice(arguments, id, "format", &choice, error));
    *format = report_format(arguments, id, output, usual);
    warn_of_extension(arguments, id, output);
    if (report_is_file(output) || !isatty(STDOUT_FILENO))
        return GPUT_OK;
    if (*format == GPUT_FORMAT_PDF || *format == GPUT_FORMAT_PNG)
        return error_set(error, GPUT_ERROR_INVALID,
            "A picture cannot be shown on the screen: name a file with -o.");
    return *format == GPUT_FORMAT_PICKLE ? report_refuse_pickle(error) : GPUT_OK;
}

enum gput_format report_usual_format(const char *output)
{
    return report_is_file(output) ? GPUT_FORMAT_FULL : GPUT_FORMAT_SUMMARY;
}

/* "-" is the standard output, and without a name there is the screen. */
bool report_is_file(const char *path)
{
    return path && strcmp(path, "-") != 0;
}

int report_check_output(const char *path, struct gput_error *error)
{
    return report_is_file(path) ? file_check(path, error) : GPUT_OK;
}

/* A pipe whose reader has gone, or a terminal that hung up. */
static bool has_no_reader(int fd, int failure)
{
    struct stat info;
    return failure == EPIPE || (failure == EIO && fstat(fd, &info) == 0 && S_ISCHR(info.st_mode));
}

/* Writes to a descriptor as it is. */
static int write_plain(
    int fd, const char *bytes, size_t length, int stop_fd, struct gput_error *error)
{
    int failure = screen_write(fd, bytes, length, stop_fd);
    if (failure == 0)
        return GPUT_OK;
    if (failure == ECANCELED)
        return error_set(error, GPUT_ERROR_STATE, "Cannot write the report: it has no reader.");
    return error_set(error, has_no_reader(fd, failure) ? GPUT_ERROR_STATE : GPUT_ERROR_IO,
        "Cannot write the report: %s", strerror(failure));
}

/* Writes to a descriptor; a terminal gets nothing that it would obey. */
static int write_to_screen(
    int fd, const char *bytes, size_t length, int stop_fd, struct gput_error *error)
{
    if (length == 0 || !isatty(fd))
        return write_plain(fd, bytes, length, stop_fd, error);
    char *text = malloc(length);
    if (!text)
        return error_memory(error);
    memcpy(text, bytes, length);
    int code = write_plain(fd, text, screen_clean(text, length), stop_fd, error);
    free(text);
    return code;
}

int report_write_bytes(
    const char *path, int screen_fd, const char *bytes, size_t length, struct gput_error *error)
{
    if (report_is_file(path))
        return file_write_atomic(path, bytes, length, error);
    return write_to_screen(path ? STDOUT_FILENO : screen_fd, bytes, length, SCREEN_WAITS, error);
}

int report_write_text(const char *path, int screen_fd, const char *text, struct gput_error *error)
{
    return report_write_bytes(path, screen_fd, text, strlen(text), error);
}

struct report_units report_units_asked_for(const struct arguments *arguments)
{
    return (struct report_units){.ram = arguments_have(arguments, OPTION_RAM_UNIT),
        .gpu_ram = arguments_have(arguments, OPTION_GPU_RAM_UNIT),
        .time = arguments_have(arguments, OPTION_TIME_UNIT),
        .energy = arguments_have(arguments, OPTION_ENERGY_UNIT)};
}

static bool wants_color(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    return screen_takes_escapes(fd) && !(no_color && no_color[0]);
}

/* Makes a pickle of the report as JSON, in which older zeroes are of no use, and as text. */
static int render_pickle(const struct gput_results *results,
    struct gput_results_render_options options, char **bytes, size_t *length,
    struct gput_error *error)
{
    CLEANUP_FREE char *json = NULL, *text = NULL;
    CLEANUP_STR struct str both = {0};
    size_t json_length, text_length;
    options.has_older_zeroes = options.fits_units = false;
    TRY(gput_results_render(results, &options, GPUT_FORMAT_JSON, &json, &json_length, error));
    TRY(gput_results_render(results, &options, GPUT_FORMAT_FULL, &text, &text_length, error));
    str_append_bytes(&both, json, json_length);
    str_append_char(&both, '\0');
    str_append_bytes(&both, text, text_length);
    if (both.failed)
        return error_memory(error);
    return pickles_make("session", both.data, both.length, bytes, length, error);
}

/* Renders the report in its format; people get colours and lines that fit the screen. */
static int render(const struct report *report, enum gput_format format,
    const struct gput_results *results, const struct gput_processes *processes, char **bytes,
    size_t *length, struct gput_error *error)
{
    bool to_file = report_is_file(report->path);
    int fd = report->path ? STDOUT_FILENO : report->screen_fd;
    struct gput_results_render_options options = gput_results_render_options_default();
    options.processes = processes;
    options.command = to_file ? report->file_command : report->command;
    options.has_status = report->has_status;
    options.status = report->status;
    options.attached = report->attached;
    options.regions = report->regions;
    options.region_notes = report->region_notes;
    options.torch_trace = report->torch_trace;
    options.torch_notes = report->torch_notes;
    options.labels = report->labels;
    options.has_older_zeroes = report->is_older_form;
    options.fits_units = true;
    options.keeps_ram_unit = report->units.ram;
    options.keeps_gpu_ram_unit = report->units.gpu_ram;
    options.keeps_time_unit = report->units.time;
    options.keeps_energy_unit = report->units.energy;
    options.color = !to_file && wants_color(fd);
    options.width = to_file ? 0 : screen_columns(fd, REPORT_COLUMNS);
    bool is_for_people = format == GPUT_FORMAT_SUMMARY || format == GPUT_FORMAT_FULL;
    if (report->explains_time && is_for_people)
        return gput_results_why(results, bytes, length, error);
    if (format != GPUT_FORMAT_PICKLE)
        return gput_results_render(results, &options, format, bytes, length, error);
    return render_pickle(results, options, bytes, length, error);
}

/* Both are one terminal, or one pipe or file (2>&1). */
static bool is_same_place(int a, int b)
{
    struct stat of_a, of_b;
    return (isatty(a) && isatty(b)) ||
           (fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
               of_a.st_ino == of_b.st_ino);
}

/* The last line of the command may have no end, which is not known: an empty line parts them. */
static bool follows_output(const struct report *report, enum gput_format format, int fd)
{
    return report->follows_command && !report->path &&
           (format == GPUT_FORMAT_SUMMARY || format == GPUT_FORMAT_FULL) &&
           is_same_place(fd, STDOUT_FILENO);
}

/* A summary is harmless as it is, and its colors are to be obeyed. */
static int write_rendered(const struct report *report, enum gput_format format, int fd,
    const char *bytes, size_t length, struct gput_error *error)
{
    if (follows_output(report, format, fd))
        write_plain(fd, "\n", 1, report->stop_fd, error);
    return format == GPUT_FORMAT_SUMMARY
               ? write_plain(fd, bytes, length, report->stop_fd, error)
               : write_to_screen(fd, bytes, length, report->stop_fd, error);
}

/* What could not be written where it belongs; a pickle as text. */
static void write_to_standard_error(const struct report *report, const struct gput_results *results,
    const struct gput_processes *processes)
{
    struct gput_error ignored;
    char *text;
    size_t length;
    enum gput_format format =
        report->format == GPUT_FORMAT_PICKLE ? GPUT_FORMAT_FULL : report->format;
    if (render(report, format, results, processes, &text, &length, &ignored) != GPUT_OK)
        return;
    write_rendered(report, format, STDERR_FILENO, text, length, &ignored);
    free(text);
}

/* False: it cannot be there either. */
static bool write_elsewhere(
    const struct report *report, const char *bytes, size_t length, struct gput_error *error)
{
    const char *path = report->other_path ? report->other_path : report->path;
    const char *slash = strrchr(path, '/');
    struct stat info;
    struct gput_error ignored;
    bool is_other_kind = stat(path, &info) == 0 && !S_ISREG(info.st_mode); /* a pipe */
    struct claim claim;
    char *name;
    if (!report->may_be_elsewhere || is_other_kind ||
        claim_free_file(slash ? slash + 1 : path, false, &claim, &name) != 0)
        return false;
    int code = file_write_until(name, bytes, length, report->stop_fd, &ignored);
    claim_release(&claim, name);
    if (code == GPUT_OK) {
        char *folder = getcwd(NULL, 0);
        struct gput_error reason = *error;
        error_set(error, reason.code, "%.400s. The report is in %.400s/%.200s instead.",
            reason.message, folder ? folder : ".", name);
        free(folder);
    }
    free(name);
    return code == GPUT_OK;
}

int report_write(const struct report *report, const struct gput_results *results,
    const struct gput_processes *processes, struct gput_error *error)
{
    char *bytes;
    size_t length;
    int code = render(report, report->format, results, processes, &bytes, &length, error);
    if (code != GPUT_OK && report->format == GPUT_FORMAT_PICKLE)
        write_to_standard_error(report, results, processes);
    if (code != GPUT_OK)
        return code;
    if (report_is_file(report->path))
        code = file_write_until(report->path, bytes, length, report->stop_fd, error);
    else
        code = write_rendered(report, report->format,
            report->path ? STDOUT_FILENO : report->screen_fd, bytes, length, error);
    if (code == GPUT_ERROR_IO && report->other_path)
        code = file_write_until(report->other_path, bytes, length, report->stop_fd, error);
    bool is_kept = code != GPUT_OK && report_is_file(report->path) &&
                   write_elsewhere(report, bytes, length, error);
    if (code != GPUT_OK && report->path && !is_kept)
        write_to_standard_error(report, results, processes);
    free(bytes);
    return code;
}

int report_write_session(const struct report *report, struct gput_session *session,
    const struct gput_results *results, bool has_processes, struct gput_error *error)
{
    struct gput_processes *processes = NULL;
    int code = has_processes ? gput_session_processes(session, &processes, error) : GPUT_OK;
    if (code == GPUT_OK)
        code = report_write(report, results, processes, error);
    gput_processes_destroy(processes);
    return code;
}
