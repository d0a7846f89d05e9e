/*
 * What code blocks used: a row a block, from the analysis of the session, or from the calls alone
 * where there are no samples.
 */
#pragma once

#include "analysis/analyze/call_table.h"
#include "base/error.h"
#include "base/names.h"
#include "views/report/document/report_session.h"

/* Adds them to the session. `names`: by which they are called. Where the analysis fails, it is
 * warned of. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_blocks_add(struct report_session *session, const char *marks, const struct names *names,
    const struct call_table *calls, struct gput_error *error);
