/*
 * A tick is sampler_take_sample(), at the end. What it does in order: processes (scan, RAM,
 * threads, CPU), the machine, GPUs, energy.
 */

#include "session/sampler/sampler.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/wall_clock.h"
#include "machine/process/process_accounts.h"

#include <math.h>
#include <stdlib.h>

/* The clocks are not finer than these decimals of a percent. */
#define PERCENT_DECIMALS 4

/* How long a sample waits for the figures of GPUs. */
#define MAX_GPU_WAIT_NS (NS_PER_SECOND / 20)
#define LAST_GPU_WAIT_NS (NS_PER_SECOND / 10)
/* Shorter intervals: figures of the tick before are fresh enough. */
#define MIN_AWAITED_NS (NS_PER_SECOND / 100)
/* How long it waits for lists of processes at both ends of a session. */
#define LIST_WAIT_NS (NS_PER_SECOND / 4)

_Static_assert(GPUT_TIME_UNKNOWN - GPUT_TIME_COMPUTING == WALL_UNKNOWN && WALL_COMPUTING == 0,
    "measurements of causes have the order of the causes");

static bool has_process(const struct sampler *sampler)
{
    return sampler->options.tree.main != 0;
}

/* Says whether no sample was taken yet. The first one uses an earlier reading of the GPUs: joules
 * count from it. */
static bool is_first(const struct sampler *sampler)
{
    return sampler->snapshot.taken_ns == 0;
}

/* Makes a snapshot that refers to the parts of the sampler; all figures are missing. */
static void init_snapshot(struct sampler *sampler)
{
    sampler->snapshot = (struct snapshot){.tree = &sampler->tree,
        .listed = sampler->options.lists_all ? &sampler->all : &sampler->tree,
        .ram = &sampler->ram,
        .system = sampler->system,
        .energy = &sampler->energy,
        .gpus = sampler->options.gpus,
        .waits = &sampler->waits};
    energy_power_init(&sampler->snapshot.power);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        sampler->snapshot.sample.values[i] = NAN;
}

int sampler_init(struct sampler *sampler, const struct sampler_options *options,
    struct system_meter *system, struct gput_error *error)
{
    *sampler = (struct sampler){.options = *options,
        .system = system,
        .last_cpu.time_ns = options->start_ns,
        .cpu_before_last.time_ns = options->start_ns};
    const struct process_tree_options *tracked = &sampler->options.tree;
    struct process_tree_options all = {.procfs_root = tracked->procfs_root,
        .main_is_old = true,
        .kept_files = tracked->kept_files};
    sampler->tree = sampler->all = (struct process_tree){.loadavg_fd = -1, .own_children_fd = -1};
    sampler->options.tree.has_hugetlb = system->has_hugetlb;
    if (has_process(sampler))
        TRY(process_tree_init(&sampler->tree, tracked, error));
    if (sampler->options.lists_all)
        TRY(process_tree_init(&sampler->all, &all, error));
    system_meter_start(system, options->start_ns);
    other_cpu_begin(&sampler->others, options->start_ns);
    energy_meter_init(&sampler->energy, options->sysfs_root);
    sampler->energy.shares_out = has_process(sampler);
    sampler->energy.start_ns = options->start_ns;
    wait_sampler_init(&sampler->waits, options->start_ns, options->interval_ns);
    if (!has_process(sampler) || options->tree.main == sampler->tree.own_pid)
        wait_sampler_stop(&sampler->waits);
    ram_meter_init(&sampler->ram, options->ram_readings, options->start_ns);
    init_snapshot(sampler);
    return GPUT_OK;
}

void sampler_finish(struct sampler *sampler)
{
    process_tree_finish(&sampler->tree);
    process_tree_finish(&sampler->all);
    ram_meter_finish(&sampler->ram);
    energy_meter_finish(&sampler->energy);
    pid_vector_finish(&sampler->descendants);
}

bool sampler_main_lives(const struct sampler *sampler)
{
    const struct process *main = process_tree_main(&sampler->tree);
    return main && !process_is_zombie(main);
}

void sampler_skip_machine(struct sampler *sampler, bool skip)
{
    system_meter_skip(sampler->system, skip, clock_monotonic_ns());
    sampler->energy.skips_cpu = skip;
    gpu_set_skip_unselected(sampler->options.gpus, skip);
}

/* ---- processes ---- */

/* False when none is left: the last figures stay. */
static bool scan_and_measure_ram(struct sampler *sampler, bool none_started, int64_t now_ns)
{
    sampler->tree.view.has_hugetlb = sampler->system->has_hugetlb;
    process_tree_scan(&sampler->tree, none_started, now_ns);
    /* Our own threads are in main where that is this process. */
    if (sampler->options.tree.main != sampler->tree.own_pid)
        process_tree_read_threads(&sampler->tree, sampler->ram.skip_exact, now_ns);
    bool any_lives = sampler_main_lives(sampler) || sampler->tree.has_others;
    if (any_lives)
        ram_meter_measure(&sampler->ram, &sampler->tree, now_ns);
    return any_lives;
}

static void put_rss(double *values, enum gput_measurement_id total,
    enum gput_measurement_id private, enum gput_measurement_id shared, const struct rss *rss)
{
    values[total] = (double)rss->total;
    values[private] = (double)rss->private;
    values[shared] = (double)rss->shared;
}

/* During execve() and exit() statm has no page of a process that lives; of kernel threads it never
 * has one. */
static bool main_has_no_page(const struct sampler *sampler)
{
    const struct process *main = process_tree_main(&sampler->tree);
    return sampler->ram.figures.main.total == 0 && sampler_main_lives(sampler) &&
           !proc_stat_is_kernel_thread(&main->polled->stat);
}

/* Puts the RAM that was measured. Where main has no page for a moment, its figures are missing. */
static void put_ram(struct sampler *sampler)
{
    const struct ram_figures *ram = &sampler->ram.figures;
    double *values = sampler->snapshot.sample.values;
    put_rss(values, GPUT_MAIN_RAM, GPUT_MAIN_PRIVATE_RAM, GPUT_MAIN_SHARED_RAM, &ram->main);
    put_rss(values, GPUT_DESCENDANTS_RAM, GPUT_DESCENDANTS_PRIVATE_RAM, GPUT_DESCENDANTS_SHARED_RAM,
        &ram->descendants);
    put_rss(values, GPUT_COMBINED_RAM, GPUT_COMBINED_PRIVATE_RAM, GPUT_COMBINED_SHARED_RAM,
        &ram->combined);
    if (main_has_no_page(sampler))
        values[GPUT_MAIN_RAM] = values[GPUT_MAIN_PRIVATE_RAM] = values[GPUT_MAIN_SHARED_RAM] = NAN;
    if (main_has_no_page(sampler) && ram->combined.total == 0)
        values[GPUT_COMBINED_RAM] = values[GPUT_COMBINED_PRIVATE_RAM] =
            values[GPUT_COMBINED_SHARED_RAM] = NAN;
}

static unsigned own_threads(const struct sampler *sampler)
{
    const struct sampler_options *options = &sampler->options;
    return options->own_threads ? options->own_threads(options->tree.caller) : 0;
}

/* Puts the numbers of threads, without the `own` ones of main that only track. */
static void put_threads(struct sampler *sampler, unsigned own)
{
    uint64_t main = 0, descendants = 0;
    for (size_t i = 0; i < sampler->tree.count; i++) {
        const struct process *process = sampler->tree.processes[i];
        uint64_t *count = process->is_main ? &main : &descendants;
        if (!process_is_zombie(process))
            *count += process_thread_count(process);
    }
    main -= own < main ? own : main;
    sampler->snapshot.sample.values[GPUT_MAIN_THREADS] = (double)main;
    sampler->snapshot.sample.values[GPUT_DESCENDANTS_THREADS] = (double)descendants;
    sampler->snapshot.sample.values[GPUT_COMBINED_THREADS] = (double)(main + descendants);
}

/* Puts the percent of all cores that `value` is, and its share of the `cores` expected. */
static void put_percent(double *values, enum gput_measurement_id sum,
    enum gput_measurement_id hardware, double value, uint32_t cores)
{
    values[sum] = number_round(value, PERCENT_DECIMALS);
    values[hardware] = number_round(values[sum] / cores, PERCENT_DECIMALS);
}

/* Puts the percent that this CPU time is of an interval. The clocks of a scan are read one after
 * the other, so a very short interval can overshoot. */
static void put_cpu_percent(struct sampler *sampler, enum gput_measurement_id sum,
    enum gput_measurement_id hardware, int64_t cpu_ns, int64_t interval_ns)
{
    double percent = 100.0 * (double)cpu_ns / (double)interval_ns;
    double highest = 100.0 * sampler->options.system_core_count;
    put_percent(sampler->snapshot.sample.values, sum, hardware,
        percent < highest ? percent : highest, sampler->options.n_expected_cores);
}

/* Puts CPU percents of main, descendants and both: CPU time since the sample before, divided by the
 * time that passed. If none has passed, they stay as they are. */
static void put_cpu_percents(struct sampler *sampler, int64_t now_ns)
{
    const struct cpu_totals *totals = &sampler->snapshot.totals;
    const struct cpu_mark *from = &sampler->last_cpu;
    /*
     * The last sample can follow a tick at once. The kernel brings the clock of a process that runs
     * up to date only now and then (1 to 10 ms), so a short interval would overshoot.
     */
    if ((now_ns - from->time_ns) * 2 < sampler->options.interval_ns &&
        sampler->cpu_before_last.time_ns < from->time_ns)
        from = &sampler->cpu_before_last;
    int64_t interval_ns = now_ns - from->time_ns;
    if (interval_ns <= 0)
        return;
    int64_t main_ns = totals->main_ns - from->main_ns;
    int64_t descendants_ns = totals->descendants_ns - from->descendants_ns;
    put_cpu_percent(sampler, GPUT_CPU_MAIN_SUM, GPUT_CPU_MAIN_HARDWARE, main_ns, interval_ns);
    put_cpu_percent(sampler, GPUT_CPU_DESCENDANTS_SUM, GPUT_CPU_DESCENDANTS_HARDWARE,
        descendants_ns, interval_ns);
    put_cpu_percent(sampler, GPUT_CPU_COMBINED_SUM, GPUT_CPU_COMBINED_HARDWARE,
        main_ns + descendants_ns, interval_ns);
    sampler->cpu_before_last = sampler->last_cpu;
    sampler->last_cpu = (struct cpu_mark){now_ns, totals->main_ns, totals->descendants_ns};
}

/* Puts where the time since the sample before went, in tenths of a percent. */
static void put_wall(struct sampler *sampler, double quota)
{
    double *values = &sampler->snapshot.sample.values[GPUT_TIME_COMPUTING];
    struct wall_account account = process_tree_recent_account(&sampler->tree);
    wall_account_split_quota(&account, quota);
    for (int i = 0; i < WALL_CAUSE_COUNT; i++)
        values[i] = account.wall_ns > 0
                        ? round(1000 * (double)account.ns[i] / (double)account.wall_ns) / 10
                        : NAN;
}

/* The totals lack auto-reaped children: they are in no parent's totals. */
static void raise_descendants_cpu(struct sampler *sampler)
{
    const struct sampler_options *options = &sampler->options;
    struct snapshot *snapshot = &sampler->snapshot;
    int64_t known_ns = options->known_cpu_ns ? options->known_cpu_ns(options->user) : 0;
    int64_t ns = known_ns - snapshot->totals.main_ns;
    if (ns < snapshot->totals.descendants_ns)
        ns = snapshot->totals.descendants_ns;
    if (ns > snapshot->descendants_ns)
        snapshot->descendants_ns = ns;
}

/* Scans the processes, and puts RAM, threads, CPU percents and causes. */
static void sample_processes(
    struct sampler *sampler, const struct sampler_tick *tick, int64_t now_ns)
{
    struct snapshot *snapshot = &sampler->snapshot;
    /* One of our threads may start or end meanwhile: rather too few of main's for a sample than too
     * many at its peak. */
    unsigned before = own_threads(sampler);
    if (scan_and_measure_ram(sampler, tick->none_started, now_ns)) {
        unsigned after = own_threads(sampler);
        put_ram(sampler);
        sampler->snapshot.sample.values[GPUT_COMBINED_SWAPPED_RAM] =
            swap_meter_measure(&sampler->swap, &sampler->tree, sampler->system->uses_swap, now_ns);
        put_threads(sampler, (after > before ? after : before) + tick->is_in_main);
    }
    snapshot->own_cpu_ns = tick->is_in_main ? clock_thread_cpu_ns() + tick->own_threads_cpu_ns : 0;
    cpu_totals_update(&snapshot->totals, &sampler->tree, tick->orphans_ns, snapshot->own_cpu_ns);
    raise_descendants_cpu(sampler);
    /* The first row includes what a command that was started for this session used before its
     * baseline. */
    if (!tick->is_baseline || sampler->options.tree.main_is_old)
        put_cpu_percents(sampler, now_ns);
    if (!tick->is_baseline)
        put_wall(sampler, tick->quota);
}

void sampler_scan_between(struct sampler *sampler, bool none_started)
{
    sampler->ram.skip_exact = true;
    scan_and_measure_ram(sampler, none_started, clock_monotonic_ns());
    sampler->ram.skip_exact = false;
}

void sampler_take_states(struct sampler *sampler)
{
    const struct gpu_sample *gpu = &sampler->snapshot.gpu;
    double busiest_percent = NAN;
    for (uint32_t i = 0; i < gpu->n_devices; i++)
        busiest_percent = fmax(busiest_percent, gpu->devices[i].utilization_percent);
    wait_sampler_take(&sampler->waits, &sampler->tree, busiest_percent, clock_monotonic_ns());
}

/* ---- the machine ---- */

/* Reads the machine, and in the intervals of its CPU time that of untracked processes. */
static void sample_system(struct sampler *sampler, bool is_last, int64_t now_ns)
{
    double *values = sampler->snapshot.sample.values;
    if (is_last)
        system_meter_read_last(sampler->system, now_ns);
    else
        system_meter_read(sampler->system, now_ns);
    int64_t tracked_ns = sampler->snapshot.totals.main_ns + sampler->snapshot.descendants_ns;
    if (sampler->system->since_ns == now_ns && !sampler->system->is_skipped)
        other_cpu_read(&sampler->others, now_ns, system_meter_busy_seconds(sampler->system),
            clock_seconds_of_ns(tracked_ns));
    sampler->snapshot.other_cpu_seconds = sampler->others.seconds;
    values[GPUT_SYSTEM_RAM] = sampler->system->ram_used_bytes;
    put_percent(values, GPUT_CPU_SYSTEM_SUM, GPUT_CPU_SYSTEM_HARDWARE,
        sampler->system->cpu_sum_percent, sampler->options.system_core_count);
}

/* ---- GPUs and energy ---- */

/* Energy is read in the intervals of the machine's CPU time, so that shares and joules are of the
 * same one. */
static bool is_energy_due(const struct sampler *sampler, int64_t now_ns)
{
    return sampler->system->since_ns == now_ns || sampler->energy.since_ns == 0;
}

/* Returns the tracked processes as drivers want them: main, and the others sorted. */
static struct gpu_tree gpu_tree_of(struct sampler *sampler)
{
    const struct process_tree *listed = sampler->snapshot.listed;
    struct pid_vector *descendants = &sampler->descendants;
    if (sampler->descendants_generation != listed->generation) {
        descendants->count = 0;
        for (size_t i = 0; i < listed->count; i++)
            if (!listed->processes[i]->is_main)
                pid_vector_append(descendants, listed->processes[i]->pid);
        if (descendants->count > 1)
            qsort(descendants->pids, descendants->count, sizeof(pid_t), pid_compare);
        sampler->descendants_generation = listed->generation;
    }
    const struct process *main = process_tree_main(sampler->snapshot.tree);
    return (struct gpu_tree){.main = main ? main->pid : 0,
        .descendants = descendants->pids,
        .n_descendants = descendants->count,
        .generation = listed->generation};
}

/*
 * Takes the figures of GPUs. All waits are short and bounded. At both ends of a session lists of
 * the processes that hold GPU RAM are read anew: a session can be shorter than the pause between
 * two lists. The last sample awaits them, and with `awaits_lists` the first.
 */
static void read_gpus(struct sampler *sampler, const struct sampler_tick *tick, bool needs_joules)
{
    struct gpu_set *gpus = sampler->options.gpus;
    struct gpu_sample *sample = &sampler->snapshot.gpu;
    struct gpu_tree tree = gpu_tree_of(sampler);
    bool needs_list = has_process(sampler) && (is_first(sampler) || tick->is_last);
    bool awaits_list = needs_list && (tick->is_last || tick->awaits_lists);
    if (awaits_list) {
        gpu_set_request_lists(gpus, &tree, tick->is_last);
        gpu_set_await_lists(gpus, LIST_WAIT_NS);
    }
    /* Figures, and with them joules, are of the sample's own moment where the drivers have answered
     * by the end of it. Else power is extrapolated, so that ticks do not wait for long; what the
     * last sample misses stays missing. */
    bool is_row_awaited = sampler->options.interval_ns >= MIN_AWAITED_NS && !is_first(sampler);
    int64_t quarter_ns = sampler->options.interval_ns / 4;
    if (tick->is_last)
        gpu_set_await(gpus, LAST_GPU_WAIT_NS);
    else if (is_row_awaited || needs_joules)
        gpu_set_await(gpus, quarter_ns < MAX_GPU_WAIT_NS ? quarter_ns : MAX_GPU_WAIT_NS);
    gpu_set_sample(gpus, &tree, sample);
    if (needs_list && !awaits_list) /* its reading is later than that of the first sample */
        gpu_set_request_lists(gpus, &tree, tick->is_last);
}

/* Takes the figures of GPUs, and puts those that are measurements. */
static void sample_gpus(struct sampler *sampler, const struct sampler_tick *tick, int64_t now_ns)
{
    struct gpu_set *gpus = sampler->options.gpus;
    const struct gpu_sample *sample = &sampler->snapshot.gpu;
    double *values = sampler->snapshot.sample.values;
    if (!gpus)
        return;
    read_gpus(sampler, tick, sampler->energy.since_ns != 0 && is_energy_due(sampler, now_ns));
    if (has_process(sampler)) {
        values[GPUT_MAIN_GPU_RAM] = sample->main_ram_bytes;
        values[GPUT_DESCENDANTS_GPU_RAM] = sample->descendants_ram_bytes;
        values[GPUT_COMBINED_GPU_RAM] = sample->combined_ram_bytes;
    }
    values[GPUT_SYSTEM_GPU_RAM] = sampler->system->is_skipped ? NAN : sample->system_ram_bytes;
    values[GPUT_GPU_SUM_UTILIZATION] = sample->utilization_sum_percent;
    values[GPUT_GPU_HARDWARE_UTILIZATION] = sample->utilization_hardware_percent;
    /* The next lists need them more than procfs files that can be opened again. */
    if (has_process(sampler) && gpu_set_lacks_descriptors(gpus))
        process_tree_close_cached_files(&sampler->tree);
}

/* Reads joules when they are due, and shares them out. */
static void sample_energy(struct sampler *sampler, int64_t now_ns)
{
    struct snapshot *snapshot = &sampler->snapshot;
    snapshot->has_new_energy = false;
    bool has_gpus = sampler->options.gpus && snapshot->gpu.n_devices > 0;
    if (!is_energy_due(sampler, now_ns) || (!has_gpus && !energy_meter_has_any(&sampler->energy)))
        return;
    const struct ram_figures *ram = &sampler->ram.figures;
    struct energy_shares now = {
        .main_cpu_seconds = clock_seconds_of_ns(snapshot->totals.main_ns),
        .descendants_cpu_seconds = clock_seconds_of_ns(snapshot->descendants_ns),
        .other_cpu_seconds = snapshot->other_cpu_seconds,
        .machine_busy_seconds = system_meter_busy_seconds(sampler->system),
        .machine_cpu_seconds = system_meter_cpu_seconds(sampler->system),
        .main_ram_bytes = (double)ram->main.total,
        .combined_ram_bytes = (double)ram->combined.total,
        .machine_ram_bytes = sampler->system->ram_used_bytes,
        .is_last = snapshot->is_last,
    };
    size_t count;
    if (has_gpus) {
        now.gpus = &snapshot->gpu;
        now.gpu_devices = gpu_set_devices(sampler->options.gpus, &count);
    }
    energy_meter_read(&sampler->energy, &now, now_ns);
    snapshot->has_new_energy = true;
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_meter_figures(&sampler->energy, joules);
    energy_power_add(&snapshot->power, joules, now_ns);
}

/* ---- a tick ---- */

void sampler_take_sample(struct sampler *sampler, const struct sampler_tick *tick)
{
    /* Read both clocks at one moment: the timestamp is that of the figures, however busy the
     * machine is. */
    struct clock_pair now = clock_read_pair(clock_monotonic_ns, wall_clock_ns);
    int64_t now_ns = now.first_ns;
    sampler->snapshot.sample.time_ns = now.second_ns;
    if (sampler->options.gpus && !is_first(sampler))
        gpu_set_refresh(sampler->options.gpus); /* answered while processes are read */

    if (has_process(sampler))
        sample_processes(sampler, tick, now_ns);
    if (sampler->options.lists_all)
        process_tree_scan(&sampler->all, tick->none_started, now_ns);
    sample_system(sampler, tick->is_last, now_ns);
    sample_gpus(sampler, tick, now_ns);
    sample_energy(sampler, now_ns);
    for (int i = GPUT_CPU_SYSTEM_SUM; tick->is_baseline && i <= GPUT_CPU_COMBINED_HARDWARE; i++)
        sampler->snapshot.sample.values[i] = NAN;
    struct snapshot *snapshot = &sampler->snapshot;
    int64_t before_ns = is_first(sampler) ? sampler->options.start_ns : snapshot->taken_ns;
    snapshot->is_baseline = tick->is_baseline;
    snapshot->is_last = tick->is_last;
    snapshot->seconds = tick->is_baseline ? 0 : clock_seconds_of_ns(now_ns - before_ns);
    snapshot->taken_ns = now_ns;
}
