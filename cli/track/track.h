/*
 * Tracks one command, from the options to the exit status; shared by `run` and `-e`. Writes
 * reports, `attach`'s too.
 */
#pragma once

#include "options/arguments.h"
#include "track/report.h"
#include "track/tracking_files.h"

#include <stdbool.h>

/* The differences between the two forms. */
struct track_style {
    bool is_older_form; /* -e: the report of the older tool, and its warnings */
    bool announces;     /* say on the standard output that tracking is complete, with the status */
    bool explains_time; /* the report for people is that of `why` */
    bool quiet;         /* no report, but to a file that -o names */
    int screen_fd;      /* where the report goes without -o */
    int failed_status;  /* exit statuses for failures before the command ran */
    int not_executable_status;
    int not_found_status;
};

/* Tracks the command and prints the report. Returns the exit status; does not return when a signal
 * killed the command: gpu-tracker then dies of the same signal. */
int track_command(
    const struct arguments *arguments, char *const argv[], const struct track_style *style);

/* What is left of a session, also of one that was attached to: the report where -o says, or on the
 * screen unless `quiet`; there the summary too, where --summary asks for it next to a file; and the
 * page of --report. */
int track_write_reports(struct gput_session *session, const struct tracking *tracking,
    const struct report *report, const struct gput_results *results, bool quiet,
    struct gput_error *error);
