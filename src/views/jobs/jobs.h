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

/* The kinds of files that were read for a rank, as in the catalogue. */
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
    char cpus[256];                   /* CPUs that it may run on: "0-3,8" */
    char clock[16];                   /* the kernel's state of the clock: "synchronized" */
    char command[128];                /* the program and its script */
    char user[65], job_name[64];      /* its owner; the scheduler's name for the job */
    double time_limit_seconds;        /* of the job */
    char start_text[32];
    char limit_enforced[16];       /* kind of the limit for which its tracker ended it: "ram" */
    double limit;                  /* in bytes or seconds */
    char oom_reason[96];           /* which group the figure is of */
    char ranks[128];               /* "0-3,8", where the session has several ranks */
    bool has_ranks_of_descendants; /* its ranks are descendants, some of which may be unseen */
    bool ram_is_at_least;          /* its peak comes from samples or from results so far */
    double pid, rank, world_size, restarts, exit_status, signal;
    double node_rank, node_count; /* number of its machine in the job; number of machines */
    double run_start;             /* start of the first rank of its run */
    double run_size;   /* its world size where that distinguishes concurrent runs; else 0 */
    double run_index;  /* position of its run in a sequence of runs; NaN: sorted by start */
    double start, end; /* seconds since the epoch, by its machine's clock until that is corrected */
    double
        first_sample; /* time of the first sample, never corrected: identifies its tracking file */
    double seconds, cpu_seconds;
    double mpi_seconds;         /* time in blocking MPI calls, where regions were recorded */
    struct gput_wall time_went; /* from its report, or its results so far */
    double cores, shared_cores, slurm_cores, system_cores; /* shared: cores of its control groups */
    double system_busy_cores; /* cores that all processes of its machine kept busy */
    uint64_t cgroup;          /* a hash */
    double max_ram_bytes, allowed_ram_bytes, max_gpu_ram_bytes;
    double ram_of_limit_bytes; /* the part of the peak that counts against the limit:
                                  results_ram_of_limit() */
    double read_bytes, written_bytes;
    double group_ram_bytes,
        slurm_ram_bytes; /* limit of its control groups; limit of all ranks of its job there */
    double gpu_percent, gpus, system_gpus; /* GPUs that it sees; all GPUs of its machine */
    double energy_joules, machine_joules,
        node_seconds;          /* its share; CPU and DRAM of the whole machine */
    double samples, rows_lost; /* rows in, and missing from, its tracking file */
    double missing_seconds;    /* time at its end that no sample covers; 0: none */
    double oom_killed; /* processes killed in its control group; includes other sessions' where it
                          shares the group */
    uint64_t samples_hash, first_row; /* 0: no samples */
    /* Set when jobs are formed: */
    size_t job, machine;
    double busy_cores, share_cores, efficiency_percent, waited_seconds;
    bool is_straggler;
    bool is_retried; /* the launcher restarted the rank; a later session continues it */
    /* Sums over the earlier sessions of its rank, which are retried: */
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
    size_t rank; /* the rank that wrote it, or JOBS_NO_RANK */
};

/* How the offset of a clock was found; texts of the column `clock_source`. */
#define JOBS_CLOCK_REFERENCE "reference"
#define JOBS_CLOCK_BOOT "same boot"
#define JOBS_CLOCK_MARKS "marks"
#define JOBS_CLOCK_ENDS "starts and ends"
#define JOBS_CLOCK_STARTS "starts"
#define JOBS_CLOCK_NONE "none" /* not compared: sessions there need not start together */

/* Times that differ by less count as equal: ranks of one job never take exactly as long. */
#define JOBS_ALIKE_SECONDS 2.0

/* One machine of one job. */
struct jobs_machine {
    size_t job, first, count; /* range of its ranks in `ranks` */
    size_t clock;             /* the first machine of the job with the same boot id: one clock */
    const char *name, *boot_id;
    const char *kernel_clock; /* the kernel's state of the clock: synchronized or not */
    double cores, seconds, cpu_seconds, max_ram_bytes, energy_joules;
    double ram_of_limit_bytes; /* highest sum of the ranks' values at one moment */
    double allowed_ram_bytes;  /* limit of its ranks together */
    double ram_percent;        /* of allowed_ram_bytes */
    double unread_seconds; /* time in which ranks ran and none read its joules; NaN: another machine
                              has the same clock, or there are no joules */
    double clock_offset_seconds, clock_doubt_seconds; /* against the reference, before correction */
    const char *clock_source;                         /* JOBS_CLOCK_… */
    char clock_block[48]; /* for JOBS_CLOCK_MARKS: the block whose calls end together */
    bool clock_is_corrected;
    bool ram_is_at_least;   /* because a rank's is */
    bool clock_is_doubtful; /* its times are not compared with other machines' */
};

struct jobs_job {
    char name[160];
    size_t first, count; /* of its ranks */
    size_t first_machine, n_machines;
    const char *noun; /* what a session of it is called: "rank", "element", "task", "session" */
    const char *session_noun; /* likewise; "session" where one of them has several ranks */
    bool has_ranks, has_tasks;
    bool is_next_run;          /* the job before it has the same name */
    bool overlaps_another_run; /* overlaps another run of that name and size; only the starts of
                                  their ranks tell them apart */
    bool is_array;        /* each rank has an allocation of its own while it runs; so have pods */
    bool are_independent; /* no rank waits for another: elements of an array, tasks, steps of a
                             workflow */
    bool is_list; /* no launcher groups its sessions, and they did not run together: they are not
                     compared */
    double world_size, missing, failed, unfinished;
    size_t present,
        retried; /* sessions that are the last of their rank, and those that were restarted */
    bool all_failed, all_had_failed_tries; /* all last sessions failed; all had failed before */
    bool are_comparable; /* false where no rank's end is known and their times differ */
    double known_ranks;  /* ranks seen, where some may be unseen (has_ranks_of_descendants); NaN:
                            none may */
    double start, seconds, cpu_seconds, cores,
        efficiency_percent; /* cores: for an array the mean, for a list the mean while sessions ran
                             */
    double run_seconds;     /* time in which at least one session ran */
    double core_seconds;    /* allocated core-seconds */
    double other_cores;     /* the part of `cores` that other programs kept busy while ranks ran */
    double busy_core_seconds, known_core_seconds; /* core-seconds of ranks and other programs, and
                                                     of all cores, meanwhile */
    double max_ram_bytes, max_gpu_ram_bytes, gpus, gpu_percent;
    double machine_ram_bytes, allowed_ram_bytes; /* the machine that came closest to its limit */
    double ram_percent;
    const char *fullest;                   /* the name of that machine */
    bool ram_is_at_least;                  /* because a rank's is */
    const char *user, *command, *job_name; /* from its first session that has it; "": none has */
    double time_limit_seconds;
    size_t allocation; /* number from 1; 0: it has no scheduler id, or is an array */
    double energy_joules, cpu_joules, gpu_joules;
    double median_seconds, slowest_seconds, slowest_rank;
    double median_cpu_seconds, busiest_cpu_seconds, busiest_rank, imbalance_percent;
    double waited_seconds;
};

/* Everything that ran under one scheduler id: consecutive jobs of the list of jobs. */
struct jobs_allocation {
    const char *job_id, *job_name, *user; /* texts of ranks, not owned; "": not known */
    const char *fullest;                  /* machine with the highest RAM */
    size_t first_job, n_jobs, n_sessions, n_machines, n_failed, n_unfinished;
    bool has_no_times; /* the start or end of a session is unknown */
    bool ram_is_at_least;
    double start, seconds, run_seconds, idle_seconds; /* idle: no tracked session ran */
    double cpu_seconds, cores, core_seconds, efficiency_percent;
    double machine_ram_bytes;              /* RAM of the fullest machine */
    double allowed_ram_bytes, ram_percent; /* the machine that came closest to its limit */
    double time_limit_seconds, time_percent;
    double slurm_cores, slurm_ram_bytes, share_cores,
        max_busy_cores; /* the highest value of any session */
    char ask[96];       /* suggested options for the next run; "": none */
};

/* One statement for the user, about a job or about the files. */
struct jobs_finding {
    double job; /* number of the job; NaN: about the files */
    const char *kind;
    char *text, *evidence; /* owned */
};

struct gput_jobs {
    struct jobs_rank *ranks; /* by job, machine and rank */
    size_t n_ranks;
    const struct jobs_rank *
        *order;            /* ranks in the order in which people count, job by job; owned */
    struct jobs_gpu *gpus; /* in the order of ranks */
    size_t n_gpus;
    struct jobs_job *jobs;
    size_t n_jobs;
    struct jobs_machine *machines;
    size_t n_machines;
    struct jobs_allocation *allocations;
    size_t n_allocations;
    struct jobs_finding *findings;
    size_t n_findings;
    struct jobs_marks *marks; /* files of marks; these hold no figures of ranks */
    size_t n_marks;
    size_t folder, n_folders; /* number of the folder that is being read, and of folders so far */
    double files_left_out;
    bool is_in_spool; /* the file that is being read is in a spool */
    bool failed;      /* memory ran out */
};

/* jobs_read.c: reads every file of a path. A file that cannot be read becomes a finding. */
int jobs_read(struct gput_jobs *jobs, const char *path, struct gput_error *error);

/* jobs_sort.c: unites the files of each session, then sorts ranks into jobs and machines. */
void jobs_sort(struct gput_jobs *jobs);

/* jobs_run_index.c: sets `run_index` of sessions of one name and run, and reorders them. */
void jobs_index_runs(struct gput_jobs *jobs, struct jobs_rank *ranks, size_t count);
/* True where it started long after the end of `before`, a session of the same machine: it
 * belongs to a later run. */
bool jobs_is_much_later(const struct jobs_rank *rank, const struct jobs_rank *before);

/* Names a job by its pod: the job of an index of Kubernetes has the name in that of its pod, or in
 * the host name of that: "JOB-INDEX-RANDOM", "JOB-INDEX". */
void jobs_set_name_from_pod(struct jobs_rank *rank, const char *pod);
/* True where both are sessions of one index and the first one failed. */
bool jobs_is_retry(const struct jobs_rank *rank, const struct jobs_rank *before);

/* jobs_files.c: unites the files of each session, in the order of sessions. Sets alias[n] to the
 * number (by `machine`) of the rank into which rank n was merged. */
void jobs_unite_files(struct gput_jobs *jobs, size_t *alias);
/* Removes ranks without a path: those that were merged into another or left out. */
void jobs_drop_empty(struct gput_jobs *jobs);
void jobs_sort_ranks(struct gput_jobs *jobs, int (*compare)(const void *, const void *));
/* Compares two numbers for sorting; NaN comes last. */
int jobs_compare_numbers(double left, double right);

/* jobs_nested.c: leaves out (removes the path of) sessions within others, and sessions of
 * launchers whose ranks have files of their own. Ranks must be sorted by machine. */
void jobs_leave_out_nested(struct gput_jobs *jobs);

/* jobs_clocks.c: finds which rank wrote which file of marks. */
void jobs_find_ranks_of_marks(struct gput_jobs *jobs);

/* jobs_clocks.c: compares the clocks of a job's machines, and corrects those that are off. */
void jobs_compare_clocks(struct gput_jobs *jobs, struct jobs_job *job);

/* Returns a figure of a rank with the time in which the rank ran; all time where
 * that is not known. */
struct span jobs_span_of(const struct jobs_rank *rank, double value);

/* Sets `overlaps_another_run` of all jobs. */
void jobs_find_runs_at_once(struct gput_jobs *jobs);

/* True for an indexed job of Kubernetes whose pods did not all run at once: as many run as there
 * is space, the others follow. */
bool jobs_runs_pods_in_sequence(const struct gput_jobs *jobs, const struct jobs_job *job);
/* Sets `run_size` of sessions of one name whose run is unknown; they are in the order of their
 * starts. */
void jobs_find_run_sizes(struct jobs_rank *ranks, size_t count);

/* jobs_figures.c: computes the figures of a job and its machines. */
void jobs_add_up(struct gput_jobs *jobs, struct jobs_job *job);

/* jobs_allocations.c: adds up everything that ran under one scheduler id, and suggests what to
 * request next time. */
void jobs_add_allocations(struct gput_jobs *jobs);

/* jobs_advice.c: adds the findings of a job. */
void jobs_advise(struct gput_jobs *jobs, const struct jobs_job *job);

/* Returns the percentage of its time that a rank waited for a CPU or was held by a quota. NaN:
 * not known. */
double jobs_cpu_wait_percent(const struct jobs_rank *rank);

/* jobs_text.c: writes the summary for people. */
void jobs_write_text(const struct gput_jobs *jobs, struct str *text);

/* jobs_finding.c: adds a finding about a job, or about the files where `job` is NaN. `evidence`
 * may be NULL. */
void jobs_add_finding(struct gput_jobs *jobs, double job, const char *kind, const char *evidence,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Returns the launcher that ended the rank as it ends all of its workers, such as "Spark". NULL:
 * none did. */
const char *jobs_stopped_by(const struct jobs_rank *rank);

/* True where its command failed or was killed. */
bool jobs_has_failed(const struct jobs_rank *rank);

/* True where the kernel most likely killed it, because its control group ran out of memory. */
bool jobs_is_out_of_memory(const struct jobs_rank *rank);

/* Writes how a failed rank ended: "exit status 3, ram limit exceeded (2 GB)". */
#define JOBS_END_SIZE 128
void jobs_format_end(const struct jobs_rank *rank, char text[JOBS_END_SIZE]);

/* Reads the next range of a list such as "0-3,8". Returns false at its end. */
bool jobs_next_ranks(const char **at, double *first, double *last);

/* Writes the name of a rank for sentences: "rank 3 on n1". */
void jobs_name_rank(const struct jobs_rank *rank, char *text, size_t size);

/* True where its file says neither how its command ended nor that tracking ended. (A process
 * that tracks itself runs on after tracking.) */
bool jobs_is_unfinished(const struct jobs_rank *rank);

/* True for one of GNU parallel's jobs, or an element of an array. Ranks within one of these
 * belong together. */
bool jobs_is_task(const struct jobs_rank *rank);

/* Writes a number of cores: "2 cores", or "1.5 cores" where it is a mean. */
#define JOBS_CORES_SIZE 40
const char *jobs_format_cores(double cores, char text[JOBS_CORES_SIZE]);
