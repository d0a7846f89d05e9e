/*
 * Which processes have the files of a GPU's driver open. One that has none does not use the GPU,
 * whatever pids the driver lists.
 */
#ifndef GPU_DEVICE_FILES_H
#define GPU_DEVICE_FILES_H

#include "gpu/source.h"

#include <stdbool.h>

/* Whether a file of that name, in any folder, is open in this process: the driver works through it.
 */
bool device_files_are_ours(const char *name);

/*
 * Whether it is certain that no tracked process has a file open whose name begins so, but for the
 * one called `but` (NULL: none). False also where some process's files may not be listed, and
 * without any process.
 */
bool device_files_none_open(const char *procfs_root, const struct gpu_tracked *tracked,
    const char *prefix, const char *but);

#endif
