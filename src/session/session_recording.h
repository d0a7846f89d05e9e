/*
 * A recording of power beside a session: a line for each measurement period, in the form of
 * AIPowerMeter (store/energy_recording.h).
 */
#ifndef SESSION_SESSION_RECORDING_H
#define SESSION_SESSION_RECORDING_H

#include "gpu/gpu.h"
#include "store/energy_recording_writer.h"

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process at the last line. */
struct recorded_process {
    pid_t pid;
    uint64_t start_time_ticks;
    int64_t cpu_ns;
};

struct session_recording {
    struct energy_recording_writer *writer; /* NULL: nothing is recorded */
    int64_t since_ns;                       /* start of the period; 0: none yet */
    bool has_lines, warned;
    double busy_seconds;                /* of the machine, at its start */
    struct gput_energy energy;          /* at its start */
    double gpu_joules[GPU_MAX_DEVICES]; /* at its start */
    struct recorded_process *processes; /* at its start; owned */
    size_t n_processes;
};

#endif
