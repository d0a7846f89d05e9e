/*
 * Calls as columns, in order of their starts: of code blocks, or slices of a trace.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "views/report/document/report_session.h"

#include <stddef.h>
#include <stdint.h>

/* Deeper ones are all drawn in the last lane. */
#define REPORT_MAX_DEPTH 1000

struct report_track {
    double *ends; /* of the last call in each lane; owned */
    uint32_t count;
};

struct report_lanes {
    struct report_track *tracks; /* owned */
    size_t count;
};

#define REPORT_NO_DEPTH UINT32_MAX

/* An empty set is all zeroes. */

/* The depth of a call, from 0. Calls of a track must come in order of their starts, of equal starts
 * the longer first. REPORT_NO_DEPTH without memory. */
uint32_t report_lanes_add(struct report_lanes *lanes, size_t track, double start, double stop);

void report_lanes_finish(struct report_lanes *lanes);

enum {
    REPORT_CALL_START,
    REPORT_CALL_STOP,
    REPORT_CALL_MOMENTS, /* each start and its stop, one after the other */
    REPORT_CALL_NAME,
    REPORT_CALL_PROCESS,
    REPORT_CALL_THREAD,
    REPORT_CALL_LINK,
    REPORT_CALL_DEPTH,
    REPORT_CALL_COLUMNS
};

struct report_calls {
    struct report_session *session;
    struct names names;     /* of what is called */
    struct names processes; /* their labels */
    struct report_lanes lanes;
    struct report_column columns[REPORT_CALL_COLUMNS];
    bool has_links;
    struct doc *doc; /* what report_calls_end() added, or NULL */
};

void report_calls_init(struct report_calls *calls, struct report_session *session);

/* What times are multiples of, in seconds, unless REPORT_STEP_CALL; before the first call. */
void report_calls_set_step(struct report_calls *calls, double step);

struct report_call {
    uint32_t name, process; /* in the names and processes above */
    int64_t thread;
    size_t track;       /* numbers threads, of all processes, from 0 */
    double start, stop; /* seconds of the session, whose start is known; infinity: not ended */
    int64_t link;       /* the same for a launch and what it launched; 0: none is known */
};

/*
 * Adds a call. They come in order of their starts, of equal starts the longer first. Errors:
 * GPUT_ERROR_MEMORY, GPUT_ERROR_IO.
 */
int report_calls_add(
    struct report_calls *calls, const struct report_call *call, struct gput_error *error);

/* Adds the calls to the session, if there is any. `pids`, which may be NULL: of each process. */
int report_calls_end(struct report_calls *calls, const int64_t *pids, struct gput_error *error);
void report_calls_finish(struct report_calls *calls);
