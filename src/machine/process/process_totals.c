#include "machine/process/process_totals.h"

#include "base/array.h"
#include "base/clock.h"
#include "machine/process/bytes.h"
#include "machine/process/process_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIVISIBLE_TICKS 5

int64_t cpu_divisible_ns(void)
{
    return DIVISIBLE_TICKS * clock_tick_ns();
}

bool process_totals_add_peak(struct process_totals *totals, struct process *process,
    int64_t until_ns, const struct peak_sum *peak)
{
    int64_t from_ns = process_unsummed_ns(process);
    process->summed = (struct summed_peak){.until_ns = until_ns};
    return peak_sums_add(&totals->sums, from_ns, until_ns, peak);
}

static bool is_short_lived(const struct process *process)
{
    return process->start.is_exact && process->end.is_exact && process_has_last_record(process) &&
           process->end.at_ns - process->start.at_ns < SHORT_LIVED_NS;
}

bool process_totals_add(struct process_totals *totals, struct process *process,
    struct process *parent, bool has_taskstats)
{
    totals->ignores_children |= process->history.ignores_children;
    if (process->cpu_ns > 0)
        totals->cpu_ns += process->cpu_ns;
    if (process->cpu_ns >= cpu_divisible_ns())
        totals->divisible_ns += process->cpu_ns;
    if (is_short_lived(process)) {
        totals->short_lived++;
        totals->short_lived_cpu_ns += process->cpu_ns;
    } else {
        totals->others_lack_ns += process_cpu_lacks_ns(process);
    }
    if (!process->is_main) {
        bool is_certain = process_has_own_memory(process);
        totals->without_exit_record += !process_has_last_record(process);
        totals->without_faults += process_has_no_faults(process);
        totals->unbounded_peaks += process->peak.trust != GPUT_PROCESS_PEAK_FINAL;
        bytes_raise(
            is_certain ? &totals->largest_descendant_bytes : &totals->largest_uncertain_bytes,
            process->peak.rss_bytes);
    }
    /* A parent that waits for its child collects what that has counted, and whichever process waits
     * for the parent collects both. */
    const struct task_counts *before = &process_baseline(process)->counts;
    struct task_counts counts = process_counts(process);
    if (parent && !process_has_ended(parent))
        task_counts_add(&totals->collected_before, before);
    else if (has_taskstats)
        return true;
    else if (!parent || parent->end.at_ns < process->end.at_ns)
        task_counts_add(&totals->uncollected, &counts);
    else if (parent->last_poll.read_ns <= process->end.at_ns) {
        /* The parent's own figures were read before it collected them. */
        task_counts_add(&parent->counts, &process->counts);
        if (process->baseline && !process_add_baseline(parent))
            return false;
        if (process->baseline)
            task_counts_add(&parent->baseline->counts, before);
    }
    return true;
}

/* Ends that are announced may be so much older than the latest one. */
#define DISORDER_NS NS_PER_SECOND

void peak_sums_finish(struct peak_sums *sums)
{
    free(sums->steps);
    *sums = (struct peak_sums){0};
}

/* The number of steps that begin before that time. */
static size_t steps_before(const struct peak_sums *sums, int64_t time_ns)
{
    size_t low = 0, high = sums->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sums->steps[middle].begin_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The step that begins at that time, where another one is divided if need be. There is memory for
 * it. */
static size_t step_at(struct peak_sums *sums, int64_t time_ns)
{
    size_t at = steps_before(sums, time_ns);
    if (at < sums->count && sums->steps[at].begin_ns == time_ns)
        return at;
    memmove(&sums->steps[at + 1], &sums->steps[at], (sums->count - at) * sizeof *sums->steps);
    sums->count++;
    sums->steps[at].begin_ns = time_ns;
    sums->steps[at].sum = at > 0 ? sums->steps[at - 1].sum : (struct peak_sum){0};
    return at;
}

bool peak_sums_add(
    struct peak_sums *sums, int64_t start_ns, int64_t end_ns, const struct peak_sum *peak)
{
    if (end_ns <= start_ns || (peak->bytes == 0 && peak->unbounded == 0))
        return true;
    if (!ARRAY_RESERVE(sums->steps, sums->count + 2, sums->capacity))
        return false;
    bool has_end = end_ns != INT64_MAX;
    size_t first = step_at(sums, start_ns);
    size_t after = has_end ? step_at(sums, end_ns) : sums->count;
    for (size_t i = first; i < after; i++) {
        sums->steps[i].sum.bytes += peak->bytes;
        sums->steps[i].sum.unbounded += peak->unbounded;
    }
    if (has_end && end_ns > sums->latest_ns)
        sums->latest_ns = end_ns;
    return true;
}

static double bound_of(const struct peak_sum *sum, double unbounded_bytes)
{
    return (double)sum->bytes + (sum->unbounded ? (double)sum->unbounded * unbounded_bytes : 0);
}

/* Whether the first is not above the second, however much more the unbounded peaks have. */
static bool is_within(const struct peak_sum *a, const struct peak_sum *b, double least_bytes)
{
    return a->unbounded <= b->unbounded && bound_of(a, least_bytes) <= bound_of(b, least_bytes);
}

/* Adds a step to those from `begin` to `kept`, all of which will get the same from now on: the
 * highest remain, whatever their order. Returns the end of the remaining ones. */
static size_t keep_highest(struct peak_step *steps, size_t begin, size_t kept,
    const struct peak_step *step, double least_bytes)
{
    struct peak_step added = *step;
    int64_t begin_ns = kept > begin ? steps[begin].begin_ns : step->begin_ns;
    size_t to = begin;
    for (size_t i = begin; i < kept; i++) {
        if (is_within(&added.sum, &steps[i].sum, least_bytes))
            return kept;
    }
    for (size_t i = begin; i < kept; i++) {
        if (!is_within(&steps[i].sum, &added.sum, least_bytes))
            steps[to++] = steps[i];
    }
    steps[to++] = added;
    steps[begin].begin_ns = begin_ns;
    return to;
}

void peak_sums_compact(
    struct peak_sums *sums, const int64_t *starts, size_t n_starts, uint64_t least_bytes)
{
    struct peak_step *steps = sums->steps;
    size_t recent = steps_before(sums, sums->latest_ns - DISORDER_NS);
    size_t begin = 0, kept = 0, next = 0;
    for (size_t i = 0; i < recent; i++) {
        bool begins = false;
        /* A step that contains a start gets two values: it stands alone. */
        int64_t end_ns = i + 1 < sums->count ? steps[i + 1].begin_ns : INT64_MAX;
        while (next < n_starts && starts[next] < end_ns) {
            begins = true;
            next++;
        }
        if (begins) {
            steps[kept++] = steps[i];
            begin = kept;
        } else {
            struct peak_step step = steps[i];
            kept = keep_highest(steps, begin, kept, &step, (double)least_bytes);
        }
    }
    memmove(&steps[kept], &steps[recent], (sums->count - recent) * sizeof *steps);
    sums->count -= recent - kept;
    sums->compact_at = 2 * sums->count;
}

bool peak_sums_copy(const struct peak_sums *sums, struct peak_sums *copy)
{
    *copy = *sums;
    copy->steps = malloc(sums->capacity * sizeof *sums->steps + 1);
    if (!copy->steps) {
        *copy = (struct peak_sums){0};
        return false;
    }
    if (sums->count > 0)
        memcpy(copy->steps, sums->steps, sums->count * sizeof *sums->steps);
    return true;
}

double peak_sums_upper_bound(const struct peak_sums *sums, double unbounded_bytes)
{
    double highest = 0;
    for (size_t i = 0; i < sums->count && !isnan(highest); i++) {
        double bytes = bound_of(&sums->steps[i].sum, unbounded_bytes);
        if (!(bytes <= highest))
            highest = bytes;
    }
    return highest;
}
