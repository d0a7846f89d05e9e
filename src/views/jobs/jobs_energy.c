/* Energy of a machine's CPU and DRAM. Trackers of its ranks take turns in reading its counters,
 * or each reads them. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns when a rank read the counters. A rank that takes over from another reads them until it
 * ends. */
static struct span reading_of(const struct jobs_rank *rank)
{
    struct span span = jobs_span_of(rank, rank->machine_joules);
    if (rank->node_seconds <= 0)
        span.value = NAN;
    else if (!isinf(span.end) && rank->node_seconds < rank->seconds)
        span.start = span.end - rank->node_seconds;
    return span;
}

/* Returns for how long ranks ran and none read the counters. NaN: not known. */
static double unread_seconds(
    struct span *readings, size_t n_readings, struct span *all, size_t n_all)
{
    size_t count = 0;
    for (size_t i = 0; i < n_readings; i++) {
        if (!isnan(readings[i].value))
            readings[count++] = readings[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (isinf(readings[i].end))
            return NAN;
    }
    return count > 0
               ? fmax(0, spans_covered_seconds(all, n_all) - spans_covered_seconds(readings, count))
               : NAN;
}

struct jobs_energy jobs_energy_of(
    struct gput_jobs *jobs, const char *boot_id, size_t first, size_t count)
{
    struct jobs_energy energy = {NAN, NAN};
    size_t n_readings = 0, n_all = 0;
    CLEANUP_FREE struct span *readings = calloc(count + 1, sizeof *readings);
    CLEANUP_FREE struct span *all = calloc(count + 1, sizeof *all);
    jobs->failed |= !readings || !all;
    for (size_t i = first; readings && all && i < first + count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (strcmp(rank->boot_id, boot_id) != 0)
            continue;
        readings[n_readings++] = reading_of(rank);
        struct span span = jobs_span_of(rank, NAN);
        if (!isinf(span.end))
            all[n_all++] = span;
    }
    if (readings && all) {
        energy.joules = spans_sum_covered_once(readings, n_readings);
        energy.unread_seconds = unread_seconds(readings, n_readings, all, n_all);
    }
    return energy;
}
