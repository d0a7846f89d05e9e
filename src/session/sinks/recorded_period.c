#include "session/sinks/recorded_period.h"

#include "base/array.h"
#include "base/wall_clock.h"
#include "machine/gpu/set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CPU time of a process without our own threads inside it. */
static int64_t cpu_ns_of(const struct recorded_period *period, const struct process *process)
{
    int64_t own_ns = process->is_main ? period->snapshot->own_cpu_ns : 0;
    int64_t cpu_ns = process_cpu_ns(process);
    return cpu_ns > own_ns ? cpu_ns - own_ns : 0;
}

/* Of all processes, including ended ones: joules are shared out by it. */
static int64_t tree_cpu_ns(const struct recorded_period *period)
{
    return period->snapshot->totals.main_ns + period->snapshot->descendants_ns;
}

/* ---- its start ---- */

/* A figure is first known at the end of its first interval, and 0 before. */
static struct recorded_joules joules_now(const struct energy_meter *meter)
{
    struct recorded_joules joules;
    double counted[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&meter->energy, counted);
    energy_meter_figures(meter, joules.figures);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (isnan(counted[i]))
            joules.figures[i] = 0;
    }
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        joules.gpus[i] = isnan(meter->gpus[i].joules) ? 0 : energy_meter_gpu_joules(meter, i);
    return joules;
}

bool recorded_period_goes_on(const struct recorded_period *period)
{
    const struct recorded_joules *before = &period->joules;
    struct recorded_joules now = joules_now(period->snapshot->energy);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (isnan(now.figures[i]) != isnan(before->figures[i]))
            return false;
    }
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++) {
        if (isnan(now.gpus[i]) != isnan(before->gpus[i]))
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
    const struct process_tree *tree = period->snapshot->tree;
    period->since_time_ns = recorded_period_was_suspended(period) ? period->snapshot->sample.time_ns
                                                                  : recorded_period_date_ns(period);
    period->since_ns = period->snapshot->taken_ns;
    recorded_states_take(
        period->snapshot, &period->gpu_usage, period->since_time_ns, &period->start);
    period->other_seconds = period->snapshot->other_cpu_seconds;
    period->tree_cpu_ns = tree_cpu_ns(period);
    period->joules = joules_now(period->snapshot->energy);
    period->package_share = period->snapshot->energy->package_share;
    period->dram_share = period->snapshot->energy->dram_share;
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
    memset(&period->joules, 0, sizeof period->joules);
}

static int64_t cpu_ns_since(
    const struct recorded_period *period, const struct process *process, size_t guess)
{
    int64_t now_ns = cpu_ns_of(period, process);
    for (size_t n = 0; n < period->n_processes; n++) {
        /* Processes keep their order, so it is usually at the same place. */
        const struct recorded_process *before =
            &period->processes[(guess + n) % period->n_processes];
        if (before->pid == process->pid &&
            before->start_time_ticks == process->polled->stat.start_time_ticks)
            return now_ns - before->cpu_ns;
    }
    return now_ns;
}

/* ---- its powers ---- */

/* Mean power. Joules are less at the end of a session where too much was extrapolated before. */
static double watts_between(double before, double joules, double seconds)
{
    return joules < before ? 0 : (joules - before) / seconds;
}

/* Mean power by how joules of the tree have grown, where those that they are part of are known. */
static double tree_watts(double now, double before, double seconds, double whole)
{
    return isnan(whole) ? NAN : (now - (isnan(before) ? 0 : before)) / seconds;
}

struct period_powers recorded_period_measure(const struct recorded_period *period)
{
    const struct energy_meter *meter = period->snapshot->energy;
    double seconds = clock_seconds_of_ns(period->snapshot->taken_ns - period->since_ns);
    double watts[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&meter->energy, watts);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        watts[i] = watts_between(period->joules.figures[i], watts[i], seconds);
    double package = watts[GPUT_ENERGY_PACKAGE], dram = watts[GPUT_ENERGY_DRAM];
    return (struct period_powers){.seconds = seconds,
        .other_seconds = period->snapshot->other_cpu_seconds - period->other_seconds,
        .package = package,
        .core = watts[GPUT_ENERGY_CORE],
        .uncore = watts[GPUT_ENERGY_UNCORE],
        .dram = dram,
        .psys = watts[GPUT_ENERGY_PSYS],
        .gpu = watts[GPUT_ENERGY_GPU],
        .tree_package = tree_watts(meter->package_share, period->package_share, seconds, package),
        .tree_dram = tree_watts(meter->dram_share, period->dram_share, seconds, dram)};
}

/* An object of numbers by pid; NULL where the figure that they are parts of is not known. */
static struct doc *add_parts(struct doc *cpu, const char *key, double whole)
{
    return isnan(whole) ? NULL : doc_add_object(cpu, key);
}

/* What the parts of a period are measured by. */
struct parts {
    double ended_seconds; /* CPU time of processes that ended in it; counts with main */
    double tree_seconds;  /* of all, those too */
    double machine_seconds;
    double tree_bytes;
};

static double cpu_seconds_since(const struct recorded_period *period, size_t i)
{
    int64_t ns = cpu_ns_since(period, period->snapshot->tree->processes[i], i);
    return ns > 0 ? clock_seconds_of_ns(ns) : 0;
}

static struct parts sum_parts(
    const struct recorded_period *period, const struct period_powers *powers)
{
    const struct process_tree *tree = period->snapshot->tree;
    struct parts parts = {0};
    double living_seconds = 0;
    for (size_t i = 0; i < tree->count; i++) {
        living_seconds += cpu_seconds_since(period, i);
        parts.tree_bytes += process_pss_bytes(tree->processes[i]);
    }
    int64_t tree_ns = tree_cpu_ns(period) - period->tree_cpu_ns;
    parts.tree_seconds = fmax(clock_seconds_of_ns(tree_ns), living_seconds);
    parts.ended_seconds = parts.tree_seconds - living_seconds;
    parts.machine_seconds = parts.tree_seconds + powers->other_seconds;
    return parts;
}

/* A part of a whole; where nothing separates the parts, all of it is main's. */
static double part_of(double part, double whole, bool is_main)
{
    return whole > 0 ? part / whole : is_main;
}

/* Where the shares and powers of each process go; NULL: not known. */
struct process_powers {
    const struct period_powers *powers;
    const struct parts *parts;
    struct doc *shares, *cpus, *packages, *cores, *drams;
};

static void add_powers_of(
    const struct process_powers *to, pid_t pid, bool is_main, double seconds, double bytes)
{
    const struct period_powers *powers = to->powers;
    const struct parts *parts = to->parts;
    double share = part_of(seconds, parts->machine_seconds, false);
    double package = powers->tree_package * part_of(seconds, parts->tree_seconds, is_main);
    double dram = powers->tree_dram * part_of(bytes, parts->tree_bytes, is_main);
    char key[16];
    snprintf(key, sizeof key, "%d", (int)pid);
    doc_add_double(to->shares, key, share);
    doc_add_double(to->cpus, key, seconds / powers->seconds);
    doc_add_known(to->packages, key, package);
    doc_add_known(to->cores, key, powers->core * share);
    doc_add_known(to->drams, key, dram);
}

/* Shares and powers of each process over the period. The powers add up to what the session's report
 * gives all of them. */
static void add_process_powers(
    const struct recorded_period *period, const struct period_powers *powers, struct doc *cpu)
{
    const struct process_tree *tree = period->snapshot->tree;
    struct parts parts = sum_parts(period, powers);
    struct process_powers to = {.powers = powers,
        .parts = &parts,
        .shares = doc_add_object(cpu, "per_process_cpu_uses"),
        /* For each second of the period, so that the integral, which readers show, is CPU time. */
        .cpus = doc_add_object(cpu, "absolute_cpu_time_per_pid"),
        .packages = add_parts(cpu, "rel_intel_power", powers->tree_package),
        .cores = add_parts(cpu, "per_process_cpu_power", powers->core),
        .drams = add_parts(cpu, "per_process_dram_power", powers->tree_dram)};
    /* What has ended counts with main, also after main was collected and has left the tree. */
    if (!process_tree_main(tree))
        add_powers_of(&to, tree->options.main, true, parts.ended_seconds, 0);
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        bool is_main = process->is_main;
        double seconds = cpu_seconds_since(period, i) + (is_main ? parts.ended_seconds : 0);
        add_powers_of(&to, process->pid, is_main, seconds, process_pss_bytes(process));
    }
}

static void add_cpu_powers(
    const struct recorded_period *period, const struct period_powers *powers, struct doc *cpu)
{
    doc_add_known(cpu, "intel_power", powers->package);
    doc_add_known(cpu, "psys_power", powers->psys);
    doc_add_known(cpu, "uncore_power", powers->uncore);
    doc_add_known(cpu, "total_cpu_power", powers->core);
    doc_add_known(cpu, "total_dram_power", powers->dram);
    add_process_powers(period, powers, cpu);
}

/* A figure that few GPUs have: the first one makes the object. */
static void add_of_few(
    struct doc *gpu, const char *name, struct doc **numbers, uint32_t i, double number)
{
    if (!*numbers && !isnan(number))
        *numbers = doc_add_object(gpu, name);
    if (*numbers)
        doc_add_of_gpu(*numbers, i, number);
}

/* Mean power of a GPU in the period; of the first MIG instance of a card, the card's. One whose
 * joules are part of another's figure (in the CPU's package) has what it draws now. */
static double gpu_watts(const struct recorded_period *period, size_t i, double seconds)
{
    const struct energy_meter *meter = period->snapshot->energy;
    if (isnan(meter->gpus[i].joules))
        return period->snapshot->gpu.devices[i].power_watts;
    return watts_between(period->joules.gpus[i], meter->gpus[i].joules, seconds);
}

/* All keys in every line, as of the states. What was never known of a GPU is NaN; what is no longer
 * known is left out. */
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
            doc_add_of_gpu(whole, i, watts);
        if (!has_joules || devices[i].mig)
            doc_add_never_known(whole, i);
        if (isnan(gpu_usage_max(&period->gpu_usage, i, GPU_USAGE_RAM)))
            doc_add_never_known(states->memories, i);
        if (isnan(gpu_usage_max(&period->gpu_usage, i, GPU_USAGE_UTILIZATION)))
            doc_add_never_known(states->rates, i);
    }
    doc_add_double(gpu, "nvidia_power", powers->gpu);
}

struct doc *recorded_period_line(const struct recorded_period *period,
    const struct period_powers *powers, struct recorded_states *states)
{
    if (states->metrics && period->snapshot->gpu.n_devices > 0 && !states->gpu)
        recorded_states_add_gpus(states);
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
