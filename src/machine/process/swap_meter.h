/*
 * How much memory of the tree is in swap: the sum of VmSwap of its processes. A page that several
 * processes share since a fork counts for each of them, and shared memory (tmpfs) for none. The
 * file costs some 15 us a process, so each is read at most twice a second and few at a tick; none
 * while nothing on the machine is in swap.
 */
#pragma once

#include "machine/process/process_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeroes is a meter that has read nothing. */
struct swap_meter {
    size_t turn; /* the process that is read first at the next tick */
};

/* After a scan. With `uses_swap` something on the machine may be in swap. NaN: not known,
 * because no process could be read. */
double swap_meter_measure(
    struct swap_meter *meter, const struct process_tree *tree, bool uses_swap, int64_t now_ns);
