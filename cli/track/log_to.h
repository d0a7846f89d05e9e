/*
 * Logs a session to a tracker of experiments, for --log-to: the Python package does that, in
 * another process. So a tracker that hangs delays neither samples nor the command.
 */
#pragma once

#include "track/html_report.h"

#include <gputracker/error.h>
#include <gputracker/session.h>

struct tracking;

/*
 * Before a session is created: whether Python has the package that `target` ("mlflow"; NULL:
 * nothing is logged) needs. Without a tracking file, samples go to the temporary one of `html`.
 * Errors: those of python_package_run() and of a temporary folder.
 */
int log_to_begin(const char *target, struct html_report *html, struct gput_session_options *options,
    struct gput_error *error);

/* Between the creation of a session and its beginning: curves are logged from then on. That they
 * cannot be is a warning. */
void log_to_start(struct tracking *tracking);

/* After the end of the session. A note says where it is; that it could not be logged is a warning.
 * Waits until `stop_fd` can be read, as messages do. */
void log_to_write(struct tracking *tracking, const struct gput_results *results, int stop_fd);
