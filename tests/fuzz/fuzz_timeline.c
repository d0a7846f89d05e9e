/* Any bytes as a trace that is merged, and as events of a training framework. */
#include "files/trace/framework_events.h"

#include <gputracker/timeline.h>

#include "fuzz_file.h"

static int take(void *user, const struct framework_event *event, struct gput_error *error)
{
    (void)user;
    (void)error;
    return event->end_ns < event->start_ns ? GPUT_ERROR_STATE : GPUT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_SIZE], node[] = "node";
    int fd = fuzz_file(data, size, path);
    const char *const inputs[] = {path, path};
    struct gput_timeline_options options = gput_timeline_options_default();
    options.inputs = inputs;
    options.n_inputs = 2;
    options.output = "/dev/null";
    gput_timeline_merge(&options, NULL, NULL);
    struct trace_file file = {.kind = TRACE_FILE_EVENTS, .path = path, .node = node};
    struct read_report report = {0};
    if (framework_events_read(&file, take, NULL, &report, NULL) == GPUT_ERROR_STATE)
        __builtin_trap();
    close(fd);
    return 0;
}
