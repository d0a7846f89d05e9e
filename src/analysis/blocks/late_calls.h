/*
 * Calls whose marks are written late. Both marks are written when the call is over, so that calls
 * that are too short take no space; or another thread writes the stop.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"

#include <gputracker/blocks.h>

#include <stdbool.h>

struct block_thread;

/* A thread whose calls another one may stop while it marks nothing itself. */
struct late_thread {
    struct block_thread *thread;     /* NULL: there was no memory */
    struct sub_tracking_exact exact; /* its figures when it was noted */
};

/* Takes the time of the start and writes nothing. May be called by any thread. */
void late_call_start(struct gput_blocks *blocks, struct gput_block_call *call);

/* Returns the time since then. */
int64_t late_call_elapsed_ns(const struct gput_block_call *call);

/* Writes start and stop; nothing for a call of a parent process. Not for logs with exact figures.
 * Returns and errors: as gput_default_blocks_start(). */
int late_call_stop(
    struct gput_blocks *blocks, const char *name, const struct gput_block_call *call);

/* Notes the calling thread. */
void late_thread_note(struct gput_blocks *blocks, struct late_thread *late);

/* Writes the stop of a call of that thread with the current time, and with `with_start` its start,
 * too. The thread must neither mark nor end meanwhile. Its exact figures are those from when it was
 * noted. Otherwise as late_call_stop(). */
int late_call_stop_of(struct gput_blocks *blocks, const struct late_thread *late, const char *name,
    const struct gput_block_call *call, bool with_start);
