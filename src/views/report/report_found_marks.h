/*
 * The sub-tracking files that the processes of a session wrote while it ran.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_session.h"

/*
 * Adds the marks of the session's processes. `pattern` (as of gput_blocks_open()) gives each
 * process the name of its file. Files that were not written since that process started are of
 * others. A file that cannot be read is skipped with a warning. Errors: GPUT_ERROR_MEMORY.
 */
int report_found_marks_add(
    struct report_session *session, const char *pattern, struct gput_error *error);
