/*
 * Calls of which both marks are written when they are over, so that those that turn out to be too
 * short cost no space. Not for logs with exact figures.
 */
#pragma once

#include <gputracker/blocks.h>

/* Takes the time of the start; nothing is written. Any thread. */
void late_call_start(struct gput_blocks *blocks, struct gput_block_call *call);

/* The time since then. */
int64_t late_call_elapsed_ns(const struct gput_block_call *call);

/* Writes start and stop; nothing for a call of a parent process. Returns and errors: as
 * gput_block_begin(). */
int late_call_stop(
    struct gput_blocks *blocks, const char *name, const struct gput_block_call *call);
