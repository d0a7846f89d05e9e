#include "session/sampler/cpu_percents.h"

#include "base/number.h"

#include <math.h>

/* The clocks are not finer than these decimals. */
#define DECIMALS 4

static double percent(const struct cpu_percents *percents, int64_t cpu_ns, int64_t interval_ns)
{
    double value = 100.0 * (double)cpu_ns / (double)interval_ns;
    /* The clocks of a scan are read one after the other, so a very short interval can overshoot. */
    double highest = 100.0 * percents->system_core_count;
    return number_round(value < highest ? value : highest, DECIMALS);
}

static void put(double *values, enum gput_measurement_id sum, enum gput_measurement_id hardware,
    double value, uint32_t cores)
{
    values[sum] = value;
    values[hardware] = number_round(value / cores, DECIMALS);
}

void cpu_percents_put(
    struct cpu_percents *percents, double *values, const struct cpu_totals *totals, int64_t now_ns)
{
    struct cpu_mark now = {now_ns, totals->main_ns, totals->descendants_ns};
    const struct cpu_mark *from = &percents->last;
    /*
     * The last sample can follow a tick at once. The kernel brings the clock of a process that runs
     * up to date only now and then (1 to 10 ms), so a short interval would overshoot.
     */
    if ((now_ns - from->time_ns) * 2 < percents->interval_ns &&
        percents->before_last.time_ns < from->time_ns)
        from = &percents->before_last;
    int64_t interval_ns = now_ns - from->time_ns;
    if (interval_ns <= 0)
        return;
    uint32_t cores = percents->n_expected_cores;
    int64_t main_ns = now.main_ns - from->main_ns;
    int64_t descendants_ns = now.descendants_ns - from->descendants_ns;
    put(values, GPUT_CPU_MAIN_SUM, GPUT_CPU_MAIN_HARDWARE, percent(percents, main_ns, interval_ns),
        cores);
    put(values, GPUT_CPU_DESCENDANTS_SUM, GPUT_CPU_DESCENDANTS_HARDWARE,
        percent(percents, descendants_ns, interval_ns), cores);
    put(values, GPUT_CPU_COMBINED_SUM, GPUT_CPU_COMBINED_HARDWARE,
        percent(percents, main_ns + descendants_ns, interval_ns), cores);
    percents->before_last = percents->last;
    percents->last = now;
}

void cpu_percents_put_system(
    const struct cpu_percents *percents, double *values, double sum_percent)
{
    put(values, GPUT_CPU_SYSTEM_SUM, GPUT_CPU_SYSTEM_HARDWARE, number_round(sum_percent, DECIMALS),
        percents->system_core_count);
}

void cpu_percents_drop(double *values)
{
    for (int i = GPUT_CPU_SYSTEM_SUM; i <= GPUT_CPU_COMBINED_HARDWARE; i++)
        values[i] = NAN;
}
