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

/* The peaks of RSS within calls. The kernel keeps one peak for the process, which each mark reads
 * and resets. */
struct block_peaks {
    pthread_mutex_t lock; /* guards the segments, which are in the order of the readings */
    struct process_peak process;
    struct peak_segments segments;
};

/* The state of a thread that figures need; all zero at first. */
struct block_figures_thread {
    struct block_counters counters;
    int64_t call_started_ns; /* start of the call that the next mark stops; 0: not known */
};

/* The state for reading figures. All zero reads everything except energy, with ru_maxrss as peak
 * RSS. */
struct block_figures {
    /* ru_maxrss of the program before execve() if it hides a lower peak of this program; 0: it does
     * not. Until this program exceeds it, VmHWM is read after page faults. */
    int64_t carried_peak_bytes;
    /* Peak in KiB in the lower bits, and above them the number of page faults when it was read; 0:
     * never read. */
    _Atomic uint64_t own_peak;
    const struct process_peak_page *others; /* peaks that other readers in this process have
                                               reset */
    struct block_peaks *peaks;              /* owned; NULL: not asked for, or not possible */
    bool has_counters;                      /* hardware counters are wanted */
    struct own_gpu_time *gpu_time;          /* owned; NULL: not asked for, or not possible */
    _Atomic unsigned n_counted;             /* number of threads with counters */
    unsigned n_packages;
    struct block_energy_package {
        struct kept_file file;
        uint64_t range;             /* maximum of the counter, after which it wraps */
        _Atomic uint64_t energy_uj; /* since the package was opened */
        uint64_t first;
    } packages[BLOCK_FIGURES_MAX_PACKAGES];
};

/* Checks whether ru_maxrss is from the program before execve(), and finds the peaks that other
 * readers have reset. */
void block_figures_open_peak(struct block_figures *figures);

/*
 * Opens the energy counters of CPU packages: class/powercap/intel-rapl:N below `sysfs_root`. If
 * there are none, or one cannot be read, energy is SUB_TRACKING_UNKNOWN; that is not an error.
 */
void block_figures_open_energy(struct block_figures *figures, const char *sysfs_root);

/* Makes each mark reset the kernel's peak of RSS. Errors: /proc/self/clear_refs cannot be written;
 * there are then no peaks of calls. */
int block_figures_open_block_peaks(struct block_figures *figures, struct gput_error *error);

void block_figures_close(struct block_figures *figures);

/* Releases the counters of a thread; `figures` NULL: those of the log are already closed. */
void block_figures_end_thread(struct block_figures *figures, struct block_figures_thread *thread);

/* Reads all figures of the calling thread and its process: CPU time last at a start and first at a
 * stop, so that reading is not counted to the block. */
void block_figures_read(struct block_figures *figures, struct block_figures_thread *thread,
    enum sub_tracking_position position, struct sub_tracking_exact *exact);

/* Replaces the figures of the thread (not those of its process) by those that were read earlier in
 * another thread. */
void block_figures_take_thread(
    struct sub_tracking_exact *exact, const struct sub_tracking_exact *of_thread);
