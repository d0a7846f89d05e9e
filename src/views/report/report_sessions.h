/*
 * Loads the sessions of a plan into a payload: what reports and plots have in common.
 */
#pragma once

#include "views/report/document/report_payload.h"
#include "views/report/report_plan.h"

#include <stdbool.h>

/*
 * Adds the sessions to the list "sessions" of the document, which is there, and what compares them.
 * With `curves_only` without figures, statistics and comparison: what takes time and is not drawn.
 * Errors: those of the loaders, GPUT_ERROR_MEMORY.
 */
int report_sessions_add(struct report_payload *payload, const struct gput_report_options *options,
    const struct report_plan *plan, bool curves_only, struct gput_error *error);
