/*
 * Which processes have the device files of a GPU driver open. A process without one does not use
 * the GPU, whatever pids the driver lists.
 */
#pragma once

#include "machine/gpu/source.h"

#include <stdbool.h>

/* Whether this process has a file of that name, in any folder, open. */
bool device_files_are_own(const char *name);

/* Whether a process has a GPU of any driver open. False where that may not be read. */
bool device_files_any_gpu(const char *procfs_root, pid_t pid);

/*
 * Whether it is certain that no tracked process has a file open whose name begins so, except the
 * file called `but` (NULL: no exception). False also when the files of some process may not be
 * listed, or there is no process.
 */
bool device_files_none_open(const char *procfs_root, const struct gpu_tracked *tracked,
    const char *prefix, const char *but);

/*
 * Whether the pids of a list are proven to be those of this procfs: each is there, and one of them
 * has a file open whose name begins so. This process, which may have them open only to ask the
 * driver, has to have one whose name begins with `own_prefix`. True of an empty list.
 */
bool device_files_prove_pids(const char *procfs_root, const struct gpu_process_list *list,
    const char *prefix, const char *but, const char *own_prefix);
