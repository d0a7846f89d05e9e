#include "track/log_to.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/python_package.h"
#include "track/tracking.h"

#include <gputracker/results.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct python_module module = {"_log_to", "logs to trackers of experiments",
    "Install it there (pip install gputracker), or name a Python that has it",
    "Without it, run without --log-to."};

int log_to_begin(const char *target, struct html_report *html, struct gput_session_options *options,
    struct gput_error *error)
{
    const char *const arguments[] = {"check", target, NULL};
    CLEANUP_FREE char *nothing = NULL;
    size_t length;
    int choice;
    if (!target)
        return GPUT_OK;
    TRY(choice_read(OPTION_LOG_TO, target, "tracker of experiments", &choice, error));
    TRY(python_package_run(&module, arguments, NULL, 0, -1, &nothing, &length, error));
    return options->tracking_file ? GPUT_OK : html_report_keep_samples(html, options, error);
}

/* Warns that the session is not logged, and why. */
static void warn(const struct tracking *tracking, const struct gput_error *error, int stop_fd)
{
    char line[MESSAGE_LINE_SIZE];
    if (tracking->disable_logs)
        return;
    snprintf(
        line, sizeof line, "This session is not in %s: %.800s", tracking->log_to, error->message);
    message_warning_until(line, stop_fd);
}

void log_to_start(struct tracking *tracking)
{
    const char *const arguments[] = {tracking->log_to, tracking->options.tracking_file, NULL};
    struct gput_error error;
    if (!tracking->log_to)
        return;
    if (python_package_start(&module, arguments, &tracking->logger, &error) != GPUT_OK)
        warn(tracking, &error, SCREEN_WAITS);
}

/* Passes the report to Python; `*place` says where the session is then. */
static int log_session(struct tracking *tracking, const struct gput_results *results, int stop_fd,
    char **place, struct gput_error *error)
{
    CLEANUP_FREE char *json = NULL;
    size_t length, place_length;
    TRY(gput_results_render(results, NULL, GPUT_FORMAT_JSON, &json, &length, error));
    return python_package_finish(
        &tracking->logger, json, length, stop_fd, place, &place_length, error);
}

void log_to_write(struct tracking *tracking, const struct gput_results *results, int stop_fd)
{
    CLEANUP_FREE char *place = NULL;
    char line[MESSAGE_LINE_SIZE];
    struct gput_error error;
    if (tracking->logger.pid == 0)
        return;
    if (log_session(tracking, results, stop_fd, &place, &error) != GPUT_OK) {
        warn(tracking, &error, stop_fd);
    } else if (!tracking->disable_logs && !tracking->quiet) {
        snprintf(line, sizeof line, "logged to %.800s", place);
        line[strcspn(line, "\n")] = '\0';
        message_note_until(line, stop_fd);
    }
}
