/*
 * When the kernel's own figures of a process that runs are read: its peak of RSS (VmHWM), its
 * counters, its name. Each is a file of procfs, too expensive for every scan.
 */
#pragma once

#include "machine/process/process.h"
#include "machine/process/process_log_options.h"

#include <stdint.h>

/* At the first scan that finds it: its name, and what it has used before tracking. */
void process_readings_begin(
    const struct process_log_options *options, struct process *process, int64_t now_ns);

/* After each scan: what may have changed since, if it is due. `reads_counts`: its counters are,
 * with options.has_live_counts. */
void process_readings_take(const struct process_log_options *options, struct process *process,
    bool reads_counts, int64_t now_ns);

/* Reads its counters, and its peak if that may have risen, though they are not due. */
void process_readings_take_now(const struct process_log_options *options, struct process *process);
