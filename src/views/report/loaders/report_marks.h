/*
 * The calls of code blocks in sub-tracking files, and what the blocks used.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_session.h"

#include <stddef.h>

/*
 * Adds the calls in the files to the session and, where the session has a tracking file, the
 * statistics of the blocks. Calls before and after the session are skipped, with a warning.
 * Errors: those of gput_recorded_calls().
 */
int report_marks_add(
    struct report_session *session, char *const *paths, size_t count, struct gput_error *error);
