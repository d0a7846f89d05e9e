/*
 * The analysis of a session with samples: statistics of the whole session and of its code blocks.
 */
#pragma once

#include "analysis/analyze/call_table.h"
#include "base/error.h"
#include "base/names.h"
#include "views/report/document/report_session.h"

/* Sets session->analysis, from its tracking file and, unless NULL, a sub-tracking file. It stays
 * NULL, with a warning, where the files do not allow it, and where there are no samples.
 * Errors: GPUT_ERROR_MEMORY. */
int report_analysis_make(
    struct report_session *session, const char *marks, struct gput_error *error);

/* When calls may be of a session, by its samples and what it says of its start and end; infinite
 * where it says nothing, or did not finish. */
struct call_window report_analysis_window(const struct report_session *session);

/* From the unit that a tracking file has of a measurement to the base unit. */
double report_analysis_factor(const struct gput_static_data *data, const char *measurement);

/* Adds them to the session. `names`: by which they are called. Where the analysis fails, it is
 * warned of. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_blocks_add(struct report_session *session, const char *marks, const struct names *names,
    const struct call_table *calls, struct gput_error *error);
