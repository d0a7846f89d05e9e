/*
 * What a session needed, figure by figure, with bounds and limits; where the figures come from, and
 * which are missing; the summary and advice.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_session.h"

/* Adds all of it to the session, from its results where they are known, else from its samples.
 * Errors: GPUT_ERROR_MEMORY. */
int report_cards_add(struct report_session *session, struct gput_error *error);
