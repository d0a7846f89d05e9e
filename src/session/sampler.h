/*
 * One sample of everything: scans the tree, measures RAM, CPU, threads, the system and the GPUs.
 * What it saw is a snapshot.
 */
#ifndef SESSION_SAMPLER_H
#define SESSION_SAMPLER_H

#include "energy/energy_meter.h"
#include "energy/other_cpu.h"
#include "gpu/gpu.h"
#include "os/pid_vector.h"
#include "process/process_tree.h"
#include "process/ram_meter.h"
#include "session/snapshot.h"
#include "session/system_meter.h"

#include <stdbool.h>
#include <stdint.h>

struct sampler_options {
    struct process_tree_options tree; /* main 0: no process, the machine alone */
    bool lists_all;                   /* of the machine alone: snapshots list its processes */
    uint32_t system_core_count;
    uint32_t n_expected_cores;
    enum exact_readings_when ram_readings;
    int64_t start_ns;     /* when the interval of the first sample began (monotonic clock) */
    int64_t interval_ns;  /* between ticks */
    struct gpu_set *gpus; /* borrowed; NULL: none */
    const char *sysfs_root;
    /* A lower bound of the CPU time of all processes from another source; called after each scan.
     * NULL: none. */
    int64_t (*known_cpu_ns)(const void *user);
    const void *user; /* its argument */
};

struct sampler {
    struct sampler_options options;
    struct process_tree tree;
    struct process_tree all; /* with options.lists_all */
    struct ram_meter ram;
    struct system_meter *system; /* borrowed */
    struct other_cpu others;
    struct energy_meter energy;
    struct snapshot snapshot; /* the last one */

    /* The moments of the two samples before, for CPU percents. */
    struct cpu_mark {
        int64_t time_ns, main_ns, descendants_ns;
    } last, before_last;

    /* Threads of main that only track, besides the calling one; with SAMPLER_IN_MAIN their CPU
     * time. */
    unsigned own_threads;
    int64_t own_threads_cpu_ns;
    struct pid_vector descendants; /* scratch, for the GPUs */
    uint64_t descendants_generation;
};

/*
 * Scans the tree for the first time; no sample yet. `system` is borrowed. On success the caller
 * calls sampler_finish(). Errors: GPUT_ERROR_NOT_FOUND (no such process), GPUT_ERROR_MEMORY.
 */
int sampler_init(struct sampler *sampler, const struct sampler_options *options,
    struct system_meter *system, struct gput_error *error);

void sampler_finish(struct sampler *sampler);

enum sampler_flags {
    /* The calling thread belongs to the main process and only samples: neither it nor its CPU time
     * counts. */
    SAMPLER_IN_MAIN = 1,
    SAMPLER_LAST = 2,         /* no sample will follow */
    SAMPLER_BASELINE = 16,    /* it has no interval to measure CPU percents over */
    SAMPLER_NONE_STARTED = 4, /* no process was started on the machine since the sample before */
    SAMPLER_AWAIT_LISTS = 8,  /* the first sample waits until drivers have listed the processes that
                                 hold GPU RAM; the last one always does */
};

/*
 * Takes a sample. `orphans_ns` is the CPU time that the calling process has collected from orphans
 * of the tree. A figure that cannot be read is NaN. When the main process has ended, RAM and
 * threads are those of the last sample that saw it.
 */
void sampler_take_sample(struct sampler *sampler, int64_t orphans_ns, unsigned flags);

/* Before a sample: updates GPU RAM alone, in the snapshot, when drivers have listed processes
 * since the last sample. False: they have not. */
bool sampler_take_waiting_lists(struct sampler *sampler);

/* Whether the sample has more GPU RAM of processes than a GPU has in use: the figures are of
 * different moments. */
bool sampler_gpu_ram_is_doubtful(const struct sampler *sampler);

/* Reads GPU RAM of the sample again. Waits for drivers for a quarter of the interval and 20 ms at
 * most. */
void sampler_read_gpu_ram_again(struct sampler *sampler);

/* Leaves no GPU RAM of processes in the sample that exceeds what a GPU has in use. */
void sampler_limit_gpu_ram(struct sampler *sampler);

/*
 * Scans the processes and their RAM between two samples, without exact readings: lower bounds are
 * in `ram.figures`, and no sample changes. `flags` as above.
 */
void sampler_scan_between(struct sampler *sampler, unsigned flags);

/* True while main has not ended. */
bool sampler_main_lives(const struct sampler *sampler);

#endif
