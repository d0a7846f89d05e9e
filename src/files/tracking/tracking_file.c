#include "files/tracking/tracking_file.h"

#include "base/file.h"
#include "base/text.h"
#include "files/tracking/tracking_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tracking_format *const formats[] = {
    &tracking_plain_csv, &tracking_csv, &tracking_sqlite};

int tracking_format_of(
    const char *path, const struct tracking_format **format, struct gput_error *error)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (text_ends_with(path, formats[i]->extension)) {
            *format = formats[i];
            return GPUT_OK;
        }
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "Invalid file name: \"%s\". Valid file extensions are \".csv\" and \".sqlite\".%s", path,
        text_ends_with(path, ".parquet") ? " Parquet: gpu-tracker report x.sqlite -o x.parquet"
                                         : "");
}

int tracking_file_check_name(const char *path, struct gput_error *error)
{
    const struct tracking_format *format;
    return tracking_format_of(path, &format, error);
}

int tracking_file_create(const char *path, const struct gput_static_data *static_data,
    bool overwrite, struct tracking_file **file, struct gput_error *error)
{
    const struct tracking_format *format = NULL;
    struct gput_error reason;
    *file = NULL;
    TRY(tracking_format_of(path, &format, error));
    int code = format->create(format, path, static_data, overwrite, file, &reason);
    for (int tries = 1;
         tries < FILE_TRIES && code != GPUT_OK && file_failure_may_pass(reason.errno_value);
         tries++) {
        file_pause_before_retry();
        code = format->create(format, path, static_data, overwrite, file, &reason);
    }
    if (code != GPUT_OK && error)
        *error = reason;
    return code;
}

int tracking_file_set_static_data(struct tracking_file *file,
    const struct gput_static_data *static_data, struct gput_error *error)
{
    bool are_same = true;
    struct gput_static_data before = file->static_data;
    file->static_data = *static_data;
    for (size_t i = 0; i < TRACKING_STATIC_COLUMNS; i++) {
        struct tracking_value old = tracking_static_value(&before, i);
        struct tracking_value new = tracking_static_value(static_data, i);
        are_same &= old.kind == TRACKING_TEXT ? strcmp(old.text, new.text) == 0
                    : old.kind == TRACKING_REAL
                        ? old.real == new.real || (isnan(old.real) && isnan(new.real))
                        : old.integer == new.integer;
    }
    return file->format->put_static_data(file, are_same, error);
}

int tracking_file_write_row(struct tracking_file *file, const struct gput_sample *sample,
    int64_t now_ns, struct gput_error *error)
{
    return file->format->write_row(file, sample, now_ns, error);
}

void tracking_file_gather_rows(struct tracking_file *file)
{
    file->gathers_rows = true;
}

int tracking_file_flush(struct tracking_file *file, struct gput_error *error)
{
    return file->format->flush ? file->format->flush(file, error) : GPUT_OK;
}

uint64_t tracking_file_rows_lost(const struct tracking_file *file)
{
    return file->rows_lost;
}

int tracking_file_restore(
    struct tracking_file *file, enum file_fate *fate, struct gput_error *error)
{
    *fate = FILE_IN_PLACE;
    return file->format->restore(file, fate, error);
}

const char *tracking_file_path(const struct tracking_file *file)
{
    return file->path;
}

int tracking_file_finish(struct tracking_file *file, uint64_t *rows_lost, struct gput_error *error)
{
    if (!file)
        return GPUT_OK;
    int code = file->format->finish(file, error);
    if (rows_lost)
        *rows_lost = file->rows_lost;
    free(file->path);
    free(file);
    return code;
}

bool tracking_file_has_tables(const struct tracking_file *file)
{
    return file->format->has_tables;
}

int tracking_file_add_table(struct tracking_file *file, const char *name,
    const struct tracking_column *columns, size_t count, unsigned *table, struct gput_error *error)
{
    return file->format->add_table(file, name, columns, count, table, error);
}

int tracking_file_write_table_row(struct tracking_file *file, unsigned table,
    const struct tracking_value *values, int64_t now_ns, struct gput_error *error)
{
    return file->format->write_table_row(file, table, values, now_ns, error);
}
