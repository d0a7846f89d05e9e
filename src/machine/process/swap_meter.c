#include "machine/process/swap_meter.h"

#include "base/clock.h"
#include "machine/os/proc_status.h"

#include <math.h>

/* Swap changes slowly: of 500 processes each is read every 3 s at 10 Hz. */
#define INTERVAL_NS (NS_PER_SECOND / 2)
#define MAX_READ_AT_A_TICK 16

/* Reads a process unless that was done a moment ago. Returns whether it tried. */
static bool read_if_due(
    const struct process *process, const struct process_view *view, int64_t now_ns)
{
    struct polled *polled = process->polled;
    bool is_due = polled->swap_read_ns == 0 || now_ns - polled->swap_read_ns >= INTERVAL_NS;
    if (!is_due)
        return false;
    struct proc_status status;
    polled->swap_read_ns = now_ns;
    if (proc_status_read(view->procfs_root, polled->memory_pid, &status, NULL) != GPUT_OK)
        return true;
    polled->swapped_bytes = status.swapped_bytes;
    polled->knows_swap = true;
    return true;
}

double swap_meter_measure(
    struct swap_meter *meter, const struct process_tree *tree, bool uses_swap, int64_t now_ns)
{
    uint64_t bytes = 0;
    size_t n_read = 0, first = meter->turn;
    if (!uses_swap)
        return 0;
    bool is_known = false;
    for (size_t i = 0; i < tree->count; i++) {
        size_t place = (first + i) % tree->count;
        const struct process *process = tree->processes[place];
        /* A vfork child has the memory of its parent, and a zombie none. */
        if (process_is_zombie(process) || process_is_vfork_child(process))
            continue;
        if (n_read < MAX_READ_AT_A_TICK && read_if_due(process, &tree->view, now_ns)) {
            n_read++;
            meter->turn = place + 1;
        }
        bytes += process->polled->swapped_bytes;
        is_known |= process->polled->knows_swap;
    }
    return is_known ? (double)bytes : NAN;
}
