/*
 * One sample of everything: scans the tree, measures RAM, CPU, threads, the system and the GPUs.
 * What it saw is a snapshot.
 */
#pragma once

#include "machine/energy/energy_meter.h"
#include "machine/os/procfs.h"
#include "machine/process/process_tree.h"
#include "machine/process/ram_meter.h"
#include "machine/process/swap_meter.h"
#include "session/sampler/snapshot.h"
#include "session/sampler/system_meter.h"
#include "session/sampler/wait_sampler.h"

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
    /* How many threads of main only track, without the calling one: asked before and after each
     * scan, with `tree.caller`. NULL: none. */
    unsigned (*own_threads)(void *caller);
    const void *user; /* its argument */
};

/* CPU time of the tracked processes at one moment. */
struct cpu_mark {
    int64_t time_ns, main_ns, descendants_ns;
};

struct sampler {
    struct sampler_options options;
    struct process_tree tree;
    struct process_tree all; /* with options.lists_all */
    struct ram_meter ram;
    struct swap_meter swap;
    struct cpu_mark last_cpu, cpu_before_last; /* of the two samples before */
    struct system_meter *system;               /* borrowed */
    struct other_cpu others;
    struct pid_vector descendants;   /* for the drivers of GPUs */
    uint64_t descendants_generation; /* of the tree that they are from */
    struct energy_meter energy;
    struct wait_sampler waits;
    struct snapshot snapshot; /* the last one */
};

/*
 * Scans the tree for the first time; no sample yet. `system` is borrowed. On success the caller
 * calls sampler_finish(). Errors: GPUT_ERROR_NOT_FOUND (no such process), GPUT_ERROR_MEMORY.
 */
int sampler_init(struct sampler *sampler, const struct sampler_options *options,
    struct system_meter *system, struct gput_error *error);

void sampler_finish(struct sampler *sampler);

/* Circumstances of a sample. */
struct sampler_tick {
    bool is_baseline; /* it has no interval to measure CPU percents over */
    bool is_last;     /* no sample will follow */
    /* The first sample waits until drivers have listed the processes that hold GPU RAM; the last
     * one always does. */
    bool awaits_lists;
    bool none_started;  /* no process was started on the machine since the sample before */
    int64_t orphans_ns; /* CPU time that the calling process has collected from orphans */
    double quota; /* part of the time waited for a CPU for which a quota held the command, of 1 */

    /* Threads of main that only track are not counted. */
    bool is_in_main;            /* the calling thread is one of them; its CPU time is not, either */
    int64_t own_threads_cpu_ns; /* of the others of them */
};

/*
 * Takes a sample. A figure that cannot be read is NaN. When the main process has ended, RAM and
 * threads are those of the last sample that saw it.
 */
void sampler_take_sample(struct sampler *sampler, const struct sampler_tick *tick);

/*
 * Scans the processes and their RAM between two samples, without exact readings: lower bounds are
 * in `ram.figures`, and no sample changes. `none_started` as above.
 */
void sampler_scan_between(struct sampler *sampler, bool none_started);

/* Call it at `waits.due_ns`, between samples: reads what threads sleep in. */
void sampler_take_states(struct sampler *sampler);

/* `skip`: another tracker reads figures of the machine from now on (system RAM and CPU, energy of
 * the CPU, GPUs that the tracked processes do not see); else this one does. */
void sampler_skip_machine(struct sampler *sampler, bool skip);

/* True while main has not ended. */
bool sampler_main_lives(const struct sampler *sampler);
