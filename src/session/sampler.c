#include "session/sampler.h"

#include "base/number.h"
#include "base/wall_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Percents are rounded to this many places: the clocks after them are not finer. */
#define PERCENT_DECIMALS 4
/* How long a sample waits for GPU drivers to read the energy up to it. */
#define MAX_WAIT_NS (NS_PER_SECOND / 20)
#define LAST_WAIT_NS (NS_PER_SECOND / 10)
/* Shorter intervals: figures of the tick before are fresh enough. */
#define MIN_AWAITED_NS (NS_PER_SECOND / 100)
/* How long it waits for a list of processes after a change of the memory in use. */
#define MAX_LIST_WAIT_NS (NS_PER_SECOND / 50)
/* The same at both ends, for the list of processes that hold GPU RAM. */
#define LIST_WAIT_NS (NS_PER_SECOND / 4)

static bool has_process(const struct sampler *sampler)
{
    return sampler->options.tree.main != 0;
}

static int begin_listing_all(struct sampler *sampler, struct gput_error *error)
{
    const struct process_tree_options *tracked = &sampler->options.tree;
    sampler->all = (struct process_tree){.loadavg_fd = -1};
    if (!sampler->options.lists_all)
        return GPUT_OK;
    struct process_tree_options options = {.procfs_root = tracked->procfs_root,
        .main_is_old = true,
        .kept_files = tracked->kept_files};
    return process_tree_init(&sampler->all, &options, error);
}

int sampler_init(struct sampler *sampler, const struct sampler_options *options,
    struct system_meter *system, struct gput_error *error)
{
    *sampler = (struct sampler){.options = *options, .system = system};
    if (has_process(sampler))
        TRY(process_tree_init(&sampler->tree, &options->tree, error));
    else
        sampler->tree = (struct process_tree){.loadavg_fd = -1};
    TRY(begin_listing_all(sampler, error));
    system_meter_start(system, options->start_ns);
    other_cpu_begin(&sampler->others, options->start_ns);
    energy_meter_init(&sampler->energy, options->sysfs_root);
    sampler->energy.shares_out = has_process(sampler);
    sampler->energy.start_ns = options->start_ns;
    ram_meter_init(&sampler->ram, options->ram_readings, options->start_ns);
    sampler->last.time_ns = sampler->before_last.time_ns = options->start_ns;
    sampler->snapshot = (struct snapshot){.tree = &sampler->tree,
        .listed = options->lists_all ? &sampler->all : &sampler->tree,
        .ram = &sampler->ram,
        .system = system,
        .energy = &sampler->energy,
        .gpus = options->gpus};
    energy_power_init(&sampler->snapshot.power);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        sampler->snapshot.sample.values[i] = NAN;
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

/* ---- RAM and threads ---- */

static void put_rss(double *values, enum gput_measurement_id total,
    enum gput_measurement_id private, enum gput_measurement_id shared, const struct rss *rss)
{
    values[total] = (double)rss->total;
    values[private] = (double)rss->private;
    values[shared] = (double)rss->shared;
}

static void put_ram(struct sampler *sampler)
{
    const struct ram_figures *ram = &sampler->ram.figures;
    double *values = sampler->snapshot.sample.values;
    put_rss(values, GPUT_MAIN_RAM, GPUT_MAIN_PRIVATE_RAM, GPUT_MAIN_SHARED_RAM, &ram->main);
    put_rss(values, GPUT_DESCENDANTS_RAM, GPUT_DESCENDANTS_PRIVATE_RAM, GPUT_DESCENDANTS_SHARED_RAM,
        &ram->descendants);
    put_rss(values, GPUT_COMBINED_RAM, GPUT_COMBINED_PRIVATE_RAM, GPUT_COMBINED_SHARED_RAM,
        &ram->combined);
}

static void put_threads(struct sampler *sampler, bool in_main)
{
    uint64_t main = 0, descendants = 0;
    for (size_t i = 0; i < sampler->tree.count; i++) {
        const struct process *process = sampler->tree.processes[i];
        if (process_is_zombie(process))
            continue;
        *(process->is_main ? &main : &descendants) += process_thread_count(process);
    }
    uint64_t ours = sampler->own_threads + in_main;
    main -= ours < main ? ours : main;
    sampler->snapshot.sample.values[GPUT_MAIN_THREADS] = (double)main;
    sampler->snapshot.sample.values[GPUT_DESCENDANTS_THREADS] = (double)descendants;
    sampler->snapshot.sample.values[GPUT_COMBINED_THREADS] = (double)(main + descendants);
}

/* ---- CPU ---- */

/* Auto-reaped children are in no parent's totals. */
static void read_descendants(struct sampler *sampler)
{
    const struct sampler_options *options = &sampler->options;
    int64_t known_ns = options->known_cpu_ns ? options->known_cpu_ns(options->user) : 0;
    int64_t ns = known_ns - sampler->snapshot.totals.main_ns;
    if (ns < sampler->snapshot.totals.descendants_ns)
        ns = sampler->snapshot.totals.descendants_ns;
    if (ns > sampler->snapshot.descendants_ns)
        sampler->snapshot.descendants_ns = ns;
}

/* CPU time of untracked processes, in the intervals of the machine's CPU time. */
static void read_others(struct sampler *sampler, int64_t now_ns)
{
    int64_t ours_ns = sampler->snapshot.totals.main_ns + sampler->snapshot.descendants_ns;
    if (sampler->system->since_ns == now_ns)
        other_cpu_read(&sampler->others, now_ns, system_meter_busy_seconds(sampler->system),
            (double)ours_ns / (double)NS_PER_SECOND);
    sampler->snapshot.other_cpu_seconds = sampler->others.seconds;
}

static double percent(const struct sampler *sampler, int64_t cpu_ns, int64_t interval_ns)
{
    double value = 100.0 * (double)cpu_ns / (double)interval_ns;
    /* The clocks of a scan are read one after the other, so a very short interval can overshoot. */
    double highest = 100.0 * sampler->options.system_core_count;
    return number_round(value < highest ? value : highest, PERCENT_DECIMALS);
}

static void put_percent(double *values, enum gput_measurement_id sum,
    enum gput_measurement_id hardware, double value, uint32_t cores)
{
    values[sum] = value;
    values[hardware] = number_round(value / cores, PERCENT_DECIMALS);
}

static void put_process_cpu(struct sampler *sampler, int64_t now_ns)
{
    struct cpu_mark now = {.time_ns = now_ns,
        .main_ns = sampler->snapshot.totals.main_ns,
        .descendants_ns = sampler->snapshot.totals.descendants_ns};
    const struct cpu_mark *from = &sampler->last;
    /*
     * The last sample can follow a tick at once. The kernel brings the clock of a process that runs
     * up to date only now and then (1 to 10 ms), so a short interval would overshoot.
     */
    if ((now_ns - from->time_ns) * 2 < sampler->options.interval_ns &&
        sampler->before_last.time_ns < from->time_ns)
        from = &sampler->before_last;
    int64_t interval_ns = now_ns - from->time_ns;
    if (interval_ns <= 0)
        return;

    double *values = sampler->snapshot.sample.values;
    uint32_t cores = sampler->options.n_expected_cores;
    int64_t main_ns = now.main_ns - from->main_ns;
    int64_t descendants_ns = now.descendants_ns - from->descendants_ns;
    put_percent(values, GPUT_CPU_MAIN_SUM, GPUT_CPU_MAIN_HARDWARE,
        percent(sampler, main_ns, interval_ns), cores);
    put_percent(values, GPUT_CPU_DESCENDANTS_SUM, GPUT_CPU_DESCENDANTS_HARDWARE,
        percent(sampler, descendants_ns, interval_ns), cores);
    put_percent(values, GPUT_CPU_COMBINED_SUM, GPUT_CPU_COMBINED_HARDWARE,
        percent(sampler, main_ns + descendants_ns, interval_ns), cores);
    sampler->before_last = sampler->last;
    sampler->last = now;
}

/* ---- system and GPUs ---- */

/* Energy is read in the intervals of the machine's CPU time, so that shares and joules are of the
 * same one. */
static bool is_in_step(const struct sampler *sampler, int64_t now_ns)
{
    return sampler->system->since_ns == now_ns || sampler->energy.since_ns == 0;
}

static void put_system(struct sampler *sampler)
{
    double *values = sampler->snapshot.sample.values;
    double sum = sampler->system->cpu_sum_percent;
    values[GPUT_SYSTEM_RAM] = sampler->system->ram_used_bytes;
    values[GPUT_CPU_SYSTEM_SUM] = values[GPUT_CPU_SYSTEM_HARDWARE] = NAN;
    if (!isnan(sum))
        put_percent(values, GPUT_CPU_SYSTEM_SUM, GPUT_CPU_SYSTEM_HARDWARE,
            number_round(sum, PERCENT_DECIMALS), sampler->options.system_core_count);
}

static int by_number(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return (a > b) - (a < b);
}

static void list_descendants(struct sampler *sampler)
{
    const struct process_tree *tree = sampler->snapshot.listed;
    if (sampler->descendants_generation == tree->generation)
        return;
    sampler->descendants.count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        if (!tree->processes[i]->is_main)
            pid_vector_append(&sampler->descendants, tree->processes[i]->pid);
    }
    if (sampler->descendants.count > 1)
        qsort(sampler->descendants.pids, sampler->descendants.count, sizeof(pid_t), by_number);
    sampler->descendants_generation = tree->generation;
}

/* Figures of devices, and with them joules, are of the sample's own moment where the drivers have
 * answered by the end of it. Else power is extrapolated, so that ticks do not wait for long; what
 * the last sample misses stays missing. */
static void await_gpus(struct sampler *sampler, int64_t now_ns, unsigned flags)
{
    int64_t wait_ns = sampler->options.interval_ns / 4;
    if (wait_ns > MAX_WAIT_NS)
        wait_ns = MAX_WAIT_NS;
    if (flags & SAMPLER_LAST)
        wait_ns = LAST_WAIT_NS;
    bool is_row_awaited =
        sampler->options.interval_ns >= MIN_AWAITED_NS && sampler->snapshot.taken_ns != 0;
    bool is_energy_awaited = sampler->energy.since_ns != 0 && is_in_step(sampler, now_ns);
    if (flags & SAMPLER_LAST || is_row_awaited || is_energy_awaited)
        gpu_set_await(sampler->options.gpus, wait_ns);
}

static struct gpu_tree gpu_tree_of(struct sampler *sampler)
{
    list_descendants(sampler);
    const struct process *main = process_tree_main(&sampler->tree);
    return (struct gpu_tree){.main = main ? main->pid : 0,
        .descendants = sampler->descendants.pids,
        .n_descendants = sampler->descendants.count,
        .generation = sampler->snapshot.listed->generation};
}

/* At both ends the lists of processes are read anew: a session can be shorter than the pause
 * between two lists. */
static void request_lists(struct sampler *sampler, unsigned flags)
{
    bool is_first = sampler->snapshot.taken_ns == 0, is_last = flags & SAMPLER_LAST;
    if (!has_process(sampler) || !(is_first || is_last))
        return;
    struct gpu_tree tree = gpu_tree_of(sampler);
    gpu_set_request_lists(sampler->options.gpus, &tree);
    if (is_last || flags & SAMPLER_AWAIT_LISTS)
        gpu_set_await_lists(sampler->options.gpus, LIST_WAIT_NS);
    /* The memory in use around the first list, from which later rises are computed. */
    if (is_first && flags & SAMPLER_AWAIT_LISTS) {
        gpu_set_refresh(sampler->options.gpus);
        gpu_set_await(sampler->options.gpus, MAX_WAIT_NS);
    }
}

static void put_gpu_ram(struct sampler *sampler)
{
    double *values = sampler->snapshot.sample.values;
    if (has_process(sampler)) {
        values[GPUT_MAIN_GPU_RAM] = sampler->snapshot.gpu.main_ram_bytes;
        values[GPUT_DESCENDANTS_GPU_RAM] = sampler->snapshot.gpu.descendants_ram_bytes;
        values[GPUT_COMBINED_GPU_RAM] = sampler->snapshot.gpu.combined_ram_bytes;
    }
    values[GPUT_SYSTEM_GPU_RAM] = sampler->snapshot.gpu.system_ram_bytes;
}

bool sampler_take_waiting_lists(struct sampler *sampler)
{
    if (!sampler->options.gpus)
        return false;
    struct gpu_tree tree = gpu_tree_of(sampler);
    if (!gpu_set_sample_new_list(sampler->options.gpus, &tree, &sampler->snapshot.gpu))
        return false;
    put_gpu_ram(sampler);
    return true;
}

/* A quarter of the interval and MAX_LIST_WAIT_NS at most. */
static int64_t list_wait_ns(const struct sampler *sampler)
{
    int64_t wait_ns = sampler->options.interval_ns / 4;
    return wait_ns < MAX_LIST_WAIT_NS ? wait_ns : MAX_LIST_WAIT_NS;
}

/* Who holds GPU RAM is as of the reading of the memory in use, where a list comes in time. */
static void await_moved_lists(struct sampler *sampler, int64_t since_ns)
{
    int64_t left_ns = list_wait_ns(sampler) - (clock_monotonic_ns() - since_ns);
    bool is_first = sampler->snapshot.taken_ns == 0;
    if (has_process(sampler) && !is_first && left_ns > 0)
        gpu_set_await_moved_lists(sampler->options.gpus, left_ns);
}

bool sampler_gpu_ram_is_doubtful(const struct sampler *sampler)
{
    return has_process(sampler) && gpu_sample_contradicts_itself(&sampler->snapshot.gpu);
}

void sampler_read_gpu_ram_again(struct sampler *sampler)
{
    struct gpu_tree tree = gpu_tree_of(sampler);
    gpu_set_refresh(sampler->options.gpus);
    gpu_set_await(sampler->options.gpus, list_wait_ns(sampler));
    gpu_set_sample(sampler->options.gpus, &tree, &sampler->snapshot.gpu);
    put_gpu_ram(sampler);
}

void sampler_limit_gpu_ram(struct sampler *sampler)
{
    gpu_sample_limit_ram(&sampler->snapshot.gpu);
    put_gpu_ram(sampler);
}

static void put_gpus(struct sampler *sampler, int64_t now_ns, unsigned flags)
{
    if (!sampler->options.gpus)
        return;
    int64_t since_ns = clock_monotonic_ns();
    request_lists(sampler, flags);
    await_gpus(sampler, now_ns, flags);
    await_moved_lists(sampler, since_ns);
    struct gpu_tree tree = gpu_tree_of(sampler);
    gpu_set_sample(sampler->options.gpus, &tree, &sampler->snapshot.gpu);
    /* The next lists need them more than procfs files that can be opened again. */
    if (has_process(sampler) && gpu_set_lacks_descriptors(sampler->options.gpus))
        process_tree_close_cached_files(&sampler->tree);
    put_gpu_ram(sampler);
    sampler->snapshot.sample.values[GPUT_GPU_SUM_UTILIZATION] =
        sampler->snapshot.gpu.utilization_sum_percent;
    sampler->snapshot.sample.values[GPUT_GPU_HARDWARE_UTILIZATION] =
        sampler->snapshot.gpu.utilization_hardware_percent;
}

/* ---- energy ---- */

static void read_energy(struct sampler *sampler, int64_t now_ns)
{
    sampler->snapshot.has_new_energy = false;
    bool has_gpus = sampler->options.gpus && sampler->snapshot.gpu.n_devices > 0;
    if (!is_in_step(sampler, now_ns) || (!has_gpus && !energy_meter_has_any(&sampler->energy)))
        return;
    const struct ram_figures *ram = &sampler->ram.figures;
    struct energy_shares now = {
        .main_cpu_seconds = (double)sampler->snapshot.totals.main_ns / (double)NS_PER_SECOND,
        .descendants_cpu_seconds = (double)sampler->snapshot.descendants_ns / (double)NS_PER_SECOND,
        .other_cpu_seconds = sampler->snapshot.other_cpu_seconds,
        .machine_busy_seconds = system_meter_busy_seconds(sampler->system),
        .machine_cpu_seconds = system_meter_cpu_seconds(sampler->system),
        .main_ram_bytes = (double)ram->main.total,
        .combined_ram_bytes = (double)ram->combined.total,
        .machine_ram_bytes = sampler->system->ram_used_bytes,
    };
    size_t count;
    if (has_gpus) {
        now.gpus = &sampler->snapshot.gpu;
        now.gpu_devices = gpu_set_devices(sampler->options.gpus, &count);
    }
    energy_meter_read(&sampler->energy, &now, now_ns);
    sampler->snapshot.has_new_energy = true;
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_meter_figures(&sampler->energy, joules);
    energy_power_add(&sampler->snapshot.power, joules, now_ns);
}

static bool check(struct sampler *sampler, unsigned flags, int64_t now_ns)
{
    process_tree_scan(&sampler->tree, flags & SAMPLER_NONE_STARTED, now_ns);
    /* The last figures of main and its descendants stay. */
    bool any_lives = sampler_main_lives(sampler) || sampler->tree.has_others;
    if (any_lives)
        ram_meter_measure(&sampler->ram, &sampler->tree, now_ns);
    return any_lives;
}

void sampler_scan_between(struct sampler *sampler, unsigned flags)
{
    sampler->ram.skip_exact = true;
    check(sampler, flags, clock_monotonic_ns());
    sampler->ram.skip_exact = false;
}

static void add_processes(
    struct sampler *sampler, int64_t orphans_ns, unsigned flags, int64_t now_ns)
{
    bool in_main = flags & SAMPLER_IN_MAIN;
    if (check(sampler, flags, now_ns)) {
        put_ram(sampler);
        put_threads(sampler, in_main);
    }
    sampler->snapshot.own_cpu_ns =
        in_main ? clock_thread_cpu_ns() + sampler->own_threads_cpu_ns : 0;
    cpu_totals_update(
        &sampler->snapshot.totals, &sampler->tree, orphans_ns, sampler->snapshot.own_cpu_ns);
    read_descendants(sampler);
    put_process_cpu(sampler, now_ns);
}

static void drop_percents(struct sampler *sampler)
{
    for (int i = GPUT_CPU_SYSTEM_SUM; i <= GPUT_CPU_COMBINED_HARDWARE; i++)
        sampler->snapshot.sample.values[i] = NAN;
}

static void set_moment(struct sampler *sampler, int64_t now_ns, unsigned flags)
{
    struct snapshot *snapshot = &sampler->snapshot;
    int64_t before_ns = snapshot->taken_ns ? snapshot->taken_ns : sampler->options.start_ns;
    snapshot->is_baseline = flags & SAMPLER_BASELINE;
    snapshot->is_last = flags & SAMPLER_LAST;
    snapshot->seconds = snapshot->is_baseline ? 0 : clock_seconds_of_ns(now_ns - before_ns);
    snapshot->taken_ns = now_ns;
}

void sampler_take_sample(struct sampler *sampler, int64_t orphans_ns, unsigned flags)
{
    /* Of one moment: the time stamp is that of the figures, however busy the machine is. */
    struct clock_pair now = clock_read_pair(clock_monotonic_ns, wall_clock_ns);
    int64_t now_ns = now.first_ns;
    sampler->snapshot.sample.time_ns = now.second_ns;
    /* The first one uses an earlier reading: joules count from it. */
    if (sampler->options.gpus && sampler->snapshot.taken_ns)
        gpu_set_refresh(sampler->options.gpus);

    if (has_process(sampler))
        add_processes(sampler, orphans_ns, flags, now_ns);
    if (sampler->options.lists_all)
        process_tree_scan(&sampler->all, flags & SAMPLER_NONE_STARTED, now_ns);
    if (flags & SAMPLER_LAST)
        system_meter_read_last(sampler->system, now_ns);
    else
        system_meter_read(sampler->system, now_ns);
    read_others(sampler, now_ns);
    put_system(sampler);
    put_gpus(sampler, now_ns, flags);
    read_energy(sampler, now_ns);
    if (flags & SAMPLER_BASELINE)
        drop_percents(sampler);
    set_moment(sampler, now_ns, flags);
}
