#include "analysis/blocks/block_writer.h"

static const struct block_writer_methods *const writers[] = {
    [SUB_TRACKING_CSV] = &block_writer_csv,
    [SUB_TRACKING_SQLITE] = &block_writer_sqlite,
    [SUB_TRACKING_LOG] = &block_writer_log,
};

int block_writer_methods_find(
    const char *path, const struct block_writer_methods **methods, struct gput_error *error)
{
    enum sub_tracking_format format;
    TRY(sub_tracking_format_of(path, &format, error));
    *methods = writers[format];
    return GPUT_OK;
}
