#include "output/perfetto.h"

#include "base/error.h"
#include "common/environment.h"
#include "common/screen.h"
#include "common/temporary_folder.h"
#include "track/signals.h"

#include <gputracker/perfetto.h>
#include <gputracker/timeline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/timeline.json"

static int merge(
    const struct gput_report_options *sessions, const char *path, struct gput_error *error)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    const char **inputs =
        calloc(sessions->n_sessions + sessions->n_sub_tracking_files + 1, sizeof *inputs);
    if (!inputs)
        return error_memory(error);
    for (size_t i = 0; i < sessions->n_sessions; i++)
        inputs[i] = sessions->sessions[i]->path;
    for (size_t i = 0; i < sessions->n_sub_tracking_files; i++)
        inputs[sessions->n_sessions + i] = sessions->sub_tracking_files[i];
    options.inputs = inputs;
    options.n_inputs = sessions->n_sessions + sessions->n_sub_tracking_files;
    options.output = path;
    options.warn = sessions->warn;
    options.progress = sessions->progress;
    options.user = sessions->user;
    int code = gput_timeline_merge(&options, NULL, error);
    free(inputs);
    return code;
}

/* Where the browser is on another machine, ssh brings the port there. A signal ends waiting for a
 * reader. */
static void say_url(const char *url, const struct signals *signals)
{
    char host[256] = "HOST", line[512];
    int length = snprintf(line, sizeof line, "%s\n", url);
    screen_write(STDOUT_FILENO, line, (size_t)length, signals->fd);
    if (!getenv("SSH_CONNECTION"))
        return;
    gethostname(host, sizeof host - 1);
    length = snprintf(line, sizeof line,
        "For a browser on another machine, there: ssh -L 9001:127.0.0.1:9001 %s\n", host);
    screen_write(STDERR_FILENO, line, (size_t)length, signals->fd);
}

static int serve(const char *path, struct gput_error *error)
{
    struct gput_perfetto *perfetto;
    struct signals signals;
    int code = gput_perfetto_create(path, getenv("GPUT_PERFETTO_ADDRESS"), &perfetto, error);
    if (code != GPUT_OK)
        return code;
    code = signals_catch(&signals, error);
    if (code == GPUT_OK) {
        signals_receive(&signals);
        say_url(gput_perfetto_url(perfetto), &signals);
        code = gput_perfetto_wait(perfetto, signals.fd, error);
        signals_close_stop(signals_release(&signals, NULL));
    }
    gput_perfetto_destroy(perfetto);
    return code;
}

/* Where the timeline goes without -o. */
static int make_temporary(struct temporary_folder *folder, char **path, struct gput_error *error)
{
    TRY(temporary_folder_make(
        folder, environment_path("TMPDIR"), "the timeline of --perfetto without -o", error));
    *path = malloc(strlen(folder->path) + sizeof FILE_NAME);
    if (!*path)
        return error_memory(error);
    sprintf(*path, "%s" FILE_NAME, folder->path);
    return GPUT_OK;
}

int perfetto_serve(const struct arguments *arguments, const struct gput_report_options *options,
    struct gput_error *error)
{
    struct temporary_folder folder = {0};
    const char *path = arguments_value(arguments, OPTION_REPORT_OUTPUT);
    char *temporary = NULL;
    int code = path ? GPUT_OK : make_temporary(&folder, &temporary, error);
    path = path ? path : temporary;
    if (code == GPUT_OK)
        code = merge(options, path, error);
    if (code == GPUT_OK)
        code = serve(path, error);
    free(temporary);
    temporary_folder_remove(&folder);
    return code;
}
