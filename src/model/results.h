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

/* Figures that do not change during a session; also the static part of a tracking file. */
struct gput_static_data {
    enum gput_ram_unit ram_unit;
    enum gput_ram_unit gpu_ram_unit;
    enum gput_time_unit time_unit;
    double ram_system_capacity_bytes;     /* MemTotal of /proc/meminfo */
    double gpu_ram_system_capacity_bytes; /* over all GPUs */
    uint32_t system_core_count;           /* online cores of the machine */
    uint32_t n_expected_cores;
    double system_gpu_count; /* NaN: a driver does not tell */
    double n_expected_gpus;
    double allowed_ram_bytes; /* the smallest limit in struct gput_allowed; NaN: no limit below the
                                 machine's RAM */
    double allowed_cores;     /* likewise */
};

/* Returns the factor from base units to the session's unit of a quantity; 1 for quantities with
 * one unit. */
double static_data_unit_factor(const struct gput_static_data *data, enum gput_quantity quantity);

/* Converts a value of a file to bytes, rounded where it differs from a whole number only by the
 * precision of a double. */
double ram_in_bytes(double value, enum gput_ram_unit unit);

/* Converts a value of any quantity from the session's unit to the base unit. */
double static_data_base_value(
    const struct gput_static_data *data, enum gput_quantity quantity, double value);

/* The identity of a session (model/identity_list.h). */
struct gput_identity {
#define IDENTITY_TEXT(member, size, path, meaning) char member[size];
#define IDENTITY_NUMBER(member, path, meaning) double member;
    IDENTITY(IDENTITY_TEXT, IDENTITY_NUMBER)
#undef IDENTITY_TEXT
#undef IDENTITY_NUMBER
};

/* Limits of the command, one member for each source. NaN: no limit, or unknown. The smallest is
 * in the static data. */
struct gput_allowed {
    double affinity_cores; /* CPU affinity of main, cpusets included */
    double quota_cores;    /* CPU quota of the control groups above main: 1.5 is one and a half */
    double cpuset_cores;
    double memory_max_bytes; /* of the control groups */
    double swap_max_bytes;
    double pids_max;    /* processes and threads */
    double slurm_cores; /* what Slurm allocated, also where nothing enforces it */
    double slurm_ram_bytes;
    double limit_ram_bytes; /* set by the user: --limit ram=8GB */
    double gpus;            /* visible to the command: CUDA_VISIBLE_DEVICES and the like */
    double named_gpus;      /* named by the user (--guuids), visible or not */
};

/* Size of the reason for a missing figure, including the final NUL. */
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
    /* Figures of the card itself. Counters count from the first reading. */
#define MEMBER(member, FIGURE, how, unit, meaning) double member;
    CARD_RESULTS(MEMBER)
#undef MEMBER
    char parts[160]; /* "SM 31 %, tensor 4 %, memory 12 %: launch-bound"; "": not requested, or not
                        known */
    char slowed_by[160]; /* "power_cap 12.3 s", "nothing"; "": not known */
    char health[240];    /* what got worse; "": nothing, or not known */
    /* Times of the first and the last reading of the driver, in seconds after the start;
     * negative: before it. NaN: never read. */
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

/* A peak that the kernel recorded, so that it includes times between samples. */
struct gput_peak {
    double bytes;         /* it was at least this; NaN when unknown */
    double at_most_bytes; /* it was at most this; equal to `bytes` when exact, NaN when unbounded */
    char source[GPUT_REASON_SIZE]; /* where it comes from and what it includes, or why it is unknown
                                    */
};

/* Upper bounds above this multiple of the peak are not shown. */
#define GPUT_USEFUL_BOUND 1.5

/*
 * Totals over the whole session, of main and all its descendants. NaN: not available; the source
 * "counts" says why.
 */
struct gput_accounting {
    /* CPU time of the tree as counted by the kernel; a lower bound where the source
     * "kernel_cpu_time" is sampled. Never less than the sum of the samples. */
    double kernel_cpu_seconds;
    double kernel_user_cpu_seconds;   /* of that, in user mode; NaN: the source "cpu_split" says
                                         why */
    double kernel_system_cpu_seconds; /* of that, in the kernel on their behalf; NaN as above */
    double sampled_cpu_seconds;       /* what the samples add up to */
    double captured_percent; /* sampled CPU time as a share of the kernel's; NaN where the kernel's
                                is a lower bound */
    double short_lived_cpu_seconds; /* CPU time of short-lived processes, a lower bound; NaN without
                                       exit records */
    uint64_t processes_seen;        /* distinct processes known, main included */
    double processes_missed; /* processes of the tree that were not seen; NaN: their number is
                                unknown */
    char processes_missed_reason[GPUT_REASON_SIZE]; /* how the figure above is known, or why it is
                                                       not */
    double short_lived_processes; /* processes that lived for less than 50 ms, a lower bound; NaN as
                                     above */
    double left_running;          /* descendants alive after main had ended; NaN before that */
    double oom_killed; /* processes of their control group that the kernel killed for lack of
                          memory, a lower bound; NaN: unknown */
    char oom_killed_reason[GPUT_REASON_SIZE]; /* which group it is, or why it is unknown */
    /* Sums over the threads for which it is known: time running, and time ready to run but
     * waiting for a CPU. NaN: the source "run_queue" says why. */
    double run_queue_run_seconds, run_queue_wait_seconds;
    double minor_page_faults;            /* pages that needed no storage: new, copied or cached */
    double major_page_faults;            /* page faults that needed storage */
    double voluntary_context_switches;   /* the thread waited for something */
    double involuntary_context_switches; /* the CPU went to another thread */
    double read_bytes;  /* through read() and the like, cached or not, pipes too; not through recv()
                             and its variants, io_uring, splice() and mapped files */
    double write_bytes; /* through write() and the like; not through send() and its variants */
    double storage_read_bytes; /* fetched from storage, not from the cache */
    /* Written to storage: storage_dirtied_bytes minus pages that were dropped before they were
     * written, because their file was removed or truncated. A lower bound where pages were dropped
     * (source "written_to_storage"): untracked processes may have filled them. */
    double storage_write_bytes;
    double storage_dirtied_bytes; /* pages that were modified and have to be written to storage */
    /* Figures of the whole system (everything in main's network namespace), without the
     * loopback. */
    double system_network_received_bytes;
    double system_network_sent_bytes;
};

/* Pressure stall information by enum pressure_id: how long some tasks, and how long all runnable
 * tasks, waited for a CPU, memory or storage. NaN: not known. */
struct gput_pressure {
    double some_seconds[PRESSURE_COUNT];
    double full_seconds[PRESSURE_COUNT];
};

/* Where wall time went. NaN: not known. */
struct gput_wall {
    double seconds;                      /* the whole wall time */
    double seconds_of[WALL_CAUSE_COUNT]; /* its parts by cause, which add up to `seconds` */
    double samples; /* number of samples that divide the time which is not counted */
};

struct gput_results {
    struct gput_static_data static_data;
    struct gput_identity identity;
    struct gput_allowed allowed;
    /* Pressure of the whole machine, and of the command's own control group. */
    struct gput_pressure system_pressure, group_pressure;

    /* Highest sampled figure; for total RAM at least the value in `peaks`. NaN when never read.
     * */
    double max[GPUT_MEASUREMENT_COUNT];
    /* Means. CPU percents are weighted by time, so that percent x time is CPU time. Everything
     * else (GPU utilization, RAM, threads) is the mean of the rows of the tracking file, as in an
     * analysis of it. NaN when never read. */
    double mean[GPUT_MEASUREMENT_COUNT];
    double elapsed_seconds; /* wall time from start to the last sample */

    /* As of the last sample, for monitoring a session while it runs. NaN: not known. */
    struct {
        double values[GPUT_MEASUREMENT_COUNT];
        /* Mean power over the last second or more; power of GPUs as reported by their drivers.
         * */
        double watts[GPUT_ENERGY_FIGURE_COUNT];
        double system_cpu_seconds; /* CPU time of all processes of the machine since the start */
        double main_cpu_seconds;
        double descendants_cpu_seconds;
    } now;

    struct {
        struct gput_peak main;        /* RSS of the main process: VmHWM or ru_maxrss */
        struct gput_peak descendants; /* RSS of the largest single descendant */
        struct gput_peak combined;    /* RSS of all together, shared pages counted once */
        /*
         * Memory that the kernel charged to a control group of exactly these processes. It
         * includes page cache that they filled, but not pages that other processes already had
         * in RAM, so it bounds RSS neither from above nor from below.
         */
        struct gput_peak control_group;
        /* What the kernel charged to the group with the tightest memory limit
         * (allowed.memory_max_bytes), which may contain other processes: the figure that this limit
         * applies to. */
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

    /* Where the time went: of the main thread, including its children while it waited for them;
     * of that thread alone; of all other threads of the tree together; of the main thread, and of
     * the others, while no GPU was busy. The source "time_went" says how it is known. */
    struct gput_wall time_went, main_thread, other_threads, gpu_idle, gpu_idle_others;
    double gpu_known_seconds; /* for how long it was known whether a GPU was busy */
    char programs[512]; /* the programs that used most CPU time: "make 3.1 s, cc1 41 s of 60" */
    char awaited[400];  /* "sort read a pipe of gzip for 1.2 s (90 % computing)" */

    struct {
        double cpu_seconds; /* CPU time of the sampler itself */
        double rss_bytes;   /* of the tracking process; NaN when it is the tracked one */
        uint64_t ticks;
        uint64_t late_ticks;     /* ticks that began more than a tenth of the interval late */
        uint64_t missed_ticks;   /* deadlines that passed during an earlier tick */
        uint64_t rows_lost;      /* rows that could not be written to the tracking file */
        uint64_t contradictions; /* figures that contradicted others and were withdrawn: bugs */
        double metrics_lost;     /* samples whose metrics a receiver did not accept, summed over
                                    receivers; NaN: no receivers */
        double node_seconds; /* how long it read the machine's figures, which one tracker of a job
                                does on each machine; NaN: it always did, for itself */
    } tracker;

    struct gput_energy energy;
    struct gput_limit_passed limit; /* the first limit that was exceeded */
    uint32_t n_later_limits;        /* how many of `later_limits` are used */
    struct gput_limit_passed
        later_limits[GPUT_LIMIT_KIND_COUNT - 1]; /* further limits that were exceeded, in order */

    uint32_t n_sources;
    struct gput_source sources[GPUT_MAX_SOURCES];

    uint32_t n_gpus; /* number of `gpus`; static_data.system_gpu_count counts all of the machine */
    double mpi_seconds; /* time in blocking MPI calls, from the regions of a report that was read;
                           NaN: not known */
    /* The last members; everything before them is plain data. */
    uint32_t gpu_capacity;
    struct gput_gpu *gpus; /* owned by the results; see results_reserve_gpus() */
};

/*
 * Reserves space for that many GPUs; results that are all zero have none. The caller calls
 * results_finish(). On GPUT_ERROR_MEMORY the space stays as it was.
 */
int results_reserve_gpus(struct gput_results *results, size_t count);

/* Sets everything to zero and removes sources and GPUs; keeps their space. */
void results_clear(struct gput_results *results);

/* Copies everything, GPUs included. `to` must be valid results or all zero; it stays as it was
 * on GPUT_ERROR_MEMORY. */
int results_copy(struct gput_results *to, const struct gput_results *from);

/* Sets all fields to unknown. */
void identity_forget(struct gput_identity *identity);

/* The first source of results that were read from a file of the older gpu_tracker. */
#define RESULTS_OLDER_FILE "older_file"

/* True for results of a gpu-tracker session, and not of a file of the older gpu_tracker, in
 * which the tracker's own counts are 0. */
bool results_are_own(const struct gput_results *results);

/* The share of a limit from which a value is near it. */
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

/* Returns the source of that name, or NULL. */
const struct gput_source *results_find_source(const struct gput_results *results, const char *name);

/* True where a source of that name is in that state. */
bool results_source_is(
    const struct gput_results *results, const char *name, enum gput_source_state state);

/* Adds the source of a kind of figure, or the reason why it is missing, formatted as by
 * printf(). Returns false if there are GPUT_MAX_SOURCES already, which is more than the library
 * itself adds. */
bool results_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *format, ...) __attribute__((format(printf, 4, 5)));
