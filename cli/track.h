/*
 * Tracks one command, from the options to the exit status; shared by `run` and `-e`.
 */
#pragma once

#include "arguments.h"

#include <stdbool.h>

/* The differences between the two forms. */
struct track_style {
    bool is_older_form; /* -e: the report of the older tool, and its warnings */
    bool announces;     /* say on the standard output that tracking is complete, with the status */
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
