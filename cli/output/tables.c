#include "output/tables.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/python_package.h"
#include "track/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tables_read_format(
    const struct arguments *arguments, enum gput_format *format, struct gput_error *error)
{
    return report_read_format(arguments, OPTION_TABLE_FORMAT,
        arguments_value(arguments, OPTION_TABLE_OUTPUT), GPUT_FORMAT_TEXT, format, error);
}

static int check_csv(
    enum gput_format format, const struct gput_tables *tables, struct gput_error *error)
{
    if (format != GPUT_FORMAT_CSV || gput_tables_count(tables) <= 1)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_INVALID,
        "CSV holds one table, and there are %zu here: choose one with --table (%s, ...).",
        gput_tables_count(tables), gput_table_name(gput_tables_get(tables, 0)));
}

/* Before the first part: what is to be written, and where to. */
static int stream_begin(
    struct tables_stream *stream, const struct gput_tables *tables, struct gput_error *error)
{
    const char *only = arguments_value(stream->arguments, OPTION_TABLE);
    const char *path = arguments_value(stream->arguments, OPTION_TABLE_OUTPUT);
    enum gput_format format =
        report_format(stream->arguments, OPTION_TABLE_FORMAT, path, GPUT_FORMAT_TEXT);
    if (only && !gput_tables_find(tables, only))
        return gput_tables_not_found(tables, only, error);
    if (!only)
        TRY(check_csv(format, tables, error));
    TRY(gput_table_writer_create(
        format, only ? 1 : gput_tables_count(tables), &stream->writer, error));
    if (path && strcmp(path, "-") != 0)
        TRY(file_writing_begin(path, &stream->file, error));
    else if (isatty(STDOUT_FILENO))
        gput_table_writer_set_width(stream->writer, screen_columns(STDOUT_FILENO, REPORT_COLUMNS));
    return GPUT_OK;
}

static int stream_write(struct tables_stream *stream, const char *text, struct gput_error *error)
{
    return stream->file.path ? file_writing_add(&stream->file, text, strlen(text), error)
                             : report_write_text(NULL, STDOUT_FILENO, text, error);
}

int tables_stream_write(struct tables_stream *stream, const struct gput_tables *tables,
    const struct gput_table *part, struct gput_error *error)
{
    const char *only = arguments_value(stream->arguments, OPTION_TABLE), *text;
    int code = stream->writer ? GPUT_OK : stream_begin(stream, tables, error);
    if (code != GPUT_OK || (only && strcmp(gput_table_name(part), only) != 0))
        return code;
    TRY(gput_table_writer_add(stream->writer, part, &text, error));
    return stream_write(stream, text, error);
}

int tables_stream_end(struct tables_stream *stream, struct gput_error *error)
{
    const char *text;
    if (!stream->writer)
        return GPUT_OK;
    TRY(gput_table_writer_end(stream->writer, &text, error));
    TRY(stream_write(stream, text, error));
    return stream->file.path ? file_writing_end(&stream->file, error) : GPUT_OK;
}

void tables_stream_finish(struct tables_stream *stream)
{
    gput_table_writer_destroy(stream->writer);
    if (stream->file.path)
        file_writing_discard(&stream->file);
    *stream = (struct tables_stream){0};
}

int tables_write(
    const struct arguments *arguments, struct gput_tables *tables, struct gput_error *error)
{
    CLEANUP(tables_stream_finish) struct tables_stream stream = {.arguments = arguments};
    TRY(stream_begin(&stream, tables, error));
    for (size_t i = 0; i < gput_tables_count(tables); i++)
        TRY(tables_stream_write(&stream, tables, gput_tables_get(tables, i), error));
    return tables_stream_end(&stream, error);
}

/* ---- Files of tables ---- */

static const struct python_module module = {"_table_files", "writes Parquet and Arrow files",
    "Install it there with pyarrow (pip install gputracker pyarrow), or name a Python that has "
    "both",
    "The same tables as text: -f csv."};

static void add_file(const char ***word, const char *kind, const char *name, const char *path)
{
    *(*word)++ = kind;
    *(*word)++ = name ? name : "";
    *(*word)++ = path;
}

int table_files_execute(const struct gput_report_options *options, const char *format,
    const char *path, struct gput_error *error)
{
    if (strcmp(path, "-") == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "-o names a folder for the tables, or a file x.%s for the samples.", format);
    size_t files = options->n_sessions + options->n_sub_tracking_files;
    CLEANUP_FREE const char **words = calloc(2 + 3 * files + 1, sizeof *words);
    const char **word = words;
    if (!words)
        return error_memory(error);
    *word++ = format;
    *word++ = path;
    for (size_t i = 0; i < options->n_sessions; i++)
        add_file(&word, "session", options->sessions[i]->name, options->sessions[i]->path);
    for (size_t i = 0; i < options->n_sub_tracking_files; i++)
        add_file(&word, "stf", NULL, options->sub_tracking_files[i]);
    return python_package_execute(&module, words, error);
}
