#include "analyze/exact_figures.h"

#include "store/open_starts.h"

#include <math.h>
#include <stdlib.h>

struct counts {
    int64_t of[GPUT_EXACT_FIGURE_COUNT];
};

/* A stop whose start is no mark of this lane. */
struct lone_stop {
    int64_t started; /* as open starts are known */
    struct counts counts;
};

struct exact_figures {
    int64_t totals[GPUT_EXACT_FIGURE_COUNT]; /* SUB_TRACKING_UNKNOWN: cannot tell */
    struct open_starts open;
    struct counts *starts; /* at those, by their places; owned */
    uint32_t capacity;
    struct lone_stop *lone_stops; /* owned */
    size_t n_lone_stops;
};

static const struct {
    const char *name;
    const char *unit;
    double scale;   /* what one of the file is in that unit */
    bool of_thread; /* rather than of the process */
} kinds[GPUT_EXACT_FIGURE_COUNT] = {
    [GPUT_EXACT_THREAD_CPU_TIME] = {"thread_cpu_time", "seconds", 1e-9, true},
    [GPUT_EXACT_PROCESS_CPU_TIME] = {"process_cpu_time", "seconds", 1e-9, false},
    [GPUT_EXACT_MINOR_FAULTS] = {"minor_faults", NULL, 1, true},
    [GPUT_EXACT_MAJOR_FAULTS] = {"major_faults", NULL, 1, true},
    [GPUT_EXACT_PEAK_RSS_RISE] = {"peak_rss_rise", "bytes", 1, false},
    [GPUT_EXACT_PACKAGE_ENERGY] = {"package_energy", "joules", 1e-6, false},
};

const char *gput_exact_figure_name(enum gput_exact_figure figure)
{
    return kinds[figure].name;
}

const char *gput_exact_figure_unit(enum gput_exact_figure figure)
{
    return kinds[figure].unit;
}

struct exact_figures *exact_figures_create(void)
{
    return calloc(1, sizeof(struct exact_figures));
}

void exact_figures_destroy(struct exact_figures *figures)
{
    if (!figures)
        return;
    open_starts_finish(&figures->open);
    free(figures->starts);
    free(figures->lone_stops);
    free(figures);
}

static struct counts counts_of(const struct sub_tracking_exact *exact)
{
    return (struct counts){{
        [GPUT_EXACT_THREAD_CPU_TIME] = exact->thread_cpu_ns,
        [GPUT_EXACT_PROCESS_CPU_TIME] = exact->process_cpu_ns,
        [GPUT_EXACT_MINOR_FAULTS] = exact->minor_faults,
        [GPUT_EXACT_MAJOR_FAULTS] = exact->major_faults,
        [GPUT_EXACT_PEAK_RSS_RISE] = exact->peak_rss_bytes,
        [GPUT_EXACT_PACKAGE_ENERGY] = exact->energy_uj,
    }};
}

static int push_start(struct exact_figures *figures, int64_t time, const struct counts *counts,
    struct gput_error *error)
{
    if (!open_starts_push(&figures->open, time))
        return error_memory(error);
    if (figures->capacity < figures->open.capacity) {
        struct counts *starts =
            realloc(figures->starts, figures->open.capacity * sizeof *figures->starts);
        if (!starts)
            return error_memory(error);
        figures->starts = starts;
        figures->capacity = figures->open.capacity;
    }
    figures->starts[open_starts_pushed_place(&figures->open)] = *counts;
    return GPUT_OK;
}

static int push_lone_stop(struct exact_figures *figures, int64_t started,
    const struct counts *counts, struct gput_error *error)
{
    size_t count = figures->n_lone_stops;
    if ((count & (count - 1)) == 0) { /* full at 0 and each power of two */
        struct lone_stop *stops =
            realloc(figures->lone_stops, (count ? count * 2 : 1) * sizeof *stops);
        if (!stops)
            return error_memory(error);
        figures->lone_stops = stops;
    }
    figures->lone_stops[figures->n_lone_stops++] = (struct lone_stop){started, *counts};
    return GPUT_OK;
}

/* The total with a call more. */
static int64_t add(int64_t total, int64_t start, int64_t stop)
{
    if (total < 0 || start < 0 || stop < start ||
        __builtin_add_overflow(total, stop - start, &total))
        return SUB_TRACKING_UNKNOWN;
    return total;
}

/* `start` NULL: it is not known. */
static void add_call(struct exact_figures *figures, const struct counts *start,
    const struct counts *stop, bool in_one_thread)
{
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        bool known = start && (in_one_thread || !kinds[i].of_thread);
        figures->totals[i] =
            add(figures->totals[i], known ? start->of[i] : SUB_TRACKING_UNKNOWN, stop->of[i]);
    }
}

int exact_figures_add_mark(struct exact_figures *figures, const struct sub_tracking_row *row,
    double time, double started, struct gput_error *error)
{
    struct counts counts = counts_of(&row->exact);
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        if (counts.of[i] < 0)
            figures->totals[i] = SUB_TRACKING_UNKNOWN;
    }
    if (row->position == SUB_TRACKING_START)
        return push_start(figures, open_starts_key(time), &counts, error);
    int64_t key = open_starts_key(started);
    bool found = isnan(started) ? open_starts_take_latest(&figures->open, &key)
                                : open_starts_take(&figures->open, key);
    if (!found && !isnan(started))
        return push_lone_stop(figures, key, &counts, error);
    add_call(figures, found ? &figures->starts[open_starts_taken_place(&figures->open)] : NULL,
        &counts, true);
    return GPUT_OK;
}

bool exact_figures_have_lone_stops(const struct exact_figures *figures)
{
    return figures->n_lone_stops > 0;
}

int exact_figures_add_open(
    struct exact_figures *all, const struct exact_figures *figures, struct gput_error *error)
{
    const struct open_starts *open = &figures->open;
    for (uint32_t at = open->latest; at; at = open->starts[at - 1].before)
        TRY(push_start(all, open->starts[at - 1].time, &figures->starts[at - 1], error));
    return GPUT_OK;
}

void exact_figures_end_lone_stops(struct exact_figures *figures, struct exact_figures *all)
{
    for (size_t i = 0; i < figures->n_lone_stops; i++) {
        const struct lone_stop *stop = &figures->lone_stops[i];
        bool found = open_starts_take(&all->open, stop->started);
        add_call(figures, found ? &all->starts[open_starts_taken_place(&all->open)] : NULL,
            &stop->counts, false);
    }
    figures->n_lone_stops = 0;
}

void exact_figures_sum(const struct exact_figures *figures, double sums[GPUT_EXACT_FIGURE_COUNT])
{
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        sums[i] += figures->totals[i] < 0 ? NAN : (double)figures->totals[i] * kinds[i].scale;
}
