/* Any bytes as readings of a system. */
#include "files/trace/system_metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *user, const struct system_reading *reading, struct gput_error *error)
{
    (void)user;
    (void)reading;
    (void)error;
    return GPUT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct byte_source *source;
    struct read_report report = {0};
    if (byte_source_open_memory(data, size, &source, NULL) == GPUT_OK)
        system_metrics_read_source(source, "fuzz", take, NULL, &report, NULL);
    return 0;
}
