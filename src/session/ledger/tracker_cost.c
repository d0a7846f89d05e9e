#include "session/ledger/tracker_cost.h"

#include "base/clock.h"
#include "base/file.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"

#include <math.h>
#include <unistd.h>

void tracker_cost_init(struct tracker_cost *cost)
{
    *cost = (struct tracker_cost){.statm_fd = -1, .rss_bytes = NAN};
}

void tracker_cost_finish(struct tracker_cost *cost)
{
    file_close_fd(&cost->statm_fd);
}

void tracker_cost_begin(struct tracker_cost *cost, bool is_inside)
{
    cost->is_inside = is_inside;
    cost->cpu_at_start_ns = clock_process_cpu_ns();
    if (!is_inside && cost->statm_fd < 0)
        procfs_open("/proc", PROCFS_SYSTEM, "self/statm", &cost->statm_fd, NULL);
}

void tracker_cost_note_thread(struct tracker_cost *cost)
{
    if (cost->is_inside)
        cost->sampling_ns = clock_thread_cpu_ns();
}

void tracker_cost_end_thread(struct tracker_cost *cost)
{
    cost->sampling_counts = session_counts_of_thread();
    tracker_cost_note_thread(cost);
}

static double own_rss_bytes(const struct tracker_cost *cost)
{
    char text[PROCFS_TEXT_SIZE];
    struct proc_statm statm;
    if (cost->is_inside || cost->statm_fd < 0 ||
        procfs_reread(cost->statm_fd, text, sizeof text, NULL) != GPUT_OK ||
        proc_statm_parse(text, &statm) != GPUT_OK)
        return NAN;
    return (double)(statm.resident_pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

void tracker_cost_update(
    struct tracker_cost *cost, int64_t own_threads_ns, const struct schedule *schedule)
{
    cost->own_threads_ns = own_threads_ns;
    cost->late_ticks = schedule->late_ticks;
    cost->missed_ticks = schedule->missed_ticks;
    cost->rss_bytes = own_rss_bytes(cost);
    cost->cpu_ns = cost->is_inside ? tracker_cost_threads_ns(cost)
                                   : clock_process_cpu_ns() - cost->cpu_at_start_ns;
}

int64_t tracker_cost_threads_ns(const struct tracker_cost *cost)
{
    return cost->sampling_ns + cost->own_threads_ns;
}

void tracker_cost_fill(const struct tracker_cost *cost, struct gput_results *results)
{
    results->tracker.rss_bytes = cost->rss_bytes;
    results->tracker.cpu_seconds = clock_seconds_of_ns(cost->cpu_ns);
    results->tracker.ticks = cost->ticks;
    results->tracker.late_ticks = cost->late_ticks;
    results->tracker.missed_ticks = cost->missed_ticks;
}
