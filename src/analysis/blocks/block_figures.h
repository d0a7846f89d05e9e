/*
 * The exact figures of a mark: the kernel's counters at that moment.
 */
#pragma once

#include "analysis/blocks/block_counters.h"
#include "analysis/blocks/process_peak.h"
#include "base/error.h"
#include "base/file.h"
#include "files/marks/sub_tracking_file.h"
#include "machine/gpu/own_gpu_time.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BLOCK_FIGURES_MAX_PACKAGES 64

/* The peaks of RSS in calls. The kernel keeps one peak of a process, which each mark reads and
 * resets. */
struct block_peaks {
    pthread_mutex_t lock; /* of the segments, whose order is that of the readings */
    struct process_peak process;
    struct peak_segments segments;
};

/* What figures need to know of a thread; all zero at first. */
struct block_figures_thread {
    struct block_counters counters;
    int64_t call_started_ns; /* of the call that the next mark stops; 0: not known */
};

/* State for reading them; all zero reads everything except energy, with ru_maxrss as peak RSS. */
struct block_figures {
    /* ru_maxrss of the program before execve(), which hides a lower peak of this one; 0: it was
     * lower. Until this program exceeds it, VmHWM is read after page faults. */
    int64_t carried_peak_bytes;
    /* KiB in the lower bits, above them the page faults when it was read; 0: never. */
    _Atomic uint64_t own_peak;
    const struct process_peak_page *others; /* what others in this process read and reset */
    struct block_peaks *peaks;              /* owned; NULL: not asked for, or not possible */
    bool has_counters;                      /* they are asked for */
    struct own_gpu_time *gpu_time;          /* owned; NULL: not asked for, or not possible */
    _Atomic unsigned n_counted;             /* threads with counters */
    unsigned n_packages;
    struct block_energy_package {
        struct kept_file file;
        uint64_t range;             /* the counter wraps after this */
        _Atomic uint64_t energy_uj; /* since the package was opened */
        uint64_t first;
    } packages[BLOCK_FIGURES_MAX_PACKAGES];
};

/* Checks whether ru_maxrss is from the program before execve(), and shares what others reset. */
void block_figures_open_peak(struct block_figures *figures);

/*
 * Finds the energy counters of CPU packages: class/powercap/intel-rapl:N below `sysfs_root`.
 * Without any, or with one that cannot be read, energy is SUB_TRACKING_UNKNOWN; that is not an
 * error.
 */
void block_figures_open_energy(struct block_figures *figures, const char *sysfs_root);

/* Begins to reset the kernel's peak of RSS at each mark. Errors: /proc/self/clear_refs cannot be
 * written; then there are no peaks of calls. */
int block_figures_open_block_peaks(struct block_figures *figures, struct gput_error *error);

void block_figures_close(struct block_figures *figures);

/* Gives back what a thread has; `figures` NULL: they are closed. */
void block_figures_end_thread(struct block_figures *figures, struct block_figures_thread *thread);

/* Reads all figures of the calling thread and its process: CPU time last at a start and first at a
 * stop, so that reading is not counted to the block. */
void block_figures_read(struct block_figures *figures, struct block_figures_thread *thread,
    enum sub_tracking_position position, struct sub_tracking_exact *exact);

/* Makes those of them that are a thread's (not its process's) the ones that were read before in
 * another thread. */
void block_figures_take_thread(
    struct sub_tracking_exact *exact, const struct sub_tracking_exact *of_thread);
