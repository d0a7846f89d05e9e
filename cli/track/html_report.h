/*
 * The HTML report that --report asks for at the end of a session.
 */
#pragma once

#include "common/temporary_folder.h"
#include "track/report.h"

#include <gputracker/session.h>

#include <stdbool.h>

struct html_report {
    const char *path;               /* NULL: none is wanted */
    const char *samples;            /* the tracking file */
    struct temporary_folder folder; /* of a temporary tracking file */
    char *temporary;                /* that file; NULL: one was named; owned */
};

#define HTML_REPORT_FORMAT_SIZE 16

/* The format of gpu-tracker report that the ending of the file says, in either case: "parquet" of
 * "x.Parquet". False: none. */
bool html_report_format_of_ending(const char *path, char format[HTML_REPORT_FORMAT_SIZE]);

/* Refuses a name with the ending of a picture, a tracking file or another kind of file (.txt).
 * Errors: GPUT_ERROR_INVALID. */
int html_report_check_ending(const char *path, struct gput_error *error);

/* What is written must be a page. Errors: GPUT_ERROR_UNSUPPORTED (this build has none, or the
 * file's ending is of another format). */
int html_report_check(const char *path, struct gput_error *error);

/*
 * Before a session is created: checks that a report can be written to `path` (NULL: none is
 * wanted) unless that `is_tried_at_end`, and makes the options those that it needs. To be ended by
 * html_report_finish(), also on failure. Errors: those of file_check(), those of
 * html_report_check(), GPUT_ERROR_INVALID (the file is the tracking file), and those of a temporary
 * folder.
 */
int html_report_begin(struct html_report *html, const char *path, bool is_tried_at_end,
    struct gput_session_options *options, struct gput_error *error);

/* Has a session without a tracking file keep its samples in a temporary one, for what is made of
 * them at its end. Errors: those of a temporary folder, GPUT_ERROR_MEMORY. */
int html_report_keep_samples(
    struct html_report *html, struct gput_session_options *options, struct gput_error *error);

/* After the end of the session; nothing where no report is wanted. Waits for a reader as `report`
 * does. */
int html_report_write(const struct html_report *html, const struct report *report,
    struct gput_session *session, const struct gput_results *results, struct gput_error *error);

/* Removes the temporary files. */
void html_report_finish(struct html_report *html);
