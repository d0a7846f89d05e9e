#include "session/sinks/recorded_period.h"

#include "base/array.h"
#include "base/wall_clock.h"
#include "files/power/energy_record.h"
#include "machine/gpu/set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers ---- */

/* Adds a number unless it is NaN. */
static void add_known(struct doc *object, const char *key, double value)
{
    if (!isnan(value))
        doc_add_double(object, key, value);
}

/* Adds a number by the index of a GPU unless it is NaN. */
static void add_of_gpu(struct doc *object, uint32_t gpu, double value)
{
    char index[16];
    snprintf(index, sizeof index, "%u", gpu);
    add_known(object, index, value);
}

/* Adds NaN for a GPU that is not in `object`: AIPowerMeter's print() fails without any number. */
static void add_never_known(struct doc *object, uint32_t gpu)
{
    char index[16];
    snprintf(index, sizeof index, "%u", gpu);
    if (object && !doc_get(object, index))
        doc_add_nan(object, index);
}

/* ---- States ---- */

/* Returns the PSS of anonymous memory plus all of a process's file memory; 0 when it has ended. */
static double pss_bytes(const struct process *process)
{
    const struct memory *memory = &process->polled->memory;
    struct rss rss = memory_rss(memory);
    uint64_t anonymous = memory_anonymous_bytes(memory);
    if (!process_has_memory(process))
        return 0;
    if (!memory->has_exact || anonymous > rss.total)
        return (double)rss.total;
    return (double)(rss.total - anonymous + memory_anonymous_share_bytes(memory));
}

bool recorded_period_has_memory(const struct recorded_period *period)
{
    const struct process_tree *tree = period->snapshot->tree;
    for (size_t i = 0; i < tree->count; i++) {
        if (process_has_memory(tree->processes[i]))
            return true;
    }
    return false;
}

/* Adds the memory of processes that have not ended. */
static void add_memory(const struct process_tree *tree, double used_bytes, struct doc *cpu)
{
    struct doc *pss = doc_add_object(cpu, "per_process_mem_use_abs");
    struct doc *uss = doc_add_object(cpu, "per_process_mem_use_uss");
    struct doc *shares = doc_add_object(cpu, "per_process_mem_use_percent");
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        char pid[16];
        if (!process_has_memory(process))
            continue;
        double bytes = pss_bytes(process);
        snprintf(pid, sizeof pid, "%d", (int)process->pid);
        doc_add_int(pss, pid, (int64_t)bytes);
        doc_add_int(uss, pid, (int64_t)memory_rss(&process->polled->memory).private);
        add_known(shares, pid, used_bytes > 0 ? fmin(1, bytes / used_bytes) : NAN);
    }
}

/* Adds the keys of GPUs that AIPowerMeter's reader needs in every line. */
static void add_gpu_keys(struct recorded_states *states, double bytes, double rate)
{
    states->gpu = doc_add_object(states->metrics, "gpu");
    states->memories = doc_add_object(states->gpu, "per_gpu_nvidia_memory");
    states->rates = doc_add_object(states->gpu, "per_gpu_nvidia_use_rate");
    doc_add_double(states->gpu, "nvidia_memory", bytes);
    doc_add_double(states->gpu, "nvidia_use_rate", rate);
}

/* Adds memory in use on the cards, by whomever, as AIPowerMeter has it. What the tracked processes
 * hold of it has the name of its recordings of 2023. */
static void add_gpu_states(const struct recorded_period *period, struct recorded_states *states)
{
    const struct gpu_sample *sample = &period->snapshot->gpu;
    double rates = gpu_usage_sum(&period->gpu_usage, GPU_USAGE_UTILIZATION) / 100;
    uint32_t n_rates = 0;
    for (uint32_t i = 0; i < sample->n_devices; i++)
        n_rates += !isnan(sample->devices[i].utilization_percent);
    add_gpu_keys(states, gpu_usage_sum(&period->gpu_usage, GPU_USAGE_RAM), rates / n_rates);
    struct doc *held = doc_add_object(states->gpu, "per_gpu_attributable_mem_use");
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        add_of_gpu(states->memories, i, device->ram_used_bytes);
        add_of_gpu(states->rates, i, device->utilization_percent / 100);
        add_of_gpu(held, i, snapshot_gpu_bytes(period->snapshot, device->combined_ram_bytes));
    }
}

void recorded_states_finish(struct recorded_states *states)
{
    doc_destroy(states->metrics);
    *states = (struct recorded_states){0};
}

void recorded_states_take(
    const struct recorded_period *period, int64_t date_ns, struct recorded_states *states)
{
    const struct snapshot *snapshot = period->snapshot;
    recorded_states_finish(states);
    states->metrics = doc_create_object();
    states->cpu = doc_add_object(states->metrics, "cpu");
    states->date_ns = date_ns;
    /* First: AIPowerMeter takes the recording to last as long as the first metric of all. */
    add_known(states->cpu, "total_mem_use", snapshot->system->ram_used_bytes);
    /* The last line can come after the end of all: their memory is not 0 then, but not known. */
    if (recorded_period_has_memory(period))
        add_memory(snapshot->tree, snapshot->system->ram_used_bytes, states->cpu);
    if (snapshot->gpu.n_devices > 0)
        add_gpu_states(period, states);
}

/* ---- The start of a period ---- */

/* Returns the CPU time of a process without our own threads inside it. */
static int64_t cpu_ns_of(const struct recorded_period *period, const struct process *process)
{
    int64_t own_ns = process->is_main ? period->snapshot->own_cpu_ns : 0;
    int64_t cpu_ns = process_cpu_ns(process);
    return cpu_ns > own_ns ? cpu_ns - own_ns : 0;
}

/* Returns the CPU time of all processes, including ended ones: joules are shared out by it. */
static int64_t tree_cpu_ns(const struct recorded_period *period)
{
    return period->snapshot->totals.main_ns + period->snapshot->descendants_ns;
}

/* Reads the joules so far, as a tracking file has them; but a figure is first known at the end of
 * its first interval, and 0 before. */
static void read_joules(const struct energy_meter *meter, double figures[GPUT_ENERGY_FIGURE_COUNT],
    double gpus[GPU_MAX_DEVICES])
{
    double counted[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&meter->energy, counted);
    energy_meter_figures(meter, figures);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (isnan(counted[i]))
            figures[i] = 0;
    }
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        gpus[i] = isnan(meter->gpus[i].joules) ? 0 : energy_meter_gpu_joules(meter, i);
}

bool recorded_period_goes_on(const struct recorded_period *period)
{
    double figures[GPUT_ENERGY_FIGURE_COUNT], gpus[GPU_MAX_DEVICES];
    read_joules(period->snapshot->energy, figures, gpus);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (isnan(figures[i]) != isnan(period->joules[i]))
            return false;
    }
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++) {
        if (isnan(gpus[i]) != isnan(period->gpu_joules[i]))
            return false;
    }
    return true;
}

int64_t recorded_period_date_ns(const struct recorded_period *period)
{
    if (period->since_ns == 0)
        return period->snapshot->sample.time_ns;
    return period->since_time_ns + (period->snapshot->taken_ns - period->since_ns);
}

bool recorded_period_was_suspended(const struct recorded_period *period)
{
    int64_t ahead_ns = period->snapshot->sample.time_ns - recorded_period_date_ns(period);
    return llabs(ahead_ns) > WALL_CLOCK_SUSPENDED_NS;
}

void recorded_period_begin(struct recorded_period *period)
{
    const struct snapshot *snapshot = period->snapshot;
    const struct process_tree *tree = snapshot->tree;
    period->since_time_ns = recorded_period_was_suspended(period) ? snapshot->sample.time_ns
                                                                  : recorded_period_date_ns(period);
    period->since_ns = snapshot->taken_ns;
    recorded_states_take(period, period->since_time_ns, &period->start);
    period->other_seconds = snapshot->other_cpu_seconds;
    period->tree_cpu_ns = tree_cpu_ns(period);
    read_joules(snapshot->energy, period->joules, period->gpu_joules);
    period->package_share = snapshot->energy->package_share;
    period->dram_share = snapshot->energy->dram_share;
    period->n_processes = 0;
    if (!ARRAY_RESIZE(period->processes, tree->count + 1))
        return;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        period->processes[i] = (struct recorded_process){
            process->pid, process->polled->stat.start_time_ticks, cpu_ns_of(period, process)};
    }
    period->n_processes = tree->count;
}

/* Joules and CPU time count from the start of the session on, which comes before the first sample.
 */
void recorded_period_begin_first(struct recorded_period *period, int64_t start_ns)
{
    recorded_period_begin(period);
    period->since_time_ns -= period->since_ns - start_ns;
    period->since_ns = start_ns;
    period->start.date_ns = period->since_time_ns;
    period->other_seconds = 0;
    period->tree_cpu_ns = 0;
    period->n_processes = 0;
    memset(period->joules, 0, sizeof period->joules);
    memset(period->gpu_joules, 0, sizeof period->gpu_joules);
}

/* ---- Its powers ---- */

/* Returns the mean power. Joules are less at the end of a session where too much was extrapolated
 * before. */
static double watts_between(double before, double joules, double seconds)
{
    return joules < before ? 0 : (joules - before) / seconds;
}

/* Returns the mean power by how joules of the tree have grown, where those that they are part of
 * are known. */
static double tree_watts(double now, double before, double seconds, double whole)
{
    return isnan(whole) ? NAN : (now - (isnan(before) ? 0 : before)) / seconds;
}

struct period_powers recorded_period_measure(const struct recorded_period *period)
{
    const struct energy_meter *meter = period->snapshot->energy;
    double seconds = clock_seconds_of_ns(period->snapshot->taken_ns - period->since_ns);
    struct period_powers powers = {.seconds = seconds,
        .other_seconds = period->snapshot->other_cpu_seconds - period->other_seconds};
    double *watts = powers.watts;
    energy_figures(&meter->energy, watts);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        watts[i] = watts_between(period->joules[i], watts[i], seconds);
    powers.tree_package = tree_watts(
        meter->package_share, period->package_share, seconds, watts[GPUT_ENERGY_PACKAGE]);
    powers.tree_dram =
        tree_watts(meter->dram_share, period->dram_share, seconds, watts[GPUT_ENERGY_DRAM]);
    return powers;
}

/* Returns the CPU seconds in the period of the tree's process at that index. Processes keep their
 * order, so it is usually at the same place as before. */
static double cpu_seconds_since(const struct recorded_period *period, size_t index)
{
    const struct process *process = period->snapshot->tree->processes[index];
    int64_t ns = cpu_ns_of(period, process);
    for (size_t n = 0; n < period->n_processes; n++) {
        const struct recorded_process *before =
            &period->processes[(index + n) % period->n_processes];
        if (before->pid == process->pid &&
            before->start_time_ticks == process->polled->stat.start_time_ticks) {
            ns -= before->cpu_ns;
            break;
        }
    }
    return ns > 0 ? clock_seconds_of_ns(ns) : 0;
}

/* The measure of the parts of a period, and their destination. */
struct parts {
    const struct period_powers *powers;
    double ended_seconds; /* CPU time of processes that ended in it; counts with main */
    double tree_seconds;  /* of all, those too */
    double machine_seconds;
    double tree_bytes;
    struct doc *shares, *cpus, *packages, *cores, *drams; /* by process; NULL: not known */
};

/* Returns a part of a whole; where nothing separates the parts, all of it is main's. */
static double part_of(double part, double whole, bool is_main)
{
    return whole > 0 ? part / whole : is_main;
}

/* Adds the shares and powers of one process. */
static void add_process(
    const struct parts *parts, pid_t pid, bool is_main, double seconds, double bytes)
{
    const struct period_powers *powers = parts->powers;
    double share = part_of(seconds, parts->machine_seconds, false);
    char key[16];
    snprintf(key, sizeof key, "%d", (int)pid);
    doc_add_double(parts->shares, key, share);
    doc_add_double(parts->cpus, key, seconds / powers->seconds);
    add_known(parts->packages, key,
        powers->tree_package * part_of(seconds, parts->tree_seconds, is_main));
    add_known(parts->cores, key, powers->watts[GPUT_ENERGY_CORE] * share);
    add_known(parts->drams, key, powers->tree_dram * part_of(bytes, parts->tree_bytes, is_main));
}

/* Adds an object of numbers by pid; NULL where the figure that they are parts of is not known. */
static struct doc *add_parts(struct doc *cpu, const char *key, double whole)
{
    return isnan(whole) ? NULL : doc_add_object(cpu, key);
}

/* Adds the powers of the CPU, then the shares and powers of each process. These add up to what the
 * session's report gives all of them. */
static void add_cpu_powers(
    const struct recorded_period *period, const struct period_powers *powers, struct doc *cpu)
{
    static const enum gput_energy_figure figures[] = {GPUT_ENERGY_PACKAGE, GPUT_ENERGY_PSYS,
        GPUT_ENERGY_UNCORE, GPUT_ENERGY_CORE, GPUT_ENERGY_DRAM};
    const struct process_tree *tree = period->snapshot->tree;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_known(cpu, recorded_metric_of_figure(figures[i]), powers->watts[figures[i]]);

    struct parts parts = {.powers = powers};
    double living_seconds = 0;
    for (size_t i = 0; i < tree->count; i++) {
        living_seconds += cpu_seconds_since(period, i);
        parts.tree_bytes += pss_bytes(tree->processes[i]);
    }
    int64_t tree_ns = tree_cpu_ns(period) - period->tree_cpu_ns;
    parts.tree_seconds = fmax(clock_seconds_of_ns(tree_ns), living_seconds);
    parts.ended_seconds = parts.tree_seconds - living_seconds;
    parts.machine_seconds = parts.tree_seconds + powers->other_seconds;

    parts.shares = doc_add_object(cpu, "per_process_cpu_uses");
    /* For each second of the period, so that the integral, which readers show, is CPU time. */
    parts.cpus = doc_add_object(cpu, "absolute_cpu_time_per_pid");
    parts.packages = add_parts(cpu, "rel_intel_power", powers->tree_package);
    parts.cores = add_parts(cpu, "per_process_cpu_power", powers->watts[GPUT_ENERGY_CORE]);
    parts.drams = add_parts(cpu, "per_process_dram_power", powers->tree_dram);
    /* Ended processes count with main, also after main was collected and has left the tree. */
    if (!process_tree_main(tree))
        add_process(&parts, tree->options.main, true, parts.ended_seconds, 0);
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        bool is_main = process->is_main;
        double seconds = cpu_seconds_since(period, i) + (is_main ? parts.ended_seconds : 0);
        add_process(&parts, process->pid, is_main, seconds, pss_bytes(process));
    }
}

/* Adds a figure that few GPUs have: the first one makes the object. */
static void add_of_few(
    struct doc *gpu, const char *name, struct doc **numbers, uint32_t i, double number)
{
    if (!*numbers && !isnan(number))
        *numbers = doc_add_object(gpu, name);
    if (*numbers)
        add_of_gpu(*numbers, i, number);
}

/* Returns the mean power of a GPU in the period; of the first MIG instance of a card, the card's.
 * One whose joules are part of another's figure (in the CPU's package) has what it draws now. */
static double gpu_watts(const struct recorded_period *period, size_t i, double seconds)
{
    const struct energy_meter *meter = period->snapshot->energy;
    if (isnan(meter->gpus[i].joules))
        return period->snapshot->gpu.devices[i].power_watts;
    return watts_between(period->gpu_joules[i], meter->gpus[i].joules, seconds);
}

/* Adds the powers of GPUs: all keys in every line, as of the states. What was never known of a GPU
 * is NaN; what is no longer known is left out. */
static void add_gpu_powers(const struct recorded_period *period, const struct period_powers *powers,
    const struct recorded_states *states)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(period->snapshot->gpus, &count);
    struct doc *gpu = states->gpu, *whole = doc_add_object(gpu, "per_gpu_nvidia_power");
    struct doc *in_package = NULL, *cards = NULL;
    for (uint32_t i = 0; i < period->snapshot->gpu.n_devices; i++) {
        double watts = gpu_watts(period, i, powers->seconds);
        bool has_joules = !isnan(period->snapshot->energy->gpus[i].joules);
        if (devices[i].in_package && !has_joules)
            add_of_few(gpu, "in_package_gpu_power", &in_package, i, watts);
        else if (devices[i].mig)
            add_of_few(gpu, "mig_card_power", &cards, i, watts);
        else
            add_of_gpu(whole, i, watts);
        if (!has_joules || devices[i].mig)
            add_never_known(whole, i);
        if (isnan(gpu_usage_max(&period->gpu_usage, i, GPU_USAGE_RAM)))
            add_never_known(states->memories, i);
        if (isnan(gpu_usage_max(&period->gpu_usage, i, GPU_USAGE_UTILIZATION)))
            add_never_known(states->rates, i);
    }
    doc_add_double(gpu, recorded_metric_of_figure(GPUT_ENERGY_GPU), powers->watts[GPUT_ENERGY_GPU]);
}

struct doc *recorded_period_line(const struct recorded_period *period,
    const struct period_powers *powers, struct recorded_states *states)
{
    /* GPUs that appeared later are unknown at the moment of the states. */
    if (states->metrics && period->snapshot->gpu.n_devices > 0 && !states->gpu)
        add_gpu_keys(states, NAN, NAN);
    if (states->metrics)
        add_cpu_powers(period, powers, states->cpu);
    if (states->gpu)
        add_gpu_powers(period, powers, states);
    struct doc *metrics = states->metrics;
    *states = (struct recorded_states){0};
    return metrics;
}

void recorded_period_finish(struct recorded_period *period)
{
    recorded_states_finish(&period->start);
    gpu_usage_finish(&period->gpu_usage);
    free(period->processes);
}
