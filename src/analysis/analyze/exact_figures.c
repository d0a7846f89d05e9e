#include "analysis/analyze/exact_figures.h"

#include "base/array.h"
#include "files/marks/open_starts.h"

#include <math.h>
#include <stdlib.h>

struct counts {
    int64_t of[GPUT_EXACT_FIGURE_COUNT];
};

/* Counters by the times of their marks. */
struct kept_counts {
    struct open_starts times;
    struct counts *counts; /* by their places; owned */
    uint32_t capacity;
};

/* A stop without a start in this lane. */
struct unmatched_stop {
    int64_t started, time; /* the key of its time */
    struct counts counts;
};

struct exact_figures {
    int64_t totals[GPUT_EXACT_FIGURE_COUNT]; /* SUB_TRACKING_UNKNOWN: unknown */
    struct kept_counts open;                 /* starts */
    bool keeps_calls;
    struct kept_counts calls;               /* the counts of each call, by its stop */
    struct unmatched_stop *unmatched_stops; /* owned */
    size_t n_unmatched_stops;
};

static const struct {
    const char *name;
    const char *unit;
    double per_unit; /* units of the file in one unit of the figure; a divisor, so that seconds have
                        nine decimals */
    bool of_thread;  /* not of the process */
    bool is_largest; /* of the calls, and as their stops have it; others are sums of differences */
} kinds[GPUT_EXACT_FIGURE_COUNT] = {
    [GPUT_EXACT_THREAD_CPU_TIME] = {"thread_cpu_time", "seconds", 1e9, true},
    [GPUT_EXACT_PROCESS_CPU_TIME] = {"process_cpu_time", "seconds", 1e9, false},
    [GPUT_EXACT_MINOR_FAULTS] = {"minor_faults", NULL, 1, true},
    [GPUT_EXACT_MAJOR_FAULTS] = {"major_faults", NULL, 1, true},
    [GPUT_EXACT_PEAK_RSS_RISE] = {"peak_rss_rise", "bytes", 1, false},
    [GPUT_EXACT_PACKAGE_ENERGY] = {"package_energy", "joules", 1e6, false},
    [GPUT_EXACT_BLOCK_PEAK_RSS] = {"block_peak_rss", "bytes", 1, false, true},
    [GPUT_EXACT_BLOCK_PEAK_RSS_RISE] = {"block_peak_rss_rise", "bytes", 1, false},
    [GPUT_EXACT_INSTRUCTIONS] = {"instructions", NULL, 1, true},
    [GPUT_EXACT_CYCLES] = {"cycles", NULL, 1, true},
    [GPUT_EXACT_CACHE_MISSES] = {"cache_misses", NULL, 1, true},
    [GPUT_EXACT_GPU_TIME] = {"gpu_time", "seconds", 1e9, false},
};

unsigned exact_figures_of_columns(unsigned columns)
{
    unsigned usual = (1u << GPUT_EXACT_BLOCK_PEAK_RSS) - 1;
    unsigned peaks = 1u << GPUT_EXACT_BLOCK_PEAK_RSS | 1u << GPUT_EXACT_BLOCK_PEAK_RSS_RISE;
    unsigned counters =
        1u << GPUT_EXACT_INSTRUCTIONS | 1u << GPUT_EXACT_CYCLES | 1u << GPUT_EXACT_CACHE_MISSES;
    return (columns & SUB_TRACKING_COLUMNS_EXACT ? usual : 0) |
           (columns & SUB_TRACKING_COLUMN_BLOCK_PEAK ? peaks : 0) |
           (columns & SUB_TRACKING_COLUMNS_COUNTERS ? counters : 0) |
           (columns & SUB_TRACKING_COLUMN_GPU ? 1u << GPUT_EXACT_GPU_TIME : 0);
}

bool exact_figure_is_largest(enum gput_exact_figure figure)
{
    return kinds[figure].is_largest;
}

const char *gput_exact_figure_name(enum gput_exact_figure figure)
{
    return (size_t)figure < GPUT_EXACT_FIGURE_COUNT ? kinds[figure].name : NULL;
}

const char *gput_exact_figure_unit(enum gput_exact_figure figure)
{
    return (size_t)figure < GPUT_EXACT_FIGURE_COUNT ? kinds[figure].unit : NULL;
}

struct exact_figures *exact_figures_create(bool keeps_calls)
{
    struct exact_figures *figures = calloc(1, sizeof *figures);
    if (figures)
        figures->keeps_calls = keeps_calls;
    return figures;
}

void exact_figures_destroy(struct exact_figures *figures)
{
    if (!figures)
        return;
    open_starts_finish(&figures->open.times);
    open_starts_finish(&figures->calls.times);
    free(figures->open.counts);
    free(figures->calls.counts);
    free(figures->unmatched_stops);
    free(figures);
}

const char *exact_figure_total_name(enum gput_exact_figure figure)
{
    return kinds[figure].is_largest ? "max" : "total";
}

/* Keeps counters by the time of their mark. */
static int keep(
    struct kept_counts *kept, int64_t time, const struct counts *counts, struct gput_error *error)
{
    if (!open_starts_push(&kept->times, time))
        return error_memory(error);
    if (kept->capacity < kept->times.capacity) {
        if (!ARRAY_RESIZE(kept->counts, kept->times.capacity))
            return error_memory(error);
        kept->capacity = kept->times.capacity;
    }
    kept->counts[open_starts_pushed_place(&kept->times)] = *counts;
    return GPUT_OK;
}

/* Removes the counters of that time, or of the latest where `time` is NULL; NULL: there are none.
 */
static const struct counts *take(struct kept_counts *kept, const int64_t *time)
{
    int64_t latest;
    bool found =
        time ? open_starts_pop(&kept->times, *time) : open_starts_pop_latest(&kept->times, &latest);
    return found ? &kept->counts[open_starts_taken_place(&kept->times)] : NULL;
}

/* The total with one more call, or the larger of both; unknown if one of them is. */
static int64_t add(int64_t total, int64_t more, bool is_largest)
{
    if (is_largest && total >= 0 && more >= 0)
        return more > total ? more : total;
    bool known = total >= 0 && more >= 0 && !__builtin_add_overflow(total, more, &total);
    return known ? total : SUB_TRACKING_UNKNOWN;
}

/* Adds a call that stopped at `time`; `start` NULL: unknown. */
static int add_call(struct exact_figures *figures, const struct counts *start,
    const struct counts *stop, bool in_one_thread, int64_t time, struct gput_error *error)
{
    struct counts call;
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        bool known = start && (in_one_thread || !kinds[i].of_thread);
        int64_t before = kinds[i].is_largest ? 0 : known ? start->of[i] : SUB_TRACKING_UNKNOWN;
        bool is_counted = known && before >= 0 && stop->of[i] >= before;
        call.of[i] = is_counted ? stop->of[i] - before : SUB_TRACKING_UNKNOWN;
        figures->totals[i] = add(figures->totals[i], call.of[i], kinds[i].is_largest);
    }
    return figures->keeps_calls ? keep(&figures->calls, time, &call, error) : GPUT_OK;
}

int exact_figures_add_mark(struct exact_figures *figures, const struct sub_tracking_mark *row,
    double time, double started, struct gput_error *error)
{
    struct counts counts = {{
        [GPUT_EXACT_THREAD_CPU_TIME] = row->exact.thread_cpu_ns,
        [GPUT_EXACT_PROCESS_CPU_TIME] = row->exact.process_cpu_ns,
        [GPUT_EXACT_MINOR_FAULTS] = row->exact.minor_faults,
        [GPUT_EXACT_MAJOR_FAULTS] = row->exact.major_faults,
        [GPUT_EXACT_PEAK_RSS_RISE] = row->exact.peak_rss_bytes,
        [GPUT_EXACT_PACKAGE_ENERGY] = row->exact.energy_uj,
        [GPUT_EXACT_BLOCK_PEAK_RSS] = row->exact.block_peak_rss_bytes,
        [GPUT_EXACT_BLOCK_PEAK_RSS_RISE] = row->exact.block_peak_rss_bytes,
        [GPUT_EXACT_INSTRUCTIONS] = row->exact.instructions,
        [GPUT_EXACT_CYCLES] = row->exact.cycles,
        [GPUT_EXACT_CACHE_MISSES] = row->exact.cache_misses,
        [GPUT_EXACT_GPU_TIME] = row->exact.gpu_ns,
    }};
    int64_t key = open_starts_key(time);
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        if (counts.of[i] < 0)
            figures->totals[i] = SUB_TRACKING_UNKNOWN;
    }
    if (row->position == SUB_TRACKING_START)
        return keep(&figures->open, key, &counts, error);
    int64_t started_key = isnan(started) ? 0 : open_starts_key(started);
    const struct counts *start = take(&figures->open, isnan(started) ? NULL : &started_key);
    if (!start && !isnan(started)) {
        if (!ARRAY_EXTEND(figures->unmatched_stops, figures->n_unmatched_stops))
            return error_memory(error);
        figures->unmatched_stops[figures->n_unmatched_stops++] =
            (struct unmatched_stop){started_key, key, counts};
        return GPUT_OK;
    }
    return add_call(figures, start, &counts, true, key, error);
}

bool exact_figures_have_unmatched_stops(const struct exact_figures *figures)
{
    return figures->n_unmatched_stops > 0;
}

int exact_figures_add_open(
    struct exact_figures *all, const struct exact_figures *figures, struct gput_error *error)
{
    const struct open_starts *open = &figures->open.times;
    for (uint32_t at = open->latest; at; at = open->starts[at - 1].before)
        TRY(keep(&all->open, open->starts[at - 1].time, &figures->open.counts[at - 1], error));
    return GPUT_OK;
}

int exact_figures_pair_unmatched_stops(
    struct exact_figures *figures, struct exact_figures *all, struct gput_error *error)
{
    for (size_t i = 0; i < figures->n_unmatched_stops; i++) {
        const struct unmatched_stop *stop = &figures->unmatched_stops[i];
        const struct counts *start = take(&all->open, &stop->started);
        TRY(add_call(figures, start, &stop->counts, false, stop->time, error));
    }
    figures->n_unmatched_stops = 0;
    return GPUT_OK;
}

void exact_figures_forget(struct exact_figures *figures)
{
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        figures->totals[i] = SUB_TRACKING_UNKNOWN;
}

static double in_unit(int64_t count, enum gput_exact_figure figure)
{
    return count < 0 ? NAN : (double)count / kinds[figure].per_unit;
}

void exact_figures_add_call(
    struct exact_figures *figures, double stop, double of_call[GPUT_EXACT_FIGURE_COUNT])
{
    int64_t key = open_starts_key(stop);
    const struct counts *call = take(&figures->calls, &key);
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        of_call[i] = in_unit(call ? call->of[i] : SUB_TRACKING_UNKNOWN, i);
}

double exact_figure_add(enum gput_exact_figure figure, double total, double more)
{
    if (!kinds[figure].is_largest || isnan(total) || isnan(more))
        return total + more;
    return fmax(total, more);
}

void exact_figures_sum(const struct exact_figures *figures, double sums[GPUT_EXACT_FIGURE_COUNT])
{
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        sums[i] = exact_figure_add(i, sums[i], in_unit(figures->totals[i], i));
}
