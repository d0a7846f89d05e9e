/*
 * The sub-tracking files that the processes of a session wrote while it ran.
 */
#pragma once

#include "base/error.h"
#include "report/document/report_session.h"

/*
 * Adds the marks of files with the names that `pattern` (as of gput_blocks_open()) gives each of
 * the session's processes, where they are there and were written since that process started. A file
 * that cannot be read is warned of and left out. Errors: GPUT_ERROR_MEMORY.
 */
int report_found_marks_add(
    struct report_session *session, const char *pattern, struct gput_error *error);
