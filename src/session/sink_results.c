/*
 * The sink that keeps results so far in a file, which remains if the tracker is killed.
 */
#include "formats/results/results_file.h"
#include "session/sink.h"

struct results_sink {
    struct sink sink;
    struct results_file *file; /* NULL: none is kept */
    bool has_baseline;
};

static bool is_wanted(const struct gput_session_options *options)
{
    (void)options;
    return true;
}

/* "Not found" and "permission denied" are for commands alone. */
static int create_file(struct sink *sink, struct gput_error *error)
{
    struct results_sink *results = (struct results_sink *)sink;
    const char *path = sink->settings->options.resource_usage_file;
    bool is_kept = sink->settings->mode != SESSION_MACHINE || path;
    if (!is_kept || results->file)
        return GPUT_OK;
    int code = results_file_create(path, &results->file, error);
    if (code != GPUT_ERROR_NOT_FOUND && code != GPUT_ERROR_PERMISSION)
        return code;
    if (error)
        error->code = GPUT_ERROR_IO;
    return GPUT_ERROR_IO;
}

/* On disk from the first tick on: a shorter session needs no file. */
static void keep(struct sink *sink, const struct gput_results *so_far)
{
    struct results_sink *results = (struct results_sink *)sink;
    if (results->has_baseline)
        results_file_update(results->file, so_far);
    results->has_baseline = true;
}

static void close_file(struct sink *sink, const struct sink_end *end)
{
    struct results_sink *results = (struct results_sink *)sink;
    if (end->is_abandoned)
        results_file_close(results->file);
    else
        results_file_remove(results->file);
}

const struct sink_class sink_results = {
    .size = sizeof(struct results_sink),
    .is_wanted = is_wanted,
    .begin = create_file,
    .results = keep,
    .close = close_file,
};
