#include "session/ledger/ledger.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/wall_clock.h"
#include "machine/os/proc_stat.h"
#include "session/ledger/results_check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void ledger_init(struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    session_identity_init(&ledger->identity);
    usage_init(&ledger->usage);
    ram_between_init(&ledger->between);
    oom_kills_finish(&ledger->oom_kills); /* nothing is known */
    limit_group_finish(&ledger->limit_group);
    quota_group_finish(&ledger->quota);
    tracker_cost_init(&ledger->cost);
    system_counters_init(&ledger->system_counters);
}

void ledger_finish(struct ledger *ledger)
{
    epochs_finish(&ledger->epochs);
    process_log_finish(&ledger->log);
    gpu_usage_finish(&ledger->gpu_usage);
    oom_kills_finish(&ledger->oom_kills);
    limit_group_finish(&ledger->limit_group);
    quota_group_finish(&ledger->quota);
    tracker_cost_finish(&ledger->cost);
    system_counters_finish(&ledger->system_counters);
}

void ledger_begin(struct ledger *ledger)
{
    const struct session_settings *settings = ledger->settings;
    ledger->starts_before = ledger->starts_after = (struct session_starts){0};
    if (settings->mode != SESSION_MACHINE && !ledger->events->has_events &&
        settings->has_own_procfs)
        session_starts_read(settings->options.procfs_root, &ledger->starts_before);
    tracker_cost_begin(&ledger->cost, settings->mode == SESSION_SELF);
}

void ledger_add_scan(struct ledger *ledger, bool reads_counts, int64_t now_ns)
{
    ledger->log.reads_counts = reads_counts;
    process_log_scan(&ledger->log, now_ns);
    process_log_adopt_orphans(&ledger->log);
    ledger->log.reads_counts = false;
}

/* Gives the process log what drivers list of each process, when that is new. */
static void update_gpu_holdings(struct ledger *ledger)
{
    size_t count;
    uint64_t version;
    const struct gpu_process_ram *held =
        gpu_set_process_ram(ledger->settings->gpus, &count, &version);
    if (version == ledger->gpu_holdings_version)
        return;
    ledger->gpu_holdings_version = version;
    for (size_t i = 0; i < count; i++)
        process_log_set_gpu_ram(&ledger->log, held[i].pid, held[i].ram_bytes, held[i].read_ns);
}

void ledger_add_snapshot(struct ledger *ledger)
{
    const struct snapshot *snapshot = ledger->snapshot;
    epochs_add(&ledger->epochs, snapshot->taken_ns, snapshot->sample.time_ns);
    if (!snapshot->is_baseline)
        session_identity_add_sample(&ledger->identity, snapshot->sample.time_ns);
    update_gpu_holdings(ledger);
    usage_add(&ledger->usage, &snapshot->sample, snapshot->seconds);
    gpu_usage_add(&ledger->gpu_usage, &snapshot->gpu, snapshot->seconds);
    for (uint32_t i = 0; i < snapshot->gpu.n_devices && snapshot->gpus; i++)
        gpu_usage_add_card(&ledger->gpu_usage, i, gpu_set_card(snapshot->gpus, i));
    if (ledger->settings->mode != SESSION_MACHINE)
        ram_between_add_sample(&ledger->between, &snapshot->ram->figures);
    ledger->cost.ticks++;
}

void ledger_update_bytes(struct ledger *ledger)
{
    if (!ledger_has_bytes_so_far(ledger))
        return;
    struct task_counts now = process_log_counts(&ledger->log);
    task_counts_raise(&ledger->bytes_so_far, &now);
}

void ledger_note_main_end(struct ledger *ledger)
{
    if (ledger->main_ended_ns == 0)
        ledger->main_ended_ns = clock_monotonic_ns();
}

void ledger_note_main_report(struct ledger *ledger)
{
    ledger->main_end_is_reported = true;
}

static void update_system(struct ledger *ledger)
{
    system_counters_update(&ledger->system_counters, ledger->settings->options.procfs_root,
        ledger->cgroup ? ledger->cgroup->v2.path : NULL);
}

void ledger_end(struct ledger *ledger, unsigned own_threads)
{
    update_system(ledger);
    ledger->own_threads = own_threads;
    if (ledger->starts_before.is_known)
        session_starts_read(ledger->settings->options.procfs_root, &ledger->starts_after);
    ledger->has_ended = true;
}

void ledger_update(struct ledger *ledger)
{
    if (!ledger->has_ended)
        update_system(ledger);
    oom_kills_update(
        &ledger->oom_kills, ledger->cgroup, ledger->log.ended_total, ledger->has_ended);
    limit_group_update(&ledger->limit_group);
    process_log_refresh(&ledger->log);
    ledger_update_wall(ledger);
    /* These figures must not decrease while they are monitored. That from clock ticks has no more
     * decimals than they have. */
    double busy = number_round(system_meter_busy_seconds(ledger->snapshot->system), 3);
    ledger->system_cpu_seconds = fmax(ledger->system_cpu_seconds, busy);
    ledger_update_bytes(ledger);
    if (!isnan(ledger->snapshot->energy->energy.combined))
        ledger->has_kernel_cpu = ledger_kernel_cpu_ns(ledger) != 0;
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
    /* Percent x time is the CPU time that samples add up to. Rows need not give that: one can be of
     * an interval of which another one has a part, or be cut to what the machine can have. */
    const struct cpu_totals *totals = &ledger->snapshot->totals;
    put_cpu_mean(ledger, results, GPUT_CPU_MAIN_SUM, GPUT_CPU_MAIN_HARDWARE, totals->main_ns);
    put_cpu_mean(ledger, results, GPUT_CPU_DESCENDANTS_SUM, GPUT_CPU_DESCENDANTS_HARDWARE,
        totals->descendants_ns);
    put_cpu_mean(ledger, results, GPUT_CPU_COMBINED_SUM, GPUT_CPU_COMBINED_HARDWARE,
        totals->main_ns + totals->descendants_ns);
    struct exactness exactness = ledger_fill_accounting(ledger, &results->accounting);
    system_counters_fill(&ledger->system_counters, results);
    ledger_fill_peaks(ledger, exactness.all_collected, results);
    if (ledger_has_bytes_so_far(ledger))
        session_accounting_set_bytes(&results->accounting, &ledger->bytes_so_far);
    ledger_fill_gpus(ledger, results);
    ledger_fill_gpu_peaks(ledger, results);
    double gpu_watts = gpu_usage_sum(&ledger->gpu_usage, GPU_USAGE_POWER);
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
    ledger_fill_energy(ledger, &results->energy);
    ledger_fill_wall(ledger, results);
    tracker_cost_fill(&ledger->cost, results);
    results->tracker.metrics_lost = NAN; /* sinks that send say it */
    results->tracker.node_seconds =
        node_reader_seconds(ledger->node, ledger->settings->start_ns, ledger->snapshot->taken_ns);
    ledger_add_sources(ledger, &exactness, results);
    results->tracker.contradictions = results_check(results);
}

/* Pages of libraries that a fork of ours usually maps; up to 850 kB were seen. That is the error of
 * small commands, of which a larger bound here would leave no figure at all. */
#define FORKED_FILE_BYTES (UINT64_C(512) << 10)

void collected_begin_self(struct collected *collected)
{
    collected->at_start = (struct session_counts){0};
    session_counts_add_self(&collected->at_start);
}

/* The kernel copies page tables of anonymous memory, and of little else. */
void collected_begin_fork(struct collected *collected, const char *procfs_root)
{
    struct proc_statm statm;
    collected->forked_rss_bytes = 0;
    if (proc_statm_read(procfs_root, getpid(), &statm, NULL) != GPUT_OK)
        return;
    uint64_t anonymous_pages = statm.resident_pages - statm.shared_pages;
    collected->forked_rss_bytes =
        anonymous_pages * (uint64_t)sysconf(_SC_PAGESIZE) + FORKED_FILE_BYTES;
}

bool collected_add_orphan(
    struct collected *collected, const char *procfs_root, pid_t pid, int io_fd)
{
    struct session_counts *counts = &collected->counts;
    struct rusage usage;
    if (io_fd >= 0)
        session_counts_add_io_fd(counts, io_fd);
    else
        session_counts_add_io(counts, procfs_root, pid);
    if (wait4(pid, NULL, WNOHANG, &usage) != pid)
        return false;
    int64_t before_ns = session_counts_cpu_ns(counts);
    session_counts_add(counts, &usage);
    collected->orphans_ns += session_counts_cpu_ns(counts) - before_ns;
    return true;
}

void collected_add_main(
    struct collected *collected, pid_t pid, int io_fd, const struct own_cgroup *cgroup)
{
    uint64_t *written = &collected->counts.tasks.write_call_bytes;
    session_counts_add_io_fd(&collected->counts, io_fd);
    *written -= *written < cgroup->entry_bytes ? *written : cgroup->entry_bytes;
    pid_t waited;
    do {
        waited = wait4(pid, &collected->main_status, 0, &collected->main_usage);
    } while (waited < 0 && errno == EINTR);
    collected->has_main_usage = waited == pid;
    if (collected->has_main_usage)
        session_counts_add(&collected->counts, &collected->main_usage);
    else
        collected->main_status = STATUS_UNKNOWN;
    own_cgroup_usage(cgroup, &collected->cgroup_usage);
}

void collected_add_self(struct collected *collected)
{
    session_counts_add_self(&collected->counts);
    session_counts_subtract(&collected->counts, &collected->at_start);
}

void epochs_add(struct epochs *epochs, int64_t monotonic_ns, int64_t time_ns)
{
    size_t count = epochs->count;
    int64_t ahead_ns = time_ns - monotonic_ns;
    if (count > 0 && ahead_ns - epochs->list[count - 1].ahead_ns < WALL_CLOCK_SUSPENDED_NS)
        return;
    if (!ARRAY_EXTEND(epochs->list, count))
        return;
    epochs->list[count].since_ns = monotonic_ns;
    epochs->list[count].ahead_ns = ahead_ns;
    epochs->count++;
}

int64_t epochs_date_ns(const struct epochs *epochs, int64_t monotonic_ns)
{
    size_t i = epochs->count - 1;
    while (i > 0 && epochs->list[i].since_ns > monotonic_ns)
        i--;
    return monotonic_ns + epochs->list[i].ahead_ns;
}

void epochs_finish(struct epochs *epochs)
{
    free(epochs->list);
    *epochs = (struct epochs){0};
}
