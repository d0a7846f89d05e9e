/*
 * Two traces, or two runs with all their ranks, side by side: what there is more or less of, by
 * category and name.
 */
#pragma once

#include "base/table.h"
#include "files/trace/read_report.h"

#include <gputracker/profile.h>

/* options->paths are two files or folders. */
int kineto_diff(const struct gput_kineto_options *options, struct gput_tables *tables,
    struct read_report *report, struct gput_error *error);
