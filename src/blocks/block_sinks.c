#include "blocks/block_sink.h"

static const struct block_sink_methods *const sinks[] = {
    [SUB_TRACKING_CSV] = &block_sink_csv,
    [SUB_TRACKING_SQLITE] = &block_sink_sqlite,
    [SUB_TRACKING_LOG] = &block_sink_log,
};

int block_sink_methods_find(
    const char *path, const struct block_sink_methods **methods, struct gput_error *error)
{
    enum sub_tracking_format format;
    TRY(sub_tracking_format_of(path, &format, error));
    *methods = sinks[format];
    return GPUT_OK;
}
