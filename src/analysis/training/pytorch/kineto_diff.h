/*
 * Compares two traces, or two runs with all their ranks, by category and name of their events.
 */
#pragma once

#include "base/table.h"
#include "files/trace/read_report.h"

#include <gputracker/profile.h>

/* options->paths are two files or folders. */
int kineto_diff(const struct gput_kineto_options *options, struct gput_tables *tables,
    struct read_report *report, struct gput_error *error);
