#include "analyze/exact_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct exact_figures {
    int64_t totals[GPUT_EXACT_FIGURE_COUNT];  /* SUB_TRACKING_UNKNOWN: cannot tell */
    int64_t (*open)[GPUT_EXACT_FIGURE_COUNT]; /* at the starts that are open, innermost last */
    size_t n_open;
};

static const struct {
    const char *name;
    const char *unit;
    double scale; /* what one of the file is in that unit */
} kinds[GPUT_EXACT_FIGURE_COUNT] = {
    [GPUT_EXACT_THREAD_CPU_TIME] = {"thread_cpu_time", "seconds", 1e-9},
    [GPUT_EXACT_PROCESS_CPU_TIME] = {"process_cpu_time", "seconds", 1e-9},
    [GPUT_EXACT_MINOR_FAULTS] = {"minor_faults", NULL, 1},
    [GPUT_EXACT_MAJOR_FAULTS] = {"major_faults", NULL, 1},
    [GPUT_EXACT_PEAK_RSS_RISE] = {"peak_rss_rise", "bytes", 1},
    [GPUT_EXACT_PACKAGE_ENERGY] = {"package_energy", "joules", 1e-6},
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
    free(figures->open);
    free(figures);
}

static void copy_counts(
    const struct sub_tracking_exact *exact, int64_t counts[GPUT_EXACT_FIGURE_COUNT])
{
    counts[GPUT_EXACT_THREAD_CPU_TIME] = exact->thread_cpu_ns;
    counts[GPUT_EXACT_PROCESS_CPU_TIME] = exact->process_cpu_ns;
    counts[GPUT_EXACT_MINOR_FAULTS] = exact->minor_faults;
    counts[GPUT_EXACT_MAJOR_FAULTS] = exact->major_faults;
    counts[GPUT_EXACT_PEAK_RSS_RISE] = exact->peak_rss_bytes;
    counts[GPUT_EXACT_PACKAGE_ENERGY] = exact->energy_uj;
}

static int push_start(struct exact_figures *figures, const int64_t counts[GPUT_EXACT_FIGURE_COUNT],
    struct gput_error *error)
{
    if ((figures->n_open & (figures->n_open - 1)) == 0) { /* full at 0 and each power of two */
        size_t capacity = figures->n_open ? figures->n_open * 2 : 1;
        int64_t(*open)[GPUT_EXACT_FIGURE_COUNT] =
            realloc(figures->open, capacity * sizeof *figures->open);
        if (!open)
            return error_memory(error);
        figures->open = open;
    }
    memcpy(figures->open[figures->n_open++], counts, sizeof *figures->open);
    return GPUT_OK;
}

/* The total with a call more. */
static int64_t add_call(int64_t total, int64_t start, int64_t stop)
{
    if (total < 0 || start < 0 || stop < start ||
        __builtin_add_overflow(total, stop - start, &total))
        return SUB_TRACKING_UNKNOWN;
    return total;
}

int exact_figures_add_mark(
    struct exact_figures *figures, const struct sub_tracking_row *row, struct gput_error *error)
{
    int64_t counts[GPUT_EXACT_FIGURE_COUNT];
    static const int64_t no_start[GPUT_EXACT_FIGURE_COUNT] = {-1, -1, -1, -1, -1, -1};
    copy_counts(&row->exact, counts);
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        if (counts[i] < 0)
            figures->totals[i] = SUB_TRACKING_UNKNOWN;
    }
    if (row->position == SUB_TRACKING_START)
        return push_start(figures, counts, error);
    const int64_t *start = figures->n_open > 0 ? figures->open[--figures->n_open] : no_start;
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        figures->totals[i] = add_call(figures->totals[i], start[i], counts[i]);
    return GPUT_OK;
}

void exact_figures_sum(const struct exact_figures *figures, double sums[GPUT_EXACT_FIGURE_COUNT])
{
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        sums[i] += figures->totals[i] < 0 ? NAN : (double)figures->totals[i] * kinds[i].scale;
}
