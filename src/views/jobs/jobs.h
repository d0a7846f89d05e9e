/*
 * Many sessions as the ranks of jobs: what is known of each rank, and of the machines and jobs that
 * they make up. Memory grows with the ranks, not with their samples.
 */
#pragma once

#include "base/error.h"
#include "base/spans.h"
#include "base/str.h"
#include "files/catalogue/catalogue.h"
#include "model/results.h"

#include <gputracker/jobs.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was read of a rank: kinds of files as the catalogue has them. */
enum jobs_files {
    JOBS_REPORT = CATALOGUE_REPORT,
    JOBS_KEPT = CATALOGUE_KEPT,
    JOBS_SAMPLES = CATALOGUE_SAMPLES
};

/* A figure is NaN, and a text "", when it is not known. */
struct jobs_rank {
    char *path;     /* the file to show; owned */
    char *report;   /* its report where that is another one, or NULL; owned */
    unsigned files; /* enum jobs_files */
    size_t folder;  /* equal for files of one folder; 0: named by itself */
    char launcher[16], job_id[96], task[40], step[32], run[64];
    char host[65], node[65], boot_id[37], version[32];
    char session_id[48], within[256]; /* see struct gput_identity */
    char cpus[256];                   /* that it may run on */
    char clock[16];                   /* what the kernel says of it */
    char command[128];                /* the program and its script */
    char user[65], job_name[64];      /* whose it is; the scheduler's name of the job */
    double time_limit_seconds;        /* of the job */
    char start_text[32];
    char limit_enforced[16]; /* kind of the limit for which its tracker ended it: "ram" */
    double limit;            /* in bytes or seconds */
    char oom_reason[96];     /* which group the figure is of */
    char ranks[128];         /* of a session whose rank is not one: "0-3,8" */
    bool are_of_descendants; /* its ranks: some may not have been seen */
    bool ram_is_at_least;    /* its peak: that of samples, or of results so far */
    double pid, rank, world_size, restarts, exit_status, signal;
    double node_rank, node_count; /* of its machine in the job; machines of that */
    double run_start;             /* of the first rank of its run */
    double run_size; /* its world size where that distinguishes runs that went on at once; else 0 */
    double run_index;  /* of its run among those that came one after the other; NaN: starts say */
    double start, end; /* seconds since the epoch, by its machine's clock until that is corrected */
    double first_sample; /* time of it, never corrected: it tells its tracking file from others */
    double seconds, cpu_seconds;
    double mpi_seconds;         /* in calls of MPI that wait, where regions were recorded */
    struct gput_wall time_went; /* of its report, or its results so far */
    double cores, shared_cores, slurm_cores, system_cores; /* shared: those of its control groups */
    double system_busy_cores;                              /* of all processes of its machine */
    uint64_t cgroup;                                       /* a hash */
    double max_ram_bytes, allowed_ram_bytes, max_gpu_ram_bytes;
    double ram_of_limit_bytes; /* of the peak: results_ram_of_limit() */
    double read_bytes, written_bytes;
    double group_ram_bytes,
        slurm_ram_bytes;                   /* of its control groups; of all its job's ranks there */
    double gpu_percent, gpus, system_gpus; /* of those that it sees; all of its machine */
    double energy_joules, machine_joules, node_seconds; /* share; CPU and DRAM of the machine */
    double samples, rows_lost;                          /* of its tracking file */
    double missing_seconds; /* at its end, of which it has no samples; 0: none */
    double oom_killed; /* processes of its control group, others' included where it has none of its
                          own */
    uint64_t samples_hash, first_row; /* 0: it has none */
    /* Of its job: */
    size_t job, machine;
    double busy_cores, share_cores, efficiency_percent, waited_seconds;
    bool is_straggler;
    bool is_retried; /* its launcher started the rank again, and another session is what it did then
                      */
    /* Of the sessions of its rank before it, which are retried: */
    double tried_seconds, tried_cpu_seconds;
    bool has_failed_try;
};

/* A GPU as one rank saw it. */
struct jobs_gpu {
    size_t rank;
    size_t position; /* among all before they are sorted: qsort() of musl is not stable */
    char uuid[96];
    double joules, percent; /* mean use */
};

/* No rank is known. */
#define JOBS_NO_RANK SIZE_MAX

/* A file of marks. */
struct jobs_marks {
    char *path;  /* owned */
    size_t rank; /* that wrote it, or JOBS_NO_RANK */
};

/* Why a clock is taken to be off by so much; texts of the column `clock_source`. */
#define JOBS_CLOCK_REFERENCE "reference"
#define JOBS_CLOCK_BOOT "same boot"
#define JOBS_CLOCK_MARKS "marks"
#define JOBS_CLOCK_ENDS "starts and ends"
#define JOBS_CLOCK_STARTS "starts"
#define JOBS_CLOCK_NONE "none" /* not compared: what ran there need not start together */

/* Times that are closer together are alike: ranks of one job do not take equally long. */
#define JOBS_ALIKE_SECONDS 2.0

/* One machine of one job. */
struct jobs_machine {
    size_t job, first, count; /* of its ranks, in the order of struct jobs */
    size_t clock;             /* the first machine of the job with the same boot id: one clock */
    const char *name, *boot_id;
    const char *kernel_clock; /* what the kernel says of it: synchronized or not */
    double cores, seconds, cpu_seconds, max_ram_bytes, energy_joules;
    double ram_of_limit_bytes; /* likewise a sum of the ranks' */
    double allowed_ram_bytes;  /* that its ranks may use together */
    double ram_percent;        /* of that */
    double unread_seconds;     /* in which ranks ran and none read its joules; NaN: of what has the
                                  clock of another one, or there are no joules */
    double clock_offset_seconds, clock_doubt_seconds; /* against the reference, before correction */
    const char *clock_source;                         /* JOBS_CLOCK_… */
    char clock_block[48];                             /* of marks: whose calls end together */
    bool clock_is_corrected;
    bool ram_is_at_least;   /* of a rank */
    bool clock_is_doubtful; /* its times are compared with no other machine's */
};

struct jobs_job {
    char name[160];
    size_t first, count; /* of its ranks */
    size_t first_machine, n_machines;
    const char *noun;         /* what its sessions are: "rank", "element", "task", "session" */
    const char *session_noun; /* likewise; "session" where one of them has several ranks */
    bool has_ranks, has_tasks;
    bool is_next_run; /* the job before it has the same name */
    bool is_at_once;  /* with another run of that name and size, and nothing but the starts of their
                         ranks distinguishes them */
    bool is_array;    /* each rank has an allocation of its own, while it runs: pods, too */
    bool are_independent; /* none waits for another: elements of an array, tasks, steps of a
                             workflow */
    bool is_list; /* no launcher says that its sessions belong together, nor did they run together:
                     none of them is compared with another */
    double world_size, missing, failed, unfinished;
    size_t present,
        retried; /* sessions: of ranks, and those after which these were started again */
    bool all_failed, all_had_failed_tries; /* in the end; before that */
    bool are_comparable; /* ranks: false where no end is known, and their times differ */
    double known_ranks; /* of sessions of descendants, some of which may not have been seen; NaN: no
                           such session is in it */
    double start, seconds, cpu_seconds, cores,
        efficiency_percent; /* cores: of an array on average, of a list while sessions ran */
    double run_seconds;     /* in which at least one of its sessions ran */
    double core_seconds;    /* that were allocated */
    double other_cores;     /* of `cores`, that others kept busy while ranks ran */
    double busy_core_seconds, known_core_seconds; /* of both, and of all cores, meanwhile */
    double max_ram_bytes, max_gpu_ram_bytes, gpus, gpu_percent;
    double machine_ram_bytes, allowed_ram_bytes; /* of the machine that came closest to its limit */
    double ram_percent;
    const char *fullest;                   /* its name */
    bool ram_is_at_least;                  /* of a rank */
    const char *user, *command, *job_name; /* of its first session that says it; "": none does */
    double time_limit_seconds;
    size_t allocation; /* from 1; 0: it has no id of a scheduler, or is an array */
    double energy_joules, cpu_joules, gpu_joules;
    double median_seconds, slowest_seconds, slowest_rank;
    double median_cpu_seconds, busiest_cpu_seconds, busiest_rank, imbalance_percent;
    double waited_seconds;
};

/* All that ran under one id of a scheduler: jobs that come one after the other in the list of them.
 */
struct jobs_allocation {
    const char *job_id, *job_name, *user; /* the texts of ranks; "": not known */
    const char *fullest;                  /* machine with the highest RAM */
    size_t first_job, n_jobs, n_sessions, n_machines, n_failed, n_unfinished;
    bool has_no_times; /* when a session ran is not known */
    bool ram_is_at_least;
    double start, seconds, run_seconds, idle_seconds; /* idle: nothing that was tracked ran */
    double cpu_seconds, cores, core_seconds, efficiency_percent;
    double machine_ram_bytes;              /* of the fullest machine */
    double allowed_ram_bytes, ram_percent; /* of the machine that came closest to its limit */
    double time_limit_seconds, time_percent;
    double slurm_cores, slurm_ram_bytes, share_cores, max_busy_cores; /* the highest of a session */
    char ask[96]; /* options for the next time; "": none */
};

/* What people should know: of the job, or of what was read. */
struct jobs_finding {
    double job; /* NaN: of the files */
    const char *kind;
    char *text, *evidence; /* owned */
};

struct gput_jobs {
    struct jobs_rank *ranks; /* by job, machine and rank */
    size_t n_ranks;
    const struct jobs_rank **order; /* of ranks, as people count; those of a job are together;
                                       owned */
    struct jobs_gpu *gpus;          /* in the order of ranks */
    size_t n_gpus;
    struct jobs_job *jobs;
    size_t n_jobs;
    struct jobs_machine *machines;
    size_t n_machines;
    struct jobs_allocation *allocations;
    size_t n_allocations;
    struct jobs_finding *findings;
    size_t n_findings;
    struct jobs_marks *marks; /* which have no figures of ranks */
    size_t n_marks;
    size_t folder, n_folders; /* that is read now, and how many were */
    double files_left_out;
    bool is_in_spool; /* what is read now */
    bool failed;      /* no memory */
};

/* jobs_read.c: reads every file of a path; what cannot be read is a finding. */
int jobs_read(struct gput_jobs *jobs, const char *path, struct gput_error *error);

/* jobs_sort.c: puts files of one session together, sorts ranks into jobs and machines. */
void jobs_sort(struct gput_jobs *jobs);

/* jobs_run_index.c: sets `run_index` of sessions of one name and run, and changes their order. */
void jobs_index_runs(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count);
/* It started long after `before`, of the same machine, has ended: it is of a later run. */
bool jobs_is_much_later(const struct jobs_rank *rank, const struct jobs_rank *before);

/* jobs_pods.c: the job of an index of Kubernetes has the name in that of its pod, or in the host
 * name of that: "JOB-INDEX-RANDOM", "JOB-INDEX". */
void jobs_take_name_of_pod(struct jobs_rank *rank, const char *pod);
/* As jobs_index_runs(); false, with nothing changed: not all of them are indices of Kubernetes. An
 * index that failed and comes again is of the same run. */
bool jobs_index_runs_of_pods(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count);
/* Both are sessions of one index, and the first one of them failed. */
bool jobs_is_retry(const struct jobs_rank *rank, const struct jobs_rank *before);

/* jobs_files.c: puts files of one session together, in the order of sessions. alias[n]: the number
 * of the rank that number n became, by `machine`. */
void jobs_unite_files(struct gput_jobs *jobs, size_t *alias);
/* Ranks that are put together or skipped have no path, and leave gaps: these are closed. */
void jobs_drop_empty(struct gput_jobs *jobs);
void jobs_sort_ranks(struct gput_jobs *jobs, int (*compare)(const void *, const void *));
/* NaN comes last. */
int jobs_compare_numbers(double left, double right);

/* jobs_nested.c: sessions within others, and those of launchers whose ranks have files of their
 * own, lose their paths; ranks are sorted by machine. */
void jobs_leave_out_nested(struct gput_jobs *jobs);

/* jobs_marks.c: how far the clock of one machine is ahead of another's by blocks that their ranks
 * exit together. */
struct jobs_blocks;
struct jobs_apart {
    double seconds, doubt; /* NaN: they have no block in common */
    size_t calls;
    char block[48];
};
void jobs_find_ranks_of_marks(struct gput_jobs *jobs);
/* The blocks of a rank with that clock; NULL: it has none. */
struct jobs_blocks *jobs_blocks_create(const struct gput_jobs *jobs, size_t clock);
struct jobs_apart jobs_blocks_compare(
    const struct gput_jobs *jobs, struct jobs_blocks *blocks, size_t clock);
void jobs_blocks_destroy(struct jobs_blocks *blocks);

/* jobs_clocks.c: compares the clocks of a job's machines, and puts right what is off. */
void jobs_compare_clocks(struct gput_jobs *jobs, struct jobs_job *job);

/* jobs_overlap.c: a figure of a rank, and when it ran; where that is not known: always. */
struct span jobs_span_of(const struct jobs_rank *rank, double value);

/* Sets `is_at_once` of all jobs. */
void jobs_find_runs_at_once(struct gput_jobs *jobs);

/* Of an indexed job of Kubernetes as many pods run at once as there is space; others follow. */
bool jobs_runs_pods_in_sequence(const struct gput_jobs *jobs, const struct jobs_job *job);
/* Sets `run_size` of sessions of one name, in the order of their starts, of which no run is known.
 */
void jobs_find_run_sizes(struct jobs_rank *ranks, size_t count);

/* jobs_energy.c: joules of a machine's CPU and DRAM as `count` ranks from `first` on read them; for
 * how long none of them did. */
struct jobs_energy {
    double joules, unread_seconds;
};
struct jobs_energy jobs_energy_of(
    struct gput_jobs *jobs, const char *boot_id, size_t first, size_t count);

/* jobs_figures.c: figures of machines and jobs. */
void jobs_add_up(struct gput_jobs *jobs, struct jobs_job *job);

/* jobs_cores.c: cores of a job, of its machines, whose `seconds` are known, and of its ranks. */
void jobs_add_cores(struct gput_jobs *jobs, struct jobs_job *job);

/* jobs_gpus.c: adds up the GPUs that the job's ranks see. */
void jobs_add_gpus(struct gput_jobs *jobs, struct jobs_job *job);

/* jobs_allocations.c: adds up all that ran under one id of a scheduler, and what to ask for next
 * time. */
void jobs_add_allocations(struct gput_jobs *jobs);

/* jobs_advice.c: findings of a job. */
void jobs_advise(struct gput_jobs *jobs, const struct jobs_job *job);

/* jobs_why.c: where the time of all ranks of a job went, as far as it is known. */
struct jobs_walls {
    struct gput_wall sum; /* without `samples` */
    size_t count;         /* of ranks */
};
struct jobs_walls jobs_add_walls(const struct gput_jobs *jobs, const struct jobs_job *job);
/* Appends what took more of the rank's time than of the others' time; nothing where that is not
 * known. */
void jobs_say_slower(
    const struct jobs_rank *rank, const struct jobs_walls *walls, struct str *text);
/* Finds ranks that waited for a CPU, storage or memory far longer than the others. */
void jobs_find_held(struct gput_jobs *jobs, const struct jobs_job *job);
/* The percentage of its time for which a rank waited for a CPU, a quota included; NaN: not known.
 */
double jobs_cpu_wait_percent(const struct jobs_rank *rank);

/* jobs_text.c: a summary for people. */
void jobs_write_text(const struct gput_jobs *jobs, struct str *text);

/* jobs_finding.c: adds a finding; `evidence` may be NULL. `job` NaN: of the files. */
void jobs_find(struct gput_jobs *jobs, double job, const char *kind, const char *evidence,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* What ended it as it ends all of its workers: "Spark"; NULL: nothing did. */
const char *jobs_stopped_by(const struct jobs_rank *rank);

/* Its command failed, or was killed. */
bool jobs_has_failed(const struct jobs_rank *rank);

/* The kernel killed it, most likely, as one of the processes of its control group. */
bool jobs_is_out_of_memory(const struct jobs_rank *rank);

/* "exit status 3, ram limit exceeded (2 GB)", of one that failed. */
#define JOBS_END_SIZE 128
void jobs_say_end(const struct jobs_rank *rank, char text[JOBS_END_SIZE]);

/* The next range of a list such as "0-3,8"; false: there is none. */
bool jobs_next_ranks(const char **at, double *first, double *last);

/* "rank 3 on n1", for sentences. */
void jobs_name_rank(const struct jobs_rank *rank, char *text, size_t size);

/* Neither how its command ended nor that tracking did. A process that tracks itself goes on. */
bool jobs_is_unfinished(const struct jobs_rank *rank);

/* One of GNU parallel's jobs, or an element of an array: ranks of a job in one belong together. */
bool jobs_is_task(const struct jobs_rank *rank);

/* "2 cores", "1.5 cores" of an array on average. */
#define JOBS_CORES_SIZE 40
const char *jobs_say_cores(double cores, char text[JOBS_CORES_SIZE]);
