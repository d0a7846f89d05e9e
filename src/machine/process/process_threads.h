/*
 * How long the threads of a process ran, and how long they were ready to run and waited for a CPU.
 *
 * Of living threads the kernel has both in task/T/schedstat, and of those that ended in exit
 * records (taskstats): a thread counts the higher of what both said. Without exit records, what a
 * thread waited between its last reading and its end is missing, and so are threads and processes
 * that no reading saw, unless they are still there as zombies. Waiting is nowhere collected by
 * parents.
 */
#pragma once

#include "machine/os/taskstats.h"
#include "machine/process/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Since tracking began, of all threads that are known. */
struct run_queue_times {
    int64_t run_ns, wait_ns;
    uint64_t threads;   /* of which there is a figure */
    uint64_t uncertain; /* of which a part may be missing though nothing was lost */
    uint64_t uncounted; /* of which the kernel counts nothing */
};

void run_queue_times_add(struct run_queue_times *times, const struct run_queue_times *more);

/*
 * Reads a process if it ran since the last reading, and adds what that gives to `times`. The first
 * reading of an old process is its baseline. `is_brief`: one with several threads is left to the
 * next reading. Without memory, threads are missing.
 */
void process_threads_read(struct process *process, struct process_view *view, bool is_brief,
    int64_t now_ns, struct run_queue_times *times);

/* Returns how long one of its threads has lived since tracking began. */
int64_t process_thread_wall_ns(const struct process *process, const struct thread *thread);

/* Returns where the time of one of its threads went. */
struct wall_account process_thread_account(
    const struct process *process, const struct thread *thread);

/* Its threads; empty where nothing was read yet. NULL without memory. */
struct process_threads *process_threads_of(struct process *process);

/* Adds the exit record of a thread. */
void process_threads_add_record(
    struct process *process, const struct taskstats_exit *exit, struct run_queue_times *times);
