/*
 * The sink that is the caller's function: gput_session_options.sample.
 */
#include "session/sinks/sink.h"

static bool is_wanted(const struct gput_session_options *options)
{
    return options->sample != NULL;
}

static void sample(struct sink *sink, const struct snapshot *snapshot)
{
    const struct gput_session_options *options = &sink->settings->options;
    options->sample(options->user, &snapshot->sample);
}

const struct sink_class sink_callback = {
    .name = "caller's function",
    .size = sizeof(struct sink),
    .is_wanted = is_wanted,
    .sample = sample,
};
