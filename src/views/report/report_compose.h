/*
 * Loads the sessions of a report, and hands them on to what writes them.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_payload.h"

#include <gputracker/report.h>

typedef int report_writer(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error);

/* `folder` is for temporary files. Errors: those of gput_report_write() that come of what is
 * read, and those of the writer. */
int report_compose(const struct gput_report_options *options, const char *folder,
    report_writer *writer, void *user, struct gput_error *error);
