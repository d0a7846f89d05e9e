/*
 * The kinds of files and folders that a report can show: one loader a kind, one file each.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_session.h"

#include <stdbool.h>

struct report_loader {
    const char *kind; /* "tracking", as the document has it */
    /* Opens a file or folder to see whether it is of this kind. Returns GPUT_OK if it is, else the
     * reason. */
    int (*probe)(const char *path, bool is_folder, struct gput_error *error);
    /* Adds what is at session->path to the session. */
    int (*load)(struct report_session *session, struct gput_error *error);
};

extern const struct report_loader report_tracking_loader;
extern const struct report_loader report_marks_loader;
extern const struct report_loader report_results_loader;
extern const struct report_loader report_power_loader;
extern const struct report_loader report_profile_loader;
extern const struct report_loader report_python_loader;
extern const struct report_loader report_trace_loader;

/* Reads the results of a session. Errors: those of gput_results_load(). */
int report_results_read(struct report_session *session, const char *path, struct gput_error *error);

/* The loader for what is there. Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION,
 * GPUT_ERROR_FORMAT (of no kind). */
int report_loader_of(
    const char *path, const struct report_loader **loader, struct gput_error *error);
