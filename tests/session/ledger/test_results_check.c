#include "session/ledger/results_check.h"

#include "results.h"

#include <math.h>
#include <string.h>

#define MB 1e6

static void add_exact(struct gput_results *results, const char *name)
{
    struct gput_source *source = &results->sources[results->n_sources++];
    snprintf(source->name, sizeof source->name, "%s", name);
    source->state = GPUT_SOURCE_EXACT;
    strcpy(source->reason, "the kernel");
}

/* A tree that is exact throughout. */
static struct gput_results whole(void)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    results.max[GPUT_MAIN_RAM] = 100 * MB;
    results.max[GPUT_DESCENDANTS_RAM] = 150 * MB;
    results.max[GPUT_COMBINED_RAM] = 250 * MB;
    results.peaks.main = (struct gput_peak){100 * MB, 100 * MB, "main"};
    results.peaks.descendants = (struct gput_peak){80 * MB, 90 * MB, "descendants"};
    results.peaks.combined = (struct gput_peak){250 * MB, 280 * MB, "combined"};
    results.peaks.control_group = (struct gput_peak){400 * MB, 400 * MB, "group"};
    results.accounting = (struct gput_accounting){.kernel_cpu_seconds = 3,
        .kernel_user_cpu_seconds = 2.5,
        .kernel_system_cpu_seconds = 0.5,
        .sampled_cpu_seconds = 2.9,
        .captured_percent = 96};
    results.energy.machine.total = 10;
    results.energy.combined = 4;
    add_exact(&results, "kernel_cpu_time");
    add_exact(&results, "counts");
    add_exact(&results, "processes");
    add_exact(&results, "cpu_energy");
    return results;
}

static void assert_taken_back(const struct gput_results *results, const char *name)
{
    const struct gput_source *source = source_of(results, name);
    assert_int_equal(source->state, GPUT_SOURCE_SAMPLED);
    assert_non_null(strstr(source->reason, "contradicted by "));
    assert_non_null(strstr(source->reason, ": the kernel"));
}

TEST(consistent_figures_stay_as_they_are)
{
    struct gput_results results = whole(), same = results;
    assert_int_equal(results_check(&results), 0);
    assert_memory_equal(&results, &same, sizeof results);
}

TEST(unknown_figures_stay_unknown)
{
    struct gput_results results = whole();
    results.peaks.combined.at_most_bytes = NAN;
    results.peaks.descendants.bytes = NAN;
    results.max[GPUT_MAIN_RAM] = NAN;
    results.accounting.kernel_user_cpu_seconds = NAN;
    results.accounting.kernel_system_cpu_seconds = NAN;
    results.energy.combined = NAN;
    assert_int_equal(results_check(&results), 0);
}

TEST(clears_a_bound_that_another_figure_is_above)
{
    const struct {
        size_t peak, least;
    } cases[] = {
        {offsetof(struct gput_results, peaks.main), offsetof(struct gput_results, max)},
        {offsetof(struct gput_results, peaks.descendants),
            offsetof(struct gput_results, peaks.descendants.bytes)},
        {offsetof(struct gput_results, peaks.combined),
            offsetof(struct gput_results, max[GPUT_COMBINED_RAM])},
        {offsetof(struct gput_results, peaks.combined),
            offsetof(struct gput_results, peaks.descendants.bytes)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gput_results results = whole();
        const struct gput_peak *peak =
            (const struct gput_peak *)(const void *)((const char *)&results + cases[i].peak);
        *(double *)(void *)((char *)&results + cases[i].least) = 300 * MB;
        assert_true(results_check(&results) > 0);
        assert_true(isnan(peak->at_most_bytes));
        assert_false(isnan(peak->bytes));
        assert_non_null(strstr(peak->source, "contradicted by "));
        assert_int_equal(results_check(&results), 0);
    }
}

TEST(nothing_is_exact_or_bounded_where_processes_could_not_be_read)
{
    struct gput_results results = whole();
    struct gput_source *source = &results.sources[results.n_sources++];
    snprintf(source->name, sizeof source->name, "descriptors");
    source->state = GPUT_SOURCE_UNAVAILABLE;
    struct gput_gpu gpu = {.max_combined_ram_at_most_bytes = 5 * MB};
    results.gpus = &gpu;
    results.n_gpus = 1;
    results.gpu_peaks.combined = (struct gput_peak){3 * MB, 5 * MB, "list"};
    assert_int_equal(results_check(&results), 0); /* no bug */
    assert_true(isnan(results.peaks.main.at_most_bytes));
    assert_true(isnan(results.peaks.descendants.at_most_bytes));
    assert_true(isnan(results.peaks.combined.at_most_bytes));
    assert_true(isnan(results.gpu_peaks.combined.at_most_bytes));
    assert_true(isnan(gpu.max_combined_ram_at_most_bytes));
    assert_non_null(strstr(results.peaks.combined.source, "could not be read"));
    assert_taken_back(&results, "kernel_cpu_time");
    assert_taken_back(&results, "counts");
    assert_taken_back(&results, "processes");
    assert_true(isnan(results.accounting.captured_percent));
    assert_int_equal(source_of(&results, "cpu_energy")->state, GPUT_SOURCE_EXACT);
    assert_true(results.peaks.control_group.at_most_bytes == 400 * MB);
    assert_int_equal(results_check(&results), 0);
}

TEST(page_cache_in_a_control_group_contradicts_no_peak)
{
    struct gput_results results = whole();
    results.peaks.control_group.bytes = results.peaks.control_group.at_most_bytes = 1e12;
    assert_int_equal(results_check(&results), 0);
}

TEST(cpu_time_below_its_parts_is_not_exact_nor_what_rests_on_it)
{
    struct gput_results results = whole();
    results.accounting.sampled_cpu_seconds = 3.1;
    assert_int_equal(results_check(&results), 3);
    assert_taken_back(&results, "kernel_cpu_time");
    assert_taken_back(&results, "counts");
    assert_true(isnan(results.accounting.captured_percent));
    assert_int_equal(source_of(&results, "processes")->state, GPUT_SOURCE_EXACT);
    assert_int_equal(results_check(&results), 0);
}

TEST(counts_are_not_exact_when_cpu_time_is_a_lower_bound)
{
    struct gput_results results = whole();
    results.sources[0].state = GPUT_SOURCE_SAMPLED;
    results.accounting.captured_percent = NAN;
    assert_int_equal(results_check(&results), 1);
    assert_taken_back(&results, "counts");
}

TEST(processes_that_may_be_missing_leave_no_exact_counts)
{
    const double missed[] = {NAN, 2};
    for (size_t i = 0; i < 2; i++) {
        struct gput_results results = whole();
        results.accounting.processes_missed = missed[i];
        assert_int_equal(results_check(&results), 2);
        assert_taken_back(&results, "counts");
        assert_taken_back(&results, "processes");
    }
}

TEST(a_share_of_joules_above_the_whole_is_not_exact)
{
    struct gput_results results = whole();
    results.energy.combined = 10.1;
    assert_int_equal(results_check(&results), 1);
    assert_taken_back(&results, "cpu_energy");
}

TEST(the_longest_reason_is_truncated_and_terminated)
{
    struct gput_results results = whole();
    memset(results.sources[1].reason, 'x', sizeof results.sources[1].reason - 1);
    results.accounting.processes_missed = 1;
    assert_int_equal(results_check(&results), 2);
    assert_true(strlen(results.sources[1].reason) < sizeof results.sources[1].reason);
}

RUN_TESTS(NULL, NULL)
