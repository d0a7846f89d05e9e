/* The cause of a thread's sleep, from procfs: the kernel function in which it sleeps (wchan),
 * and its system call (syscall). */
#pragma once

#include "machine/process/process.h"
#include "model/wall_causes.h"

/*
 * Returns the cause that the text of wchan says. WALL_COMPUTING: "0", it runs, is ready to run,
 * or its reader lacks permission. WALL_CAUSE_COUNT: the function alone says nothing;
 * wait_cause_of_call() may.
 */
enum wall_cause wait_cause_of_channel(const char *channel);

/*
 * Returns the cause that the text of syscall says, for a thread that sleeps in a function which
 * alone says nothing, or that waits for a page of a file. WALL_CAUSE_COUNT: it has continued
 * meanwhile, so the cause is not known.
 */
enum wall_cause wait_cause_of_call(const char *channel, const char *call);

/* Returns the cause by the letter of its state alone: 'D' and so on. */
enum wall_cause wait_cause_of_state(char state);

/*
 * What threads sleep for, seen at random moments. A moment costs one reading of the CPU clock for a
 * process that has not run since the last one: its threads still sleep in the same thing.
 */

/* Returns the cause of a reading. WALL_CAUSE_COUNT, a page of a read or of a page fault, counts
 * as storage. */
static inline enum wall_cause process_state_cause(unsigned read)
{
    return read < WALL_CAUSE_COUNT ? (enum wall_cause)read : WALL_STORAGE;
}

/* Returns what a thread does now. WALL_CAUSE_COUNT: it waits for a page of a read or of a page
 * fault. */
enum wall_cause process_state_read(
    struct process *process, struct thread *thread, struct process_view *view);

/* The process as of a moment that stands for so much time. Needs a reading of its threads before
 * (process_threads.h). */
void process_states_sample(struct process *process, struct process_view *view, int64_t weight_ns);
