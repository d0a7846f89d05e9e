/*
 * The HTML file of a report: the page that the build embeds, with a title and a payload in it.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_payload.h"

#include <stdbool.h>

/* The path that stands for the standard output. */
#define REPORT_STDOUT "-"

/* What a build without the page says. */
#define REPORT_HTML_REMEDY                                                                         \
    "This build of gpu-tracker has no report. Build it where Node.js 18 and npm are (Debian: "     \
    "apt-get install npm), or from a released archive, which has the page of reports."

/* Whether the build has the page (web/dist/report.html). */
bool report_html_is_built_in(void);

/* Whether report_html_write() has a page: `page`, a file, or NULL for the one that is built in.
 * Errors: GPUT_ERROR_UNSUPPORTED (none is built in), and those of opening the file. */
int report_html_check(const char *page, struct gput_error *error);

/*
 * Writes the file: whole or not at all; of a pipe, until `stop_fd` is readable (-1: waits for
 * ever). Errors: those of report_html_check(), report_html_fill(),
 * file_write_atomic() and report_payload_pass().
 */
int report_html_write(const struct report_payload *payload, const char *title, const char *page,
    const char *path, int stop_fd, struct gput_error *error);

/* Fills the page `page`, a terminated text: both marks, <!--gput-title--> and
 * <!--gput-data-->, are replaced where they first are. Errors: also GPUT_ERROR_FORMAT without the
 * second one. */
int report_html_fill(const struct report_payload *payload, const char *page, const char *title,
    report_receiver *receive, void *user, struct gput_error *error);
