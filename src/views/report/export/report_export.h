/*
 * What a report shows, for other programs: the payload in other forms than the page's.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_payload.h"

#include <gputracker/report.h>

/*
 * Writes the payload to `path`: a file, "-", or for tables a folder, which is made unless it is
 * there. Each file appears complete or not at all. Errors: GPUT_ERROR_INVALID (a format of several
 * tables for the standard output), GPUT_ERROR_NOT_FOUND (no calls for stacks), and those of
 * writing.
 */
int report_export_write(const struct report_payload *payload, enum gput_report_format format,
    const char *path, struct gput_error *error);

/* Whether it makes a folder of tables. */
bool report_export_is_folder(enum gput_report_format format);

/* Before anything is read: whether it can be written there. */
int report_export_check(enum gput_report_format format, const char *path, struct gput_error *error);
