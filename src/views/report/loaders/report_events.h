/*
 * The events of a timeline in a report: slices as calls, counters as curves.
 */
#pragma once

#include "analysis/timeline/timeline_inputs.h"
#include "base/error.h"
#include "views/report/document/report_session.h"

typedef int report_events_source(
    struct timeline_inputs *inputs, const char *path, struct gput_error *error);

/* Reads session->path by `add` and adds all of its events, in order of time, to the session. Memory
 * is bounded. Errors: those of `add`, GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_events_add(
    struct report_session *session, report_events_source *add, struct gput_error *error);
