/*
 * The sink that keeps metrics in a folder that many sessions share, for node_exporter's textfile
 * collector: each has a file of its own, whose metrics have the session as a label. What is the
 * machine's is not in it, for then every session would have it. Files of sessions that have ended
 * stay for a while, to be read once more; the next session removes them.
 */
#include "base/clock.h"
#include "base/text.h"
#include "machine/os/procfs.h"
#include "session/sinks/sink.h"
#include "views/output/labels.h"
#include "views/output/prometheus.h"

#include <gputracker/file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_BEGIN "gpu-tracker-"
#define FILE_END ".prom"
#define INTERVAL_NS (15 * NS_PER_SECOND)
/* Far longer than a session goes without writing its file, or a collector without reading it. */
#define STALE_SECONDS 600

/* The writer's. */
struct textfile_output {
    char *folder, *labels; /* owned */
    bool has_warned, has_file, pids_are_inner;
};

struct textfile_sink {
    struct sink sink;
    int64_t next_ns; /* monotonic clock; 0: at once */
};

/* ---- the writer's thread ---- */

/* Writes the metrics to the session's file in the folder. */
static int write_file(const struct textfile_output *output, const struct gput_results *results,
    struct gput_error *error)
{
    struct str text = {0}, labels = {0};
    char session[128], name[128], path[PATH_MAX];
    session_labels_name(&results->identity, output->pids_are_inner, session, sizeof session);
    /* The name of a host has no separators of paths or labels, but may be set to anything. */
    for (char *at = session; *at; at++)
        *at = strchr("/,=", *at) ? '_' : *at;
    text_fit(name, sizeof name, "%s", session);
    for (char *at = name; *at; at++)
        *at = strchr(":@", *at) ? '-' : *at;
    str_printf(&labels, "session=%s", session);
    if (output->labels) /* the user's go before ours */
        str_printf(&labels, ",%s", output->labels);
    prometheus_write_command(results, str_text(&labels), &text);
    text_fit(path, sizeof path, "%s/" FILE_BEGIN "%s" FILE_END, output->folder, name);
    int code = text.failed || labels.failed
                   ? error_memory(error)
                   : gput_file_write(path, str_text(&text), text.length, error);
    str_finish(&text);
    str_finish(&labels);
    return code;
}

/* Writes the file. Before the first time, removes files that killed trackers left. */
static void keep(
    struct sink_writer *writer, struct textfile_output *output, const struct gput_results *results)
{
    struct gput_error error;
    if (!output->has_file) {
        DIR *entries = opendir(output->folder);
        struct dirent *entry;
        struct stat info;
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        while (entries && (entry = readdir(entries))) {
            if (text_begins_with(entry->d_name, FILE_BEGIN) &&
                text_ends_with(entry->d_name, FILE_END) &&
                fstatat(dirfd(entries), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISREG(info.st_mode) && now.tv_sec - info.st_mtim.tv_sec > STALE_SECONDS)
                unlinkat(dirfd(entries), entry->d_name, 0);
        }
        if (entries)
            closedir(entries);
    }
    output->has_file = true;
    if (write_file(output, results, &error) == GPUT_OK || output->has_warned)
        return;
    sink_writer_warn(
        writer, "%s. Metrics are not in that folder; tracking goes on.", error.message);
    output->has_warned = true;
}

static void write_item(struct sink_writer *writer, void *user, void *item)
{
    struct gput_results **results = item;
    keep(writer, user, *results);
    gput_results_destroy(*results);
}

/* The figures of the end stay in the file. */
static void end_output(struct sink_writer *writer, void *user, const struct sink_end *end)
{
    struct textfile_output *output = user;
    if (end->results && !end->is_unused)
        keep(writer, output, end->results);
    free(output->folder);
    free(output->labels);
    free(output);
}

/* ---- the session's side ---- */

/* Checks that the folder exists and can be written. */
static int check(const char *folder, struct gput_error *error)
{
    struct stat info;
    if (stat(folder, &info) != 0)
        return error_set_errno(error, errno, "%.400s", folder);
    if (!S_ISDIR(info.st_mode))
        return error_set(error, GPUT_ERROR_INVALID, "%.400s is not a folder.", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return error_set_errno(error, errno, "%.400s", folder);
    return GPUT_OK;
}

/* Checks the options and creates what the writer's thread uses. */
static int open_output(struct sink *sink, struct gput_error *error)
{
    const char *given = sink->settings->options.labels;
    struct labels labels = {0};
    int code = check(sink->option, error);
    if (code == GPUT_OK)
        code = labels_add_list(&labels, given, LABELS_OF_PROMETHEUS, error);
    labels_finish(&labels);
    if (code != GPUT_OK)
        return code;
    struct textfile_output *output = calloc(1, sizeof *output);
    char *folder = realpath(sink->option, NULL); /* the program may change its directory */
    if (output && given)
        output->labels = strdup(given);
    if (!output || !folder || (given && !output->labels)) {
        free(folder);
        free(output);
        return error_memory(error);
    }
    output->folder = folder;
    output->pids_are_inner = procfs_is_inner(sink->settings->options.procfs_root);
    sink_writer_set_output(sink->writer, output);
    return GPUT_OK;
}

/* Hands a copy of the results to the writer's thread every few seconds. */
static void take_results(struct sink *sink, const struct gput_results *results)
{
    struct textfile_sink *textfile = (struct textfile_sink *)sink;
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns < textfile->next_ns)
        return;
    textfile->next_ns = now_ns + INTERVAL_NS;
    struct gput_results *item = calloc(1, sizeof *item);
    if (!item || results_copy(item, results) != GPUT_OK || !sink_put(sink, &item))
        gput_results_destroy(item);
}

static const struct sink_writer_job job = {
    .item_size = sizeof(struct gput_results *),
    .max_items = 2,
    .timeout_seconds = 5,
    .write = write_item,
    .end = end_output,
};

const struct sink_class sink_textfile = {
    .name = "folder of metrics",
    .size = sizeof(struct textfile_sink),
    .option = offsetof(struct gput_session_options, textfile_folder),
    .job = &job,
    .open = open_output,
    .results = take_results,
};
