/*
 * Tables as Parquet and Arrow files. The Python package writes them by pyarrow: the command has no
 * library for them, and whoever reads such files has one.
 */
#pragma once

#include <gputracker/error.h>
#include <gputracker/report.h>

/*
 * Replaces this process by Python, which writes the tables of a report as "parquet" or "arrow": to
 * the folder `path`, or, if its name ends in the format, the samples to that file.
 *
 * Returns only if that fails. Errors: GPUT_ERROR_NOT_FOUND (no Python), GPUT_ERROR_INVALID (tables
 * to the standard output), GPUT_ERROR_MEMORY.
 */
int table_files_execute(const struct gput_report_options *options, const char *format,
    const char *path, struct gput_error *error);
