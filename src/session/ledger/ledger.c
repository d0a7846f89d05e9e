#include "session/ledger/ledger.h"

#include "base/clock.h"
#include "base/number.h"

#include <math.h>

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

/* Figures that must not decrease while they are monitored. */
static void update_totals_so_far(struct ledger *ledger)
{
    /* From clock ticks: no more decimals than they have. */
    double busy = number_round(system_meter_busy_seconds(ledger->snapshot->system), 3);
    ledger->system_cpu_seconds = fmax(ledger->system_cpu_seconds, busy);
    ledger_update_bytes(ledger);
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
    update_totals_so_far(ledger);
    if (!isnan(ledger->snapshot->energy->energy.combined))
        ledger->has_kernel_cpu = ledger_kernel_cpu_ns(ledger) != 0;
}
