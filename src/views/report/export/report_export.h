/*
 * What a report shows, for other programs: the payload in other forms than the page's. One file a
 * form.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_bytes.h"
#include "views/report/document/report_payload.h"
#include "views/report/export/report_rows.h"

#include <gputracker/report.h>

/* How tables are written, each to a file of its own. */
struct report_table_format {
    const char *extension; /* ".csv" */
    /* Writes all rows. */
    int (*write)(
        struct report_rows *rows, report_receiver *receive, void *user, struct gput_error *error);
};

/* One of the two is there. */
struct report_export_format {
    /* Writes one file. */
    int (*write)(const struct report_payload *payload, report_receiver *receive, void *user,
        struct gput_error *error);
    const struct report_table_format *tables; /* or: a folder with a file for each table */
};

/* The files: as the member `write` above. */
int report_export_json(const struct report_payload *payload, report_receiver *receive, void *user,
    struct gput_error *error);
int report_export_speedscope(const struct report_payload *payload, report_receiver *receive,
    void *user, struct gput_error *error);
int report_export_collapsed(const struct report_payload *payload, report_receiver *receive,
    void *user, struct gput_error *error);
extern const struct report_table_format report_export_csv;

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
