#include "session/ledger/results_check.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Relative rounding difference of sums in another order. */
#define ROUNDING 1e-9

#define AT(member) offsetof(struct gput_results, member)
#define MAX_AT(id) (AT(max) + (id) * sizeof(double))

static double figure_at(const struct gput_results *results, size_t offset)
{
    double value;
    memcpy(&value, (const char *)results + offset, sizeof value);
    return value;
}

/* False when either is not known. */
static bool is_above(double a, double b)
{
    return a > b + ROUNDING * fabs(b);
}

/* ---- upper bounds ---- */

/* Figures that may not be above a bound. */
static const struct bound_rule {
    size_t peak;
    size_t min;
    const char *name; /* of `min` */
} bound_rules[] = {
    {AT(peaks.main), AT(peaks.main.bytes), "its own lower bound"},
    {AT(peaks.main), MAX_AT(GPUT_MAIN_RAM), "max_ram of main"},
    {AT(peaks.descendants), AT(peaks.descendants.bytes), "its own lower bound"},
    {AT(peaks.combined), AT(peaks.combined.bytes), "its own lower bound"},
    {AT(peaks.combined), AT(peaks.main.bytes), "the peak of main"},
    {AT(peaks.combined), AT(peaks.descendants.bytes), "the peak of a descendant"},
    {AT(peaks.combined), MAX_AT(GPUT_COMBINED_RAM), "max_ram of all together"},
    {AT(gpu_peaks.main), AT(gpu_peaks.main.bytes), "its own lower bound"},
    {AT(gpu_peaks.descendants), AT(gpu_peaks.descendants.bytes), "its own lower bound"},
    {AT(gpu_peaks.combined), AT(gpu_peaks.combined.bytes), "its own lower bound"},
    {AT(gpu_peaks.combined), AT(gpu_peaks.main.bytes), "the peak of main"},
    {AT(gpu_peaks.combined), AT(gpu_peaks.descendants.bytes), "the peak of descendants"},
};

/* Withdraws upper bounds that a lower one contradicts. Returns how many. */
static unsigned check_bounds(struct gput_results *results)
{
    unsigned found = 0;
    for (size_t i = 0; i < sizeof bound_rules / sizeof bound_rules[0]; i++) {
        const struct bound_rule *rule = &bound_rules[i];
        struct gput_peak *peak = (struct gput_peak *)(void *)((char *)results + rule->peak);
        if (!is_above(figure_at(results, rule->min), peak->at_most_bytes))
            continue;
        peak->at_most_bytes = NAN;
        snprintf(peak->source, sizeof peak->source,
            "at least; the upper bound was contradicted by %s", rule->name);
        found++;
    }
    return found;
}

/* ---- labels ---- */

/* False: it was not called exact. */
static bool take_back(struct gput_results *results, const char *name, const char *why)
{
    struct gput_source *source = (struct gput_source *)results_find_source(results, name);
    char reason[sizeof source->reason];
    if (!source || source->state != GPUT_SOURCE_EXACT)
        return false;
    source->state = GPUT_SOURCE_SAMPLED;
    memcpy(reason, source->reason, sizeof reason);
    snprintf(source->reason, sizeof source->reason, "%s: %.400s", why, reason);
    return true;
}

/* A source is not exact where the first figure is above the second. */
static const struct label_rule {
    const char *source;
    size_t less, more;
    const char *why;
} label_rules[] = {
    {"kernel_cpu_time", AT(accounting.sampled_cpu_seconds), AT(accounting.kernel_cpu_seconds),
        "at least: contradicted by what samples saw"},
    {"kernel_cpu_time", AT(accounting.kernel_user_cpu_seconds), AT(accounting.kernel_cpu_seconds),
        "at least: contradicted by its user time"},
    {"kernel_cpu_time", AT(accounting.kernel_system_cpu_seconds), AT(accounting.kernel_cpu_seconds),
        "at least: contradicted by its system time"},
    {"cpu_energy", AT(energy.combined), AT(energy.machine.total),
        "contradicted by the joules of the tracked processes, which are more"},
    {"gpu_energy", AT(energy.combined), AT(energy.machine.total),
        "contradicted by the joules of the tracked processes, which are more"},
};

static unsigned check_figures(struct gput_results *results)
{
    unsigned found = 0;
    for (size_t i = 0; i < sizeof label_rules / sizeof label_rules[0]; i++) {
        const struct label_rule *rule = &label_rules[i];
        if (is_above(figure_at(results, rule->less), figure_at(results, rule->more)))
            found += take_back(results, rule->source, rule->why);
    }
    return found;
}

/* Figures that rest on the same proof are exact together or not at all. */
static unsigned check_labels(struct gput_results *results)
{
    unsigned found = 0;
    if (results_source_is(results, "kernel_cpu_time", GPUT_SOURCE_SAMPLED)) {
        found += take_back(
            results, "counts", "at least: contradicted by CPU time, which is a lower bound");
        found += !isnan(results->accounting.captured_percent);
        results->accounting.captured_percent = NAN;
    }
    if (results->accounting.processes_missed != 0) {
        found += take_back(results, "processes", "contradicted by processes that may be missing");
        found +=
            take_back(results, "counts", "at least: contradicted by processes that may be missing");
    }
    return found;
}

/* ---- processes that could not be read ---- */

static void drop_bound(struct gput_peak *peak)
{
    static const char reason[] = "at least; some processes could not be read (ulimit -n)";
    if (isnan(peak->at_most_bytes))
        return;
    peak->at_most_bytes = NAN;
    snprintf(peak->source, sizeof peak->source, "%s", reason);
}

/* Without a descriptor a process may be missing in every sum and in every proof. What the kernel
 * counts of the machine or of a group is as it was. No bug causes that. Returns whether it is so.
 */
static bool check_descriptors(struct gput_results *results)
{
    static const char *const labels[] = {"kernel_cpu_time", "counts", "processes"};
    struct gput_peak *const bounds[] = {&results->peaks.main, &results->peaks.descendants,
        &results->peaks.combined, &results->gpu_peaks.main, &results->gpu_peaks.descendants,
        &results->gpu_peaks.combined};
    if (!results_find_source(results, "descriptors"))
        return false;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        drop_bound(bounds[i]);
    for (uint32_t i = 0; i < results->n_gpus; i++)
        results->gpus[i].max_combined_ram_at_most_bytes = NAN;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        take_back(results, labels[i], "at least: contradicted by processes that could not be read");
    return true;
}

unsigned results_check(struct gput_results *results)
{
    unsigned found = check_bounds(results);
    bool is_expected = check_descriptors(results);
    found += check_figures(results);
    unsigned labels = check_labels(results);
    return found + (is_expected ? 0 : labels);
}
