/*
 * A recording of power of a session: lines for each measurement period, in the format of
 * AIPowerMeter (formats/power/energy_recording.h).
 */
#ifndef SESSION_SESSION_RECORDING_H
#define SESSION_SESSION_RECORDING_H

#include "formats/power/energy_recording_writer.h"
#include "gpu/gpu.h"
#include "session/recorded_states.h"

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process as of the last line. */
struct recorded_process {
    pid_t pid;
    uint64_t start_time_ticks;
    int64_t cpu_ns;
};

/* Joules as of a moment; NaN: they were known before, but do not continue. */
struct recorded_joules {
    double figures[GPUT_ENERGY_FIGURE_COUNT];
    double gpus[GPU_MAX_DEVICES];
};

struct session_recording {
    struct energy_recording_writer *writer; /* NULL: nothing is recorded */
    bool has_lines, warned;
    int64_t due_ns; /* when the period ends */
    /* The period, and what was known at its start. */
    int64_t since_ns;      /* 0: none yet */
    int64_t since_time_ns; /* since the epoch, by the wall clock as the segment began */
    struct recorded_states start;
    double other_seconds; /* CPU time of processes that are not tracked */
    int64_t tree_cpu_ns;
    struct recorded_joules joules;
    double package_share, dram_share; /* joules of the tree, from the energy meter */
    struct recorded_states most;      /* of the sample with the most RAM in the period */
    uint64_t most_ram_bytes;
    struct recorded_process *processes; /* owned */
    size_t n_processes;
};

#endif
