/*
 * Writing tables: which of them, in which form, where to.
 */
#pragma once

#include "base/file.h"
#include "options/arguments.h"

#include <gputracker/error.h>
#include <gputracker/report.h>
#include <gputracker/table.h>

/* Reads --format: text, json or csv; without it, the extension of --output decides. Errors:
 * GPUT_ERROR_INVALID. */
int tables_read_format(
    const struct arguments *arguments, enum gput_format *format, struct gput_error *error);

/* Writes tables as --table, --format and --output say. */
int tables_write(
    const struct arguments *arguments, struct gput_tables *tables, struct gput_error *error);

/* The same of tables that come in parts; see gput_profile_options.receive. All zeroes at first. */
struct tables_stream {
    const struct arguments *arguments;
    struct gput_table_writer *writer; /* NULL: no part has come */
    struct file_writing file;         /* without a path: the standard output */
};

int tables_stream_write(struct tables_stream *stream, const struct gput_tables *tables,
    const struct gput_table *part, struct gput_error *error);

/* After the last part. Nothing where none came. */
int tables_stream_end(struct tables_stream *stream, struct gput_error *error);

/* In any case, at last: what was not ended leaves no file. */
void tables_stream_finish(struct tables_stream *stream);

/*
 * Tables as Parquet and Arrow files. The Python package writes them by pyarrow: the command has no
 * library for them, and whoever reads such files has one.
 */

/*
 * Replaces this process by Python, which writes the tables of a report as "parquet" or "arrow": to
 * the folder `path`, or, if its name ends in the format, the samples to that file.
 *
 * Returns only if that fails. Errors: GPUT_ERROR_NOT_FOUND (no Python), GPUT_ERROR_INVALID (tables
 * to the standard output), GPUT_ERROR_MEMORY.
 */
int table_files_execute(const struct gput_report_options *options, const char *format,
    const char *path, struct gput_error *error);
