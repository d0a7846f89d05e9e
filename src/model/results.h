/*
 * The results of a session: what the public type is inside of the library. Maxima and means, the
 * machine's constants, the kernel's own peaks and totals, the tracker's own cost, and a state for
 * every source. Figures are in base units; NaN is not known.
 */
#pragma once

#include "model/card_results.h"
#include "model/energy.h"
#include "model/identity_list.h"
#include "model/pressures.h"
#include "model/wall_causes.h"

#include <gputracker/limits.h>
#include <gputracker/measurement.h>
#include <gputracker/results.h>
#include <gputracker/units.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What does not change during a session; also the static part of a tracking file. */
struct gput_static_data {
    enum gput_ram_unit ram_unit;
    enum gput_ram_unit gpu_ram_unit;
    enum gput_time_unit time_unit;
    double ram_system_capacity_bytes;     /* MemTotal of /proc/meminfo */
    double gpu_ram_system_capacity_bytes; /* over all GPUs */
    uint32_t system_core_count;           /* online cores of the machine */
    uint32_t n_expected_cores;
    double system_gpu_count; /* NaN: a driver that may have some does not say */
    double n_expected_gpus;
    double allowed_ram_bytes; /* least of all in struct gput_allowed; NaN: no less than the
                                 machine has */
    double allowed_cores;     /* likewise */
};

/* What a value in base units is multiplied by to be in the session's unit of that quantity; 1:
 * there is no unit to choose. */
double static_data_unit_factor(const struct gput_static_data *data, enum gput_quantity quantity);

/* A value of a file in bytes: whole where only the last digit of a double is not. */
double ram_in_bytes(double value, enum gput_ram_unit unit);

/* The same of any quantity, in the session's unit of it. */
double static_data_base_value(
    const struct gput_static_data *data, enum gput_quantity quantity, double value);

/* Who a session is (model/identity_list.h). */
struct gput_identity {
#define IDENTITY_TEXT(member, size, path, meaning) char member[size];
#define IDENTITY_NUMBER(member, path, meaning) double member;
    IDENTITY(IDENTITY_TEXT, IDENTITY_NUMBER)
#undef IDENTITY_TEXT
#undef IDENTITY_NUMBER
};

/* What the command may use, by each that limits it. NaN: it does not, or is not known. The least of
 * them is in the static data. */
struct gput_allowed {
    double affinity_cores; /* CPU affinity of main, cpusets included */
    double quota_cores;    /* CPU quota of the control groups above main: 1.5 is one and a half */
    double cpuset_cores;
    double memory_max_bytes; /* of the control groups */
    double swap_max_bytes;
    double pids_max;    /* processes and threads */
    double slurm_cores; /* what Slurm allocated, also where nothing enforces it */
    double slurm_ram_bytes;
    double limit_ram_bytes; /* that the user set: --limit ram=8GB */
    double gpus;            /* that the command sees: CUDA_VISIBLE_DEVICES and the like */
    double named_gpus;      /* that the user named (--guuids), whatever the command sees */
};

/* Space for why a figure is missing, with its final 0. */
#define GPUT_REASON_SIZE 512

struct gput_source {
    char name[32]; /* snake_case: "ram", "cpu_time", "gpu" … */
    enum gput_source_state state;
    char reason[GPUT_REASON_SIZE]; /* where it comes from, or why it is missing */
};

struct gput_limit_passed {
    char kind_name[16]; /* "ram", "seconds" …; "" when none was exceeded */
    double value;       /* the limit, in bytes or seconds */
    double at_seconds;  /* when, since the start */
    bool enforced;      /* the command was ended for it */
};

#define GPUT_MAX_SOURCES 32

/*
 * One GPU (or MIG instance) over the whole session. A figure is NaN when it could not be read;
 * `missing` then says why. Process RAM is what the tracked processes held on this GPU; 0 only where
 * that is known, NaN where its driver may have hidden them.
 */
struct gput_gpu {
    char uuid[96];        /* the driver's; where it has none, the PCI address */
    char name[96];        /* "NVIDIA H200" */
    char vendor[16];      /* "nvidia", "amd", "intel" or "other" */
    char pci_address[24]; /* "0000:01:00.0"; "" when it has none */
    bool selected; /* counts in the utilization of all GPUs: see gput_session_options.gpu_uuids */
    double ram_capacity_bytes;
    double max_ram_bytes; /* in use by any process */
    double max_main_ram_bytes;
    double max_descendants_ram_bytes;
    double max_combined_ram_bytes;
    double max_combined_ram_at_most_bytes; /* see gput_results.gpu_peaks; NaN: not known */
    double max_utilization_percent;        /* of the whole GPU, by any process */
    double mean_utilization_percent;
    double max_main_sm_percent; /* share of its processors (SM, CU, EU) that main kept busy */
    double mean_main_sm_percent;
    double max_descendants_sm_percent;
    double mean_descendants_sm_percent;
    double max_power_watts;
    double mean_power_watts;
    /* Of the card itself. Counters since the first reading. */
#define MEMBER(member, FIGURE, how, unit, meaning) double member;
    CARD_RESULTS(MEMBER)
#undef MEMBER
    char parts[160]; /* "SM 31 %, tensor 4 %, memory 12 %: launch-bound"; "": not asked for, or it
                        is not known */
    char slowed_by[160]; /* "power_cap 12.3 s", "nothing"; "": it is not known */
    char health[240];    /* what changed for the worse; "": nothing, or it is not known */
    /* When the driver was read for the first and the last time, in seconds after the start;
     * negative: before it. NaN: never. */
    double first_reading_seconds;
    double last_reading_seconds;
    struct { /* as of the last sample */
        double ram_bytes;
        double combined_ram_bytes;
        double utilization_percent;
        double power_watts;
        double joules; /* since the start; counted by the device, else power integrated over time.
                          Not available for a MIG instance */
#define MEMBER(member, FIGURE, unit, meaning) double member;
        CARD_RESULTS_NOW(MEMBER)
#undef MEMBER
    } now;
    char missing[240]; /* figures that are missing, and why: "power: not supported by this GPU" */
};

/* A peak that the kernel kept, also between two samples. */
struct gput_peak {
    double bytes;         /* it was at least this; NaN when unknown */
    double at_most_bytes; /* and at most this: equal to `bytes` when it is exact; NaN when nothing
                               bounds it */
    char source[GPUT_REASON_SIZE]; /* where it comes from and what is in it, or why it is unknown
                                    */
};

/* An upper bound that is farther from its peak than that is not worth a reader's time. */
#define GPUT_USEFUL_BOUND 1.5

/*
 * What was counted over the whole session, for main and all its descendants together. NaN: not
 * available here; the source "counts" says why.
 */
struct gput_accounting {
    /* What the kernel counted for the tree; at least this where the source "kernel_cpu_time" is
     * sampled. Never less than the samples add up to. */
    double kernel_cpu_seconds;
    double kernel_user_cpu_seconds;   /* of that, in user mode; NaN: the source "cpu_split" says
                                         why */
    double kernel_system_cpu_seconds; /* of that, in the kernel on their behalf; NaN as above */
    double sampled_cpu_seconds;       /* what the samples add up to */
    double captured_percent;          /* sampled of kernel; NaN where kernel is "at least" */
    double short_lived_cpu_seconds;   /* that short-lived processes used, at least; NaN without
                                         exit records */
    uint64_t processes_seen;          /* distinct processes known, main included */
    double processes_missed;          /* started in the tree and not known; NaN: unknown how many */
    char processes_missed_reason[GPUT_REASON_SIZE]; /* how the figure above is known, or why it is
                                                       not */
    double short_lived_processes; /* that lived for less than 50 ms, at least; NaN as above */
    double left_running;          /* descendants that lived when main had ended; NaN before that */
    double oom_killed; /* that the kernel killed because memory ran out, of their control group: at
                          least; NaN: unknown */
    char oom_killed_reason[GPUT_REASON_SIZE]; /* which group it is, or why it is unknown */
    /* Of the threads of which it is known: how long they ran, and how long they were ready to run
     * and waited for a CPU. NaN: the source "run_queue" says why. */
    double run_queue_run_seconds, run_queue_wait_seconds;
    double minor_page_faults;            /* pages that needed no storage: new, copied or cached */
    double major_page_faults;            /* page faults that needed storage */
    double voluntary_context_switches;   /* it waited for something */
    double involuntary_context_switches; /* the CPU went to another thread */
    double read_bytes;  /* through read() and the like, cached or not, pipes too; not through recv()
                             and its variants, io_uring, splice() and mapped files */
    double write_bytes; /* through write() and the like; not through send() and its variants */
    double storage_read_bytes; /* really fetched from storage */
    /* Written to storage: storage_dirtied_bytes without pages that were dropped before they were
     * written, because their file was removed or cut. At least, where some were dropped (source
     * "written_to_storage"): they may have been filled by processes that are not tracked. */
    double storage_write_bytes;
    double storage_dirtied_bytes; /* in pages that were filled to be written to storage */
    /* Of the whole system (all that share main's network), without the loopback. */
    double system_network_received_bytes;
    double system_network_sent_bytes;
};

/* For how long tasks waited for a CPU, for memory or for storage: some of them, and all of those
 * that could have run. By enum pressure_id. NaN: not known. */
struct gput_pressure {
    double some_seconds[PRESSURE_COUNT];
    double full_seconds[PRESSURE_COUNT];
};

/* Where wall time went. NaN: not known. */
struct gput_wall {
    double seconds;                      /* all of it */
    double seconds_of[WALL_CAUSE_COUNT]; /* which add up to that */
    double samples;                      /* that divide what is not counted */
};

struct gput_results {
    struct gput_static_data static_data;
    struct gput_identity identity;
    struct gput_allowed allowed;
    /* Of all tasks of the machine, and of those of the command's own control group. */
    struct gput_pressure system_pressure, group_pressure;

    /* Highest sampled figure, total RAM also what `peaks` say that it was; NaN when never read. */
    double max[GPUT_MEASUREMENT_COUNT];
    /* CPU percents: over the time they are of, so that percent x time is CPU time. Everything else
     * (GPU utilization, RAM, threads): over all rows of the tracking file alike, as an analysis of
     * it has it. NaN when never read. */
    double mean[GPUT_MEASUREMENT_COUNT];
    double elapsed_seconds; /* wall time from start to the last sample */

    /* As of the last sample, for monitoring a session while it runs. NaN: not known. */
    struct {
        double values[GPUT_MEASUREMENT_COUNT];
        /* Mean power over the last second or more; that of the GPUs as their drivers say it. */
        double watts[GPUT_ENERGY_FIGURE_COUNT];
        double system_cpu_seconds; /* that all processes of the machine used since the start */
        double main_cpu_seconds;
        double descendants_cpu_seconds;
    } now;

    struct {
        struct gput_peak main;        /* RSS of the main process: VmHWM or ru_maxrss */
        struct gput_peak descendants; /* RSS of the largest single descendant */
        struct gput_peak combined;    /* of all together, what they share counted once */
        /* What the kernel charged to a control group of exactly these processes: also for page
         * cache that they filled, but not for what other processes had in RAM already. It bounds
         * RSS neither from above nor from below. */
        struct gput_peak control_group;
        /* Likewise to the group with the tightest memory limit (allowed.memory_max_bytes), in which
         * others may be: what that limit counts. */
        struct gput_peak limit_group;
    } peaks;

    /*
     * GPU RAM of the tracked processes, over all GPUs: at least what the drivers' lists of
     * processes gave; at most the highest memory in use on the GPUs, minus what was in use by
     * others, where no other process used a GPU. Both are of the moments at which drivers were
     * read: a peak between two readings is in neither. NaN without a GPU.
     */
    struct {
        struct gput_peak main;
        struct gput_peak descendants;
        struct gput_peak combined;
        double list_age_seconds;  /* age of the list of processes at the last sample; 0: it was
                                     read for that sample; NaN: there was no list */
        double late_list_seconds; /* age of the oldest list at a sample at which the memory in use
                                     had changed since; 0: lists came in time */
    } gpu_peaks;

    struct gput_accounting accounting;

    /* Where the time went: of the leading thread of main, with what its children did while it
     * waited for them; of that thread alone; of all other threads of the tree together; and of
     * that one and of those while no GPU was busy. The source "time_went" says how sure it is. */
    struct gput_wall time_went, main_thread, other_threads, gpu_idle, gpu_idle_others;
    double gpu_known_seconds; /* for how long it was known whether a GPU was busy */
    char programs[512];       /* "make 3.1 s, cc1 41 s of 60": those that worked most */

    struct {
        double cpu_seconds; /* CPU time of the sampler itself */
        double rss_bytes;   /* of the tracking process; NaN when it is the tracked one */
        uint64_t ticks;
        uint64_t late_ticks;     /* ticks that began more than a tenth of the interval late */
        uint64_t missed_ticks;   /* deadlines that passed during an earlier tick */
        uint64_t rows_lost;      /* rows that could not be written to the tracking file */
        uint64_t contradictions; /* figures that contradicted others, of which the claim was
                                    withdrawn: bugs */
        double metrics_lost;     /* samples whose metrics receivers did not take, of each receiver;
                                    NaN: none is sent to */
        double node_seconds; /* for how long it read what is the machine's, which one tracker of a
                                job does on each machine; NaN: it always does, for itself */
    } tracker;

    struct gput_energy energy;
    struct gput_limit_passed limit; /* the first limit that was exceeded */
    uint32_t n_later_limits;        /* how many of `later_limits` are used */
    struct gput_limit_passed later_limits[GPUT_LIMIT_KIND_COUNT - 1]; /* and the others, in order */

    uint32_t n_sources;
    struct gput_source sources[GPUT_MAX_SOURCES];

    uint32_t n_gpus;    /* static_data.system_gpu_count is of all */
    double mpi_seconds; /* in calls of MPI that wait for other ranks, as regions of a report that
                           was read; NaN: not known */
    /* The last members: what is before them is plain data. */
    uint32_t gpu_capacity;
    struct gput_gpu *gpus; /* owned by the results; see results_reserve_gpus() */
};

/*
 * Makes space for that many GPUs; results that are all zero have none. The caller ends results that
 * it made so by results_finish(). GPUT_ERROR_MEMORY: they keep the space that they have.
 */
int results_reserve_gpus(struct gput_results *results, size_t count);

/* All zero, without sources and GPUs; the space for these stays. */
void results_clear(struct gput_results *results);

/* Copies everything, GPUs included; `to` are other results, or all zero. GPUT_ERROR_MEMORY: `to` is
 * as before. */
int results_copy(struct gput_results *to, const struct gput_results *from);

/* All of it is unknown. */
void identity_forget(struct gput_identity *identity);

/* The first source of results that were read from a file of the older gpu_tracker. */
#define RESULTS_OLDER_FILE "older_file"

/* Whether results are of a gpu-tracker session, and not of such a file, which has nothing about
 * what its tracker did and collected: counts are 0 there. */
bool results_are_own(const struct gput_results *results);

/* What counts as near a limit, as a share of it. */
#define NEAR_LIMIT 0.9

/*
 * How much of `ram_bytes`, the highest RAM (RSS), counts for the least limit of RAM: RSS has pages
 * of files that the limit's control group was not charged for, and a group is charged for page
 * cache, which it gives back. So it is the lesser of both. All of it where the limit is another's,
 * or there is none. NaN: RSS is near the limit, and what the group was charged is not known.
 */
double results_ram_of_limit(const struct gput_results *results, double ram_bytes);

/* Whether it is not of that limit how near it RSS came: a share of it would mislead. */
bool results_ram_is_not_of_limit(const struct gput_results *results, double ram_bytes);

/* Frees the GPUs. */
void results_finish(struct gput_results *results);

/* The source of that name, or NULL. */
const struct gput_source *results_find_source(const struct gput_results *results, const char *name);

/* Whether there is a source of that name, and in that state. */
bool results_source_is(
    const struct gput_results *results, const char *name, enum gput_source_state state);

/* Adds the source of a kind of figure, or why it is missing, as from printf(). False: there are
 * GPUT_MAX_SOURCES already, which is more than the library itself adds. */
bool results_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *format, ...) __attribute__((format(printf, 4, 5)));
