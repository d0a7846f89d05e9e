/*
 * Calls of which marks are written late: both when they are over, so that those that turn out to be
 * too short cost no space; or the stop by another thread.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"

#include <gputracker/blocks.h>

#include <stdbool.h>

struct block_thread;

/* A thread whose calls another one may stop while it marks nothing itself. */
struct late_thread {
    struct block_thread *thread;     /* NULL: there was no memory */
    struct sub_tracking_exact exact; /* when it was noted */
};

/* Takes the time of the start; nothing is written. Any thread. */
void late_call_start(struct gput_blocks *blocks, struct gput_block_call *call);

/* The time since then. */
int64_t late_call_elapsed_ns(const struct gput_block_call *call);

/* Writes start and stop; nothing for a call of a parent process. Not for logs with exact figures.
 * Returns and errors: as gput_default_blocks_start(). */
int late_call_stop(
    struct gput_blocks *blocks, const char *name, const struct gput_block_call *call);

/* Notes the calling thread. */
void late_thread_note(struct gput_blocks *blocks, struct late_thread *late);

/* Writes the stop of a call of that thread, now, or start and stop. It must not mark meanwhile, nor
 * end. Exact figures of a thread are those when it was noted. Otherwise as late_call_stop(). */
int late_call_stop_of(struct gput_blocks *blocks, const struct late_thread *late, const char *name,
    const struct gput_block_call *call, bool with_start);
