/*
 * How many cores this process may use: an option of functions that read large files.
 *
 *     struct gput_timeline_options options = gput_timeline_options_default();
 *     options.cores = gput_usable_cores();
 *     printf("Reading on %u cores.\n", options.cores);
 */
#ifndef GPUTRACKER_CORES_H
#define GPUTRACKER_CORES_H

#include <gputracker/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The cores of this process's affinity mask, or fewer where its control group has a quota or a
 * smaller set, or Slurm allocated less. A part of a core counts as one.
 *
 * Returns: at least 1.
 */
GPUT_API unsigned gput_usable_cores(void);

#ifdef __cplusplus
}
#endif

#endif
