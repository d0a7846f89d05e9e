#include "views/report/export/report_export.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "views/report/export/report_export_tables.h"
#include "views/report/export/report_html.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct report_export_format formats[] = {
    [GPUT_REPORT_JSON] = {.write = report_export_json},
    [GPUT_REPORT_CSV] = {.tables = &report_export_csv},
    [GPUT_REPORT_SPEEDSCOPE] = {.write = report_export_speedscope},
    [GPUT_REPORT_COLLAPSED] = {.write = report_export_collapsed},
};

static const struct report_export_format *format_of(enum gput_report_format format)
{
    return (size_t)format < sizeof formats / sizeof *formats ? &formats[format] : NULL;
}

static int write_part(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    return file_writing_add(user, bytes, length, error);
}

static int write_to_stdout(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    (void)user;
    return file_write_fd(STDOUT_FILENO, "to the standard output", bytes, length, error);
}

static int end_file(struct file_writing *writing, int code, struct gput_error *error)
{
    if (code == GPUT_OK)
        return file_writing_end(writing, error);
    file_writing_discard(writing);
    return code;
}

static int write_file(const struct report_payload *payload,
    const struct report_export_format *format, const char *path, struct gput_error *error)
{
    struct file_writing writing;
    if (strcmp(path, REPORT_STDOUT) == 0)
        return format->write(payload, write_to_stdout, NULL, error);
    TRY(file_writing_begin(path, &writing, error));
    return end_file(&writing, format->write(payload, write_part, &writing, error), error);
}

/* ---- A folder of tables ---- */

struct folder {
    const struct report_table_format *format;
    const char *path;
};

/* Writes a table to a file of its own in the folder. */
static int write_table(void *user, struct report_rows *rows, struct gput_error *error)
{
    const struct folder *folder = user;
    struct file_writing writing;
    CLEANUP_STR struct str path = {0};
    str_printf(&path, "%s/%s%s", folder->path, rows->name, folder->format->extension);
    TRY(path.failed ? error_memory(error) : file_writing_begin(str_text(&path), &writing, error));
    return end_file(&writing, folder->format->write(rows, write_part, &writing, error), error);
}

/* ---- Both ---- */

bool report_export_is_folder(enum gput_report_format format)
{
    const struct report_export_format *writer = format_of(format);
    return writer && writer->tables;
}

int report_export_check(enum gput_report_format format, const char *path, struct gput_error *error)
{
    const struct report_export_format *writer = format_of(format);
    if (!writer)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a report.");
    struct stat info;
    bool is_stdout = strcmp(path, REPORT_STDOUT) == 0;
    if (!writer->tables)
        return is_stdout ? GPUT_OK : file_check(path, error);
    if (is_stdout)
        return error_set(error, GPUT_ERROR_INVALID,
            "There are several tables, for which -o names a folder: the standard output takes "
            "json, speedscope or collapsed.");
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        return error_set(error, GPUT_ERROR_INVALID,
            "%s is a file; tables go to a folder, a file each. Name another one.", path);
    return GPUT_OK;
}

int report_export_write(const struct report_payload *payload, enum gput_report_format format,
    const char *path, struct gput_error *error)
{
    const struct report_export_format *writer = format_of(format);
    if (!writer->tables)
        return write_file(payload, writer, path, error);
    struct folder folder = {writer->tables, path};
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "Cannot make the folder %s", path);
    return report_export_tables(payload, write_table, &folder, error);
}
