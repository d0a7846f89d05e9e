#include "formats/tracking/tracking_identity.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/tracking/tracking_format.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)1 << 20)
#define FIRST_KEY "tracking_file"

/* ---- The table ---- */

/* A session is known by its start: a later row replaces the one before. */
static int add_table(struct tracking_file *file, const struct results_identity_column *identity,
    size_t count, struct gput_error *error)
{
    struct tracking_column columns[RESULTS_IDENTITY_COLUMNS];
    if (file->has_identity_table)
        return GPUT_OK;
    for (size_t i = 0; i < count; i++) {
        const struct results_column *column = identity[i].column;
        bool is_whole = column->shown == SHOWN_WHOLE || column->shown == SHOWN_RAM;
        columns[i] = (struct tracking_column){
            identity[i].name, strcmp(identity[i].name, "start") == 0 ? TRACKING_KEY
                              : column->kind == RESULTS_TEXT         ? TRACKING_TEXT
                              : is_whole                             ? TRACKING_INTEGER
                                                                     : TRACKING_REAL};
    }
    TRY(tracking_file_add_table(
        file, TRACKING_IDENTITY_TABLE, columns, count, &file->identity_table, error));
    file->has_identity_table = true;
    return GPUT_OK;
}

static struct tracking_value value_of(
    const struct results_column *column, const struct gput_results *results)
{
    const char *text = results_column_text(column, results);
    double number = results_column_number(column, results);
    bool is_whole = column->shown == SHOWN_WHOLE || column->shown == SHOWN_RAM;
    if (column->kind == RESULTS_TEXT)
        return tracking_text(*text ? text : NULL);
    if (!is_whole || isnan(number))
        return tracking_real(number);
    return tracking_integer((int64_t)fmin(number, 0x1p62));
}

static int write_table(
    struct tracking_file *file, const struct gput_results *results, struct gput_error *error)
{
    struct results_identity_column identity[RESULTS_IDENTITY_COLUMNS];
    struct tracking_value values[RESULTS_IDENTITY_COLUMNS];
    size_t count = results_identity_columns(identity);
    TRY(add_table(file, identity, count, error));
    for (size_t i = 0; i < count; i++)
        values[i] = value_of(identity[i].column, results);
    return tracking_file_write_table_row(
        file, file->identity_table, values, clock_monotonic_ns(), error);
}

/* ---- The file ---- */

static char *path_of(const char *tracking_file)
{
    struct str path = {0};
    str_printf(&path, "%s" TRACKING_IDENTITY_EXTENSION, tracking_file);
    return str_steal(&path);
}

/* NULL: there is no such file, or it is another one. */
static struct doc *read_file(const char *path)
{
    struct str content = {0};
    struct doc *doc = NULL;
    if (file_read_bounded(path, MAX_BYTES, &content, NULL) == GPUT_OK)
        doc_read_json(str_text(&content), content.length, path, &doc, NULL);
    str_finish(&content);
    if (doc && (doc->kind != DOC_OBJECT || !doc_get(doc, FIRST_KEY))) {
        doc_destroy(doc);
        doc = NULL;
    }
    return doc;
}

static int check_target(const char *path, struct gput_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return GPUT_OK;
    struct doc *old = read_file(path);
    bool is_ours = old != NULL;
    doc_destroy(old);
    return is_ours ? GPUT_OK
                   : error_set(error, GPUT_ERROR_EXISTS,
                         "File %s already exists and is of something else: whose samples these are "
                         "is not written.",
                         path);
}

static int write_json(const char *path, const char *tracking_file,
    const struct gput_results *results, struct gput_error *error)
{
    struct str text = {0};
    struct doc *doc = doc_create_object();
    if (doc) {
        doc_add_string(doc, FIRST_KEY, file_base_name(tracking_file));
        results_identity_add(results, doc);
        doc_write_json(doc, 1, &text);
        str_append_char(&text, '\n');
    }
    int code = !doc || doc_failed(doc) || text.failed
                   ? error_memory(error)
                   : file_write_atomic(path, text.data, text.length, error);
    doc_destroy(doc);
    str_finish(&text);
    return code;
}

static int write_file(
    struct tracking_file *file, const struct gput_results *results, struct gput_error *error)
{
    struct stat info;
    if (stat(file->path, &info) != 0 || !S_ISREG(info.st_mode))
        return GPUT_OK;
    char *path = path_of(file->path);
    if (!path)
        return error_memory(error);
    int code = file->has_identity_file ? GPUT_OK : check_target(path, error);
    if (code == GPUT_OK)
        code = write_json(path, file->path, results, error);
    file->has_identity_file |= code == GPUT_OK;
    free(path);
    return code;
}

int tracking_identity_write(
    struct tracking_file *file, const struct gput_results *results, struct gput_error *error)
{
    return tracking_file_has_tables(file) ? write_table(file, results, error)
                                          : write_file(file, results, error);
}

/* ---- Reading ---- */

bool tracking_identity_read(const char *tracking_file, struct gput_results *results)
{
    char *path = path_of(tracking_file);
    struct doc *doc = path ? read_file(path) : NULL;
    if (doc)
        results_identity_read(doc, results);
    doc_destroy(doc);
    free(path);
    return doc != NULL;
}

static void add_cell(const struct gput_table *table, size_t row, size_t column, struct doc *object)
{
    const char *name = gput_table_column_name(table, column);
    if (gput_table_is_missing(table, row, column))
        return;
    switch (gput_table_column_type(table, column)) {
    case GPUT_COLUMN_INT:
        doc_add_int(object, name, gput_table_int(table, row, column));
        break;
    case GPUT_COLUMN_DOUBLE:
        doc_add_double(object, name, gput_table_double(table, row, column));
        break;
    case GPUT_COLUMN_TEXT:
        doc_add_string(object, name, gput_table_text(table, row, column));
        break;
    }
}

void tracking_identity_read_table(const struct gput_table *table, struct gput_results *results)
{
    size_t rows = gput_table_row_count(table);
    struct doc *object = rows > 0 ? doc_create_object() : NULL;
    for (size_t i = 0; object && i < gput_table_column_count(table); i++)
        add_cell(table, rows - 1, i, object);
    if (object)
        results_identity_read(object, results);
    doc_destroy(object);
}
