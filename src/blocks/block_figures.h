/*
 * The exact figures of a mark: the kernel's counters at that moment.
 */
#pragma once

#include "formats/marks/sub_tracking_file.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BLOCK_FIGURES_MAX_PACKAGES 64

/* State for reading them; all zero reads everything except energy, with ru_maxrss as peak RSS. */
struct block_figures {
    /* ru_maxrss of the program before execve(), which hides a lower peak of this one; 0: it was
     * lower. Until this program exceeds it, VmHWM is read after page faults. */
    int64_t carried_peak_bytes;
    /* KiB in the lower bits, above them the page faults when it was read; 0: never. */
    _Atomic uint64_t own_peak;
    unsigned n_packages;
    struct block_energy_package {
        int fd;
        uint64_t range;             /* the counter wraps after this */
        _Atomic uint64_t energy_uj; /* since the package was opened */
        uint64_t first;
    } packages[BLOCK_FIGURES_MAX_PACKAGES];
};

/* Checks whether ru_maxrss is from the program before execve(). */
void block_figures_open_peak(struct block_figures *figures);

/*
 * Finds the energy counters of CPU packages: class/powercap/intel-rapl:N below `sysfs_root`.
 * Without any, or with one that cannot be read, energy is SUB_TRACKING_UNKNOWN; that is no error.
 */
void block_figures_open_energy(struct block_figures *figures, const char *sysfs_root);
void block_figures_close(struct block_figures *figures);

/* Reads all figures of the calling thread and its process: CPU time last at a start and first at a
 * stop, so that reading is not counted to the block. */
void block_figures_read(struct block_figures *figures, enum sub_tracking_position position,
    struct sub_tracking_exact *exact);
