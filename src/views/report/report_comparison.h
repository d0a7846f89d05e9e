/*
 * Several sessions side by side: the mean and the highest of each measurement, for the whole
 * sessions and for their code blocks, with the change from the first session.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_session.h"

#include <gputracker/comparison.h>

/* Adds the analysis of a session, where it has one, to a comparison. Errors: GPUT_ERROR_MEMORY. */
int report_comparison_add(
    struct gput_comparison *comparison, struct report_session *session, struct gput_error *error);

/* Adds the tables to the document, where there are two sessions or more. What cannot be compared is
 * warned of. Errors: GPUT_ERROR_MEMORY. */
int report_comparison_end(struct gput_comparison *comparison, struct report_payload *payload,
    const struct gput_report_options *options, struct gput_error *error);
