/*
 * Results: a function of the ledger.
 */
#include "session/ledger/ledger.h"
#include "session/ledger/results_check.h"
#include "session/ledger/session_accounting.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static void fill_now(const struct ledger *ledger, struct gput_results *results)
{
    double gpu_watts = gpu_usage_sum(&ledger->gpu_usage, GPU_USAGE_POWER);
    const struct cpu_totals *totals = &ledger->snapshot->totals;
    memcpy(results->now.values, ledger->usage.last, sizeof results->now.values);
    memcpy(results->now.watts, ledger->snapshot->power.watts, sizeof results->now.watts);
    if (ledger->gpu_usage.n_devices > 0 && ledger->node->reads)
        results->now.values[GPUT_SYSTEM_GPU_RAM] = gpu_usage_sum(&ledger->gpu_usage, GPU_USAGE_RAM);
    /* The drivers' current figures. */
    if (!isnan(gpu_watts))
        results->now.watts[GPUT_ENERGY_GPU] = gpu_watts;
    results->now.system_cpu_seconds = ledger->snapshot->system->stat_fd >= 0 && ledger->node->reads
                                          ? ledger->system_cpu_seconds
                                          : NAN;
    bool has_process = ledger->settings->mode != SESSION_MACHINE;
    results->now.main_cpu_seconds = has_process ? clock_seconds_of_ns(totals->main_ns) : NAN;
    results->now.descendants_cpu_seconds =
        has_process ? clock_seconds_of_ns(totals->descendants_ns) : NAN;
}

static void put_cpu_mean(const struct ledger *ledger, struct gput_results *results,
    enum gput_measurement_id sum, enum gput_measurement_id hardware, int64_t cpu_ns)
{
    const struct gput_static_data *machine = &ledger->settings->static_data;
    double percent = 100 * clock_seconds_of_ns(cpu_ns) / results->elapsed_seconds;
    if (isnan(results->mean[sum]) || !(results->elapsed_seconds > 0))
        return;
    results->mean[sum] = fmin(percent, 100.0 * machine->system_core_count);
    results->mean[hardware] = results->mean[sum] / machine->n_expected_cores;
}

/* Percent x time is the CPU time that samples add up to. Rows need not give that: one can be of an
 * interval of which another one has a part, or be cut to what the machine can have. */
static void fill_cpu_means(const struct ledger *ledger, struct gput_results *results)
{
    const struct cpu_totals *totals = &ledger->snapshot->totals;
    put_cpu_mean(ledger, results, GPUT_CPU_MAIN_SUM, GPUT_CPU_MAIN_HARDWARE, totals->main_ns);
    put_cpu_mean(ledger, results, GPUT_CPU_DESCENDANTS_SUM, GPUT_CPU_DESCENDANTS_HARDWARE,
        totals->descendants_ns);
    put_cpu_mean(ledger, results, GPUT_CPU_COMBINED_SUM, GPUT_CPU_COMBINED_HARDWARE,
        totals->main_ns + totals->descendants_ns);
}

void ledger_results(const struct ledger *ledger, struct gput_results *results)
{
    results_clear(results);
    results->static_data = ledger->settings->static_data;
    results->allowed = ledger->settings->allowed;
    results->identity = ledger->identity.known;
    results->elapsed_seconds =
        clock_seconds_of_ns(ledger->snapshot->taken_ns - ledger->settings->start_ns);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        results->max[i] = ledger->usage.max[i];
        results->mean[i] = usage_mean(&ledger->usage, (enum gput_measurement_id)i);
    }
    fill_cpu_means(ledger, results);
    struct exactness exactness = ledger_fill_accounting(ledger, &results->accounting);
    system_counters_fill(&ledger->system_counters, results);
    ledger_fill_peaks(ledger, exactness.all_collected, results);
    if (ledger_has_bytes_so_far(ledger))
        session_accounting_set_bytes(&results->accounting, &ledger->bytes_so_far);
    ledger_fill_gpus(ledger, results);
    ledger_fill_gpu_peaks(ledger, results);
    fill_now(ledger, results);
    ledger_fill_energy(ledger, &results->energy);
    ledger_fill_wall(ledger, results);
    tracker_cost_fill(&ledger->cost, results);
    results->tracker.metrics_lost = NAN; /* sinks that send say it */
    results->tracker.node_seconds =
        node_reader_seconds(ledger->node, ledger->settings->start_ns, ledger->snapshot->taken_ns);
    ledger_add_sources(ledger, &exactness, results);
    results->tracker.contradictions = results_check(results);
}
