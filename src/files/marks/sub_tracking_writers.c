#include "files/marks/sub_tracking_writer.h"

#include "base/clock.h"
#include "files/marks/sub_tracking_columns.h"

#include <gputracker/sub_tracking.h>

static const struct sub_tracking_writer_methods *const writers[] = {
    [SUB_TRACKING_CSV] = &sub_tracking_csv_writer,
    [SUB_TRACKING_SQLITE] = &sub_tracking_sqlite_writer,
    [SUB_TRACKING_LOG] = &sub_tracking_log_writer,
};

int sub_tracking_writer_methods_find(
    const char *path, const struct sub_tracking_writer_methods **methods, struct gput_error *error)
{
    enum sub_tracking_format format;
    TRY(sub_tracking_format_of(path, &format, error));
    *methods = writers[format];
    return GPUT_OK;
}

int sub_tracking_writer_create(const char *path, unsigned columns,
    struct sub_tracking_writer **writer, struct gput_error *error)
{
    const struct sub_tracking_writer_methods *methods;
    *writer = NULL;
    TRY(sub_tracking_writer_methods_find(path, &methods, error));
    return sub_tracking_writer_begin(path, methods, columns, writer, error);
}

int sub_tracking_reader_pass(struct sub_tracking_reader *reader, struct sub_tracking_writer *writer,
    unsigned cores, size_t *count, struct gput_error *error)
{
    *count = 0;
    if (cores < 2 || !writer->methods->pass)
        return GPUT_OK;
    return writer->methods->pass(writer, reader, cores, count, error);
}

int gput_sub_tracking_mark(const char *path, int64_t process_id, const char *name,
    enum gput_block_position position, struct gput_error *error)
{
    struct sub_tracking_mark row = {
        .process_id = process_id,
        .position = position == GPUT_BLOCK_STOP ? SUB_TRACKING_STOP : SUB_TRACKING_START,
        .timestamp_ns = clock_realtime_ns(),
    };
    sub_tracking_mark_clear_figures(&row);
    row.timestamp = sub_tracking_seconds_of_ns(row.timestamp_ns);
    const struct sub_tracking_writer_methods *methods;
    TRY(sub_tracking_writer_methods_find(path, &methods, error));
    if (!methods->append)
        return error_set(error, GPUT_ERROR_INVALID,
            "Cannot add a mark to %s: such a log belongs to the program that writes it. Use a .csv "
            "or .sqlite file.",
            path);
    return methods->append(path, name, &row, error);
}
