/*
 * The exact figures of a mark: what the kernel has counted until now.
 */
#ifndef BLOCKS_BLOCK_FIGURES_H
#define BLOCKS_BLOCK_FIGURES_H

#include "formats/marks/sub_tracking_file.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BLOCK_FIGURES_MAX_PACKAGES 64

/* What is needed to read them; all zero reads everything but energy, and takes ru_maxrss for the
 * peak of RSS. */
struct block_figures {
    /* What execve() left in ru_maxrss of the program before, which tells of no lower peak; 0: less
     * than this one had. Until it has more, its own is read anew when pages were faulted in. */
    int64_t carried_peak_bytes;
    _Atomic uint64_t own_peak; /* KiB, and above them the page faults when it was read; 0: never */
    unsigned n_packages;
    struct block_energy_package {
        int fd;
        uint64_t range;             /* the counter starts over after this */
        _Atomic uint64_t energy_uj; /* since it was opened */
        uint64_t first;
    } packages[BLOCK_FIGURES_MAX_PACKAGES];
};

/* Looks whether ru_maxrss is that of the program before. */
void block_figures_open_peak(struct block_figures *figures);

/*
 * Looks for energy counters of processor packages: class/powercap/intel-rapl:N below `sysfs_root`.
 * None, or one that cannot be read, is no error: energy is then SUB_TRACKING_UNKNOWN.
 */
void block_figures_open_energy(struct block_figures *figures, const char *sysfs_root);
void block_figures_close(struct block_figures *figures);

/* Reads all figures of the calling thread and its process: CPU time last at a start and first at a
 * stop, so that reading is not counted to the block. */
void block_figures_read(struct block_figures *figures, enum sub_tracking_position position,
    struct sub_tracking_exact *exact);

#endif
