/*
 * The files that a tracked session writes: the names that options give them, as they are in this
 * process, which is perhaps one of many ranks.
 */
#pragma once

#include "track/tracking.h"

/* Reads the options that name files, and gives each file its name: expands %r and %h, takes a free
 * name where other ranks write, too, and begins the spool. Errors: GPUT_ERROR_INVALID,
 * GPUT_ERROR_EXISTS, those of report_check_output(). */
int tracking_files_name(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error);

/* Where the samples are in the end; NULL: nowhere. */
const char *tracking_files_samples(const struct tracking *tracking);

/* For gput_session_options.do_without: one of many ranks does without what cannot be made, and says
 * so, since its command is to run. `user` is the struct tracking. */
bool tracking_files_do_without(void *user, const char *setting, const struct gput_error *reason);

/* gput_session_create() with the options of `tracking`. A tracking file that exists is an error
 * that names the option. One of many ranks takes a free name instead. */
int tracking_files_create_session(
    struct tracking *tracking, struct gput_session **session, struct gput_error *error);

/* Warns that the command runs without `what` ("--report") for that reason. */
void tracking_files_warn_without(
    struct tracking *tracking, const struct gput_error *reason, const char *what);

/* Appends the way out to a message that names a temporary file of the session, as that of --report
 * without --tf is. */
void tracking_files_explain(const struct tracking *tracking, char *message, size_t size);

/* Says which names one of many ranks gave what it writes. */
void tracking_files_say(struct tracking *tracking);

/* Where the report is moved to from the spool; NULL: it is not spooled. */
const char *tracking_files_place_of_report(const struct tracking *tracking);

/* Before reports are written: see outputs_settle(). */
void tracking_files_settle(struct tracking *tracking);

/* Writes a manifest next to what a session wrote, unless one of its files says whose it is: a
 * tracking file and a report in JSON do. Says so if it cannot, and waits for that as messages do.
 */
void tracking_files_write_manifest(
    const struct tracking *tracking, const struct gput_results *results, int stop_fd);

/* Moves spooled files to their places, when the session has been destroyed. False: one stays, and
 * a warning says where. */
bool tracking_files_deliver(struct tracking *tracking);
