/*
 * The sink that keeps results so far in a file, which remains if the tracker is killed.
 */
#include "files/results/results_codec.h"
#include "files/results/results_file.h"
#include "session/sinks/sink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct results_sink {
    struct sink sink;
    bool has_file;
    char *path;       /* absolute; owned; NULL: no memory, or no file */
    uint64_t updates; /* with that of the baseline, which is not written */
};

static bool is_wanted(const struct gput_session_options *options)
{
    const char *path = options->resource_usage_file;
    return !path || path[0] != '\0';
}

/* "Not found" and "permission denied" are for commands alone. */
static int create_file(struct sink *sink, struct gput_error *error)
{
    struct results_sink *results = (struct results_sink *)sink;
    struct results_file *file;
    bool is_kept = sink->settings->mode != SESSION_MACHINE || sink->option;
    if (!is_kept || results->has_file)
        return GPUT_OK;
    int code = results_file_create(sink->option, &file, error);
    if (code == GPUT_OK)
        sink_writer_set_output(sink->writer, file);
    results->has_file = code == GPUT_OK;
    if (results->has_file)
        results->path = strdup(results_file_path(file));
    if (code != GPUT_ERROR_NOT_FOUND && code != GPUT_ERROR_PERMISSION)
        return code;
    if (error)
        error->code = GPUT_ERROR_IO;
    return GPUT_ERROR_IO;
}

/* On disk from the first tick on: a shorter session needs no file. Encoded here, where the results
 * were just made: they are in the caches. */
static void keep(struct sink *sink, const struct gput_results *so_far)
{
    struct results_sink *results = (struct results_sink *)sink;
    struct str copy = {0};
    if (results->updates++ == 0 || !results->has_file)
        return;
    results_encode(so_far, results->updates, &copy);
    if (!sink_put(sink, &copy))
        str_finish(&copy);
}

static void finish(struct sink *sink)
{
    free(((struct results_sink *)sink)->path);
}

static void remove_left(const struct sink *sink)
{
    const struct results_sink *results = (const struct results_sink *)sink;
    if (results->path)
        unlink(results->path);
}

/* ---- the writer's thread ---- */

static void update(struct sink_writer *writer, void *file, void *item)
{
    (void)writer;
    results_file_write(file, item);
    str_finish(item);
}

/* Removes the file after a regular end; it stays if the session was abandoned. */
static void end_file(struct sink_writer *writer, void *file, const struct sink_end *end)
{
    (void)writer;
    if (end->is_abandoned || end->results_stay)
        results_file_close(file);
    else
        results_file_remove(file);
}

/* Older results are of no use once newer ones wait. */
static const struct sink_writer_job job = {
    .item_size = sizeof(struct str),
    .max_items = 4,
    .timeout_seconds = SINK_TIMEOUT_SECONDS,
    .write = update,
    .end = end_file,
};

const struct sink_class sink_results = {
    .name = "resource usage file",
    .size = sizeof(struct results_sink),
    .option = offsetof(struct gput_session_options, resource_usage_file),
    .is_wanted = is_wanted,
    .job = &job,
    .begin = create_file,
    .results = keep,
    .remove_left = remove_left,
    .finish = finish,
};
