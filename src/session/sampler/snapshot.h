/*
 * What the sampler saw at one tick: the sample, and the state of everything it was made from. The
 * sampler makes one per tick and alone writes it; the ledger and the sinks only read it.
 */
#pragma once

#include "machine/energy/energy_meter.h"
#include "machine/gpu/gpu.h"
#include "machine/process/process_tree.h"
#include "machine/process/ram_meter.h"
#include "session/sampler/system_meter.h"
#include "session/sampler/wait_sampler.h"

#include <gputracker/measurement.h>
#include <gputracker/snapshot.h>
#include <stdbool.h>
#include <stdint.h>

struct snapshot {
    struct gput_sample sample;
    int64_t taken_ns; /* monotonic clock; 0: none was taken yet */
    double seconds;   /* since the snapshot before; 0 of the baseline */
    bool is_baseline; /* taken as tracking begins: no row of files, and without CPU percents */
    bool is_last;     /* none will follow */

    /* Owned by the sampler, and as of this tick until the next one. */
    const struct process_tree *tree;   /* empty where the machine alone is sampled */
    const struct process_tree *listed; /* those to be shown: the tracked ones, or all */
    const struct ram_meter *ram;
    const struct system_meter *system;
    const struct energy_meter *energy;
    const struct gpu_set *gpus; /* NULL: none */
    const struct wait_sampler *waits;

    struct gpu_sample gpu;
    struct cpu_totals totals;
    /* CPU time of all descendants by which joules are shared out: at least that of the totals.
     * Never decreases. */
    int64_t descendants_ns;
    double other_cpu_seconds;  /* CPU time of processes that are not tracked */
    int64_t own_cpu_ns;        /* of all threads that only track inside main */
    bool has_new_energy;       /* joules were read at this tick */
    struct energy_power power; /* as of the last reading of joules */
};

/* Whether the tracked processes may have used more of a GPU, at some tick so far, than snapshots
 * say: of one figure, and of RAM of any GPU. */
bool snapshot_lacks_gpu_figure(
    const struct snapshot *snapshot, size_t device, enum gpu_figure figure);
bool snapshot_lacks_gpu_processes(const struct snapshot *snapshot);

/* GPU RAM of tracked processes, or NaN where it is 0 only for that reason. */
double snapshot_gpu_bytes(const struct snapshot *snapshot, double bytes);

/*
 * Copies of snapshots for front ends (gputracker/snapshot.h): a snapshot is only valid until the
 * next tick, a copy as long as somebody has it.
 */

/*
 * Copies a snapshot, which is that of tick `number`, `elapsed_seconds` after the start. CPU
 * percents are of the time since `before` (NULL: not known). The caller has the copy and releases
 * it by gput_snapshot_release(). NULL without memory.
 */
struct gput_snapshot *snapshot_copy(const struct snapshot *snapshot, uint64_t number,
    double elapsed_seconds, const struct gput_snapshot *before);

/* Another owner. Returns `snapshot`. */
struct gput_snapshot *snapshot_copy_retain(struct gput_snapshot *snapshot);
