/*
 * What a session saw at one tick: the sample, and the figures of each process and each GPU at that
 * moment. For front ends that show or export a session while it runs.
 *
 *     struct gput_snapshot *snapshot;
 *     if (gput_session_latest_snapshot(session, &snapshot, &error) == GPUT_OK) {
 *         for (size_t i = 0; i < gput_snapshot_process_count(snapshot); i++) {
 *             const struct gput_snapshot_process *process = gput_snapshot_process(snapshot, i);
 *             printf("%d %s %.1f\n", (int)process->pid, process->name, process->cpu_percent);
 *         }
 *         gput_snapshot_release(snapshot);
 *     }
 *
 * A snapshot never changes. It may be read in any thread and for any time, also after the session
 * was destroyed. The session continues to sample and does not wait for it. Figures are in base
 * units (bytes, seconds, watts; 100 percent is one core or one GPU); one that is not known is NaN,
 * never 0.
 */
#ifndef GPUTRACKER_SNAPSHOT_H
#define GPUTRACKER_SNAPSHOT_H

#include <gputracker/energy.h>
#include <gputracker/error.h>
#include <gputracker/measurement.h>
#include <gputracker/session.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_snapshot;

/**
 * The snapshot of the last tick; needs the option `snapshots`. It may be called from any thread
 * between the beginning of tracking and gput_session_destroy(). It neither waits for a tick nor
 * delays one. gput_snapshot_number() tells whether the snapshot is a new one.
 *
 * On success the caller releases `*snapshot` by gput_snapshot_release(); on failure it is NULL.
 * Errors: GPUT_ERROR_STATE when the option was not set, tracking has not begun, or this is a fork
 * of the process that created the session.
 */
GPUT_API int gput_session_latest_snapshot(
    struct gput_session *session, struct gput_snapshot **snapshot, struct gput_error *error);

/** Releases the caller's reference; the last one frees the snapshot. NULL is fine. */
GPUT_API void gput_snapshot_release(struct gput_snapshot *snapshot);

/** The number of its tick: 1 is the first of the session. A number may be skipped. */
GPUT_API uint64_t gput_snapshot_number(const struct gput_snapshot *snapshot);

/** Since tracking began. */
GPUT_API double gput_snapshot_elapsed_seconds(const struct gput_snapshot *snapshot);

/** The sample, with the moment when it was taken. Belongs to the snapshot. */
GPUT_API const struct gput_sample *gput_snapshot_sample(const struct gput_snapshot *snapshot);

/** Power in watts: the mean of about the last second. */
GPUT_API double gput_snapshot_watts(
    const struct gput_snapshot *snapshot, enum gput_energy_figure figure);

/** A tracked process; any process, in a session that measures the machine alone. Shared: see
 * gputracker/sized.h. */
struct gput_snapshot_process {
    pid_t pid;
    pid_t parent;       /**< its parent now; it need not be tracked */
    int64_t start_ns;   /**< start time since the epoch; with `pid` it identifies the process */
    bool is_main;       /**< the main process of the session */
    char state;         /**< as in /proc/PID/stat: 'R', 'S', 'D', 'T', 'Z' … */
    char name[48];      /**< the kernel's comm; bytes that are not UTF-8 are U+FFFD */
    uint32_t threads;   /**< 0 once it has ended */
    double cpu_seconds; /**< used since tracking began, by its CPU clock */
    double cpu_percent; /**< since the snapshot before; NaN in the first one */
    /** RSS; pages that it shares with others count in each. NaN until it has memory of its own,
     * during vfork() and execve(). */
    double ram_bytes;
    double private_ram_bytes; /**< the part that no other process maps, as last read */
    double peak_ram_bytes;    /**< the highest RSS of all ticks so far */
    double gpu_ram_bytes;     /**< as drivers list it, all GPUs together */
    const char *command_line; /**< separated by blanks; NULL unless the options `processes` and
                                   `command_lines` are set, and it was read */
    /** Field 22 of /proc/PID/stat: proves that a pid is still this process. */
    uint64_t start_ticks;
    /** Where the time of its threads went since tracking began: seconds, summed over all threads.
     * The kernel counts the first two; storage (and paging) is sampled. NaN in a session that
     * measures the machine alone. */
    double computing_seconds, cpu_wait_seconds, storage_seconds;
    /** Its activity at the last look: "computing" if any of its threads ran, else what the first
     * one waits for: "cpu_wait", "storage", "pipe", "lock" …. NULL: not known. Static. */
    const char *activity;
};

/** The number of processes: living ones, and those that have ended but were not waited for
 * (zombies). */
GPUT_API size_t gput_snapshot_process_count(const struct gput_snapshot *snapshot);

/** One of them: main first, parents before their children; in no order, if all of the machine are
 * listed. Belongs to the snapshot; NULL: no such index. */
GPUT_API const struct gput_snapshot_process *gput_snapshot_process(
    const struct gput_snapshot *snapshot, size_t index);

/** A GPU. Shared: see gputracker/sized.h. */
struct gput_snapshot_gpu {
    char uuid[96]; /**< the driver's; where it has none, the PCI address */
    char name[96]; /**< "NVIDIA H200" */
    bool selected; /**< counts in the utilization of all GPUs: see gput_session_options.gpu_uuids */
    double ram_capacity_bytes;
    double ram_bytes;              /**< in use by any process */
    double main_ram_bytes;         /**< by the main process */
    double descendants_ram_bytes;  /**< by its descendants */
    double combined_ram_bytes;     /**< by both, shared memory once */
    double utilization_percent;    /**< of the whole GPU, by any process */
    double main_sm_percent;        /**< share of its processors (SM, CU, EU) used by main */
    double descendants_sm_percent; /**< and by its descendants */
    double power_watts;            /**< NaN of a MIG instance: power is that of its card */
    /** Figures of the card that this GPU is, or is a part of; NaN: not known. */
    double clock_mhz, max_clock_mhz;
    double temperature_celsius, slowdown_celsius; /**< now, and where the chip slows itself down */
    double power_limit_watts;
    char slowed_by[160]; /**< "power_cap+thermal"; "" while nothing slows it, or it is not known */
};

/** The number of GPUs; MIG instances are GPUs of their own. */
GPUT_API size_t gput_snapshot_gpu_count(const struct gput_snapshot *snapshot);

/** One of them, in the order of gput_results_gpu_text(). Belongs to the snapshot; NULL: no such
 * index. */
GPUT_API const struct gput_snapshot_gpu *gput_snapshot_gpu(
    const struct gput_snapshot *snapshot, size_t index);

/** A tracked process that holds RAM of a GPU. Shared: see gputracker/sized.h. */
struct gput_snapshot_gpu_user {
    pid_t pid;
    double ram_bytes; /**< on that GPU alone; NaN where the driver does not say */
};

/** The number of tracked processes that the driver of that GPU lists. */
GPUT_API size_t gput_snapshot_gpu_user_count(const struct gput_snapshot *snapshot, size_t gpu);

/** One of them, in the order of pids. Belongs to the snapshot; NULL where there is none. */
GPUT_API const struct gput_snapshot_gpu_user *gput_snapshot_gpu_user(
    const struct gput_snapshot *snapshot, size_t gpu, size_t index);

#ifdef __cplusplus
}
#endif

#endif
