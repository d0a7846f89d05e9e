#include "files/marks/sub_tracking_writer.h"

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
