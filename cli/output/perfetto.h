/*
 * Sessions in Perfetto's viewer: report --perfetto.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/report.h>

/* Merges the sessions and sub-tracking files of the options to a timeline, prints the address to
 * open, and waits until it was fetched or a signal came. Errors: those of gput_timeline_merge() and
 * gput_perfetto_create(). */
int perfetto_serve(const struct arguments *arguments, const struct gput_report_options *options,
    struct gput_error *error);
