/*
 * The sink that is the caller's function: gput_session_options.sample.
 */
#include "session/sink.h"

static bool is_wanted(const struct gput_session_options *options)
{
    return options->sample != NULL;
}

static void sample(struct sink *sink, const struct snapshot *snapshot)
{
    const struct gput_session_options *options = &sink->settings->options;
    options->sample(options->user, &snapshot->sample);
}

static void close_callback(struct sink *sink, const struct sink_end *end)
{
    (void)sink;
    (void)end;
}

const struct sink_class sink_callback = {
    .size = sizeof(struct sink),
    .is_wanted = is_wanted,
    .sample = sample,
    .close = close_callback,
};
