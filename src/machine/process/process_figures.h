/*
 * The figures of one process, and how far each can be trusted. They come from scans, from other
 * files of procfs and from exit records, and are merged so that none counts twice and none
 * decreases.
 */
#pragma once

#include "machine/os/task_counts.h"
#include "machine/os/taskstats.h"
#include "machine/process/process.h"
#include "machine/process/process_totals.h"

#include <stdbool.h>
#include <stdint.h>

/* Events were lost while it lived: exits of its threads, or execve(), may be missing. */
void process_note_lost_events(struct process *process);

/* Merges what the last poll read. `with_faults`: also the page faults of it and of the children
 * that it collected, which no exit record will give. */
void process_update(struct process *process, bool with_faults);

/* Sets its current name; reads its command line again where that is wanted and the name is new. */
void process_update_name(
    struct process *process, const char *name, const struct process_view *view, bool reads_command);

/* Adds the exit record of one of its threads; its name is not used. What was read of its peak may
 * be too high by `lag_bytes`. False without memory. */
bool process_add_exit_record(
    struct process *process, const struct taskstats_exit *exit, uint64_t lag_bytes);

/* True where a process with its pid and that start time can be this one. One that started later
 * only reuses the pid. */
bool process_started(const struct process *process, uint64_t start_time_ticks, int64_t ns_per_tick);

/* What its stat says: runs, leader exited or dead. Where that cannot be read, it is as before. */
enum process_input process_read_state(
    const struct process *process, const struct process_view *view);

/* Reads VmHWM, the kernel's own peak of its RSS. */
void process_read_peak(struct process *process, const char *procfs_root);

/* Reads the counters of its living threads. Where that may wait, they stay as they are. */
void process_read_threads(struct process *process, struct process_view *view);

/* The same for the I/O counters of it and of the children that it collected. */
void process_read_io(struct process *process, struct process_view *view);

/* Counts since tracking began. */
struct task_counts process_counts(const struct process *process);

/* Whether its exit records, which are complete, have no page fault: a child that shares its
 * parent's memory (vfork) may run in pages that are all there already. */
bool process_has_no_faults(const struct process *process);

/* Its peak since the last execve(), to be summed up: unbounded unless its last exit record has it.
 * A peak that is more than `lag_bytes` below what was read before was reset. */
struct peak_sum process_last_peak(const struct process *process, uint64_t lag_bytes);

/* From when on its memory is not in the sums of peaks. */
static inline int64_t process_unsummed_ns(const struct process *process)
{
    return process->summed.until_ns > process->start.at_ns ? process->summed.until_ns
                                                           : process->start.at_ns;
}

/* Returns when a final process had given up its memory, at the latest. INT64_MAX: not known. */
int64_t process_memory_end_ns(const struct process *process);

/* True where VmHWM is likely to be higher than when it was last read. */
bool process_may_have_risen(const struct process *process);

/* Returns how much CPU time may be missing from a final process. Exit records lack what a thread
 * used since its last clock tick, and its exit, which frees its memory. */
int64_t process_cpu_lacks_ns(const struct process *process);

/*
 * False for a child that ended without execve() and was never seen with memory of its own. After
 * vfork() its peak is its parent's, after fork() its own: where no poll saw it, which of them is
 * not known.
 */
bool process_has_own_memory(const struct process *process);
