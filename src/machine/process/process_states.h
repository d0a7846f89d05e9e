/*
 * What threads sleep for, seen at random moments. A moment costs one reading of the CPU clock for a
 * process that has not run since the last one: its threads still sleep in the same thing.
 */
#pragma once

#include "machine/process/process.h"

/* The cause that stands for what was read: a page of a read or of a page fault (WALL_CAUSE_COUNT)
 * comes from storage. */
static inline enum wall_cause process_state_cause(unsigned read)
{
    return read < WALL_CAUSE_COUNT ? (enum wall_cause)read : WALL_STORAGE;
}

/* What a thread does now. WALL_CAUSE_COUNT: it waits for a page of a read or of a page fault. */
enum wall_cause process_state_read(
    struct process *process, struct thread *thread, struct process_view *view);

/* The process as of a moment that stands for so much time. Needs a reading of its threads before
 * (process_threads.h). */
void process_states_sample(struct process *process, struct process_view *view, int64_t weight_ns);
