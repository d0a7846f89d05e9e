/* Snapshots and results that a test makes up, in place of the library's. */
#pragma once

#include <gputracker/results.h>
#include <gputracker/snapshot.h>

struct gput_snapshot {
    double elapsed_seconds, watts, machine_watts;
    struct gput_sample sample;
    struct gput_snapshot_process *processes;
    size_t n_processes;
    struct gput_snapshot_gpu *gpus;
    size_t n_gpus;
    struct gput_snapshot_gpu_user (*users)[2]; /* of each GPU; a pid of 0: none */
};

struct gput_results {
    double max, joules, cores, ram;
};
