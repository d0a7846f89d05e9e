/*
 * The sink that records power: lines for each measurement period, in the format of AIPowerMeter
 * (formats/power/energy_recording.h).
 */
#include "base/array.h"
#include "base/error.h"
#include "base/wall_clock.h"
#include "formats/power/energy_recording_writer.h"
#include "gpu/set.h"
#include "session/gpu_usage.h"
#include "session/recorded_states.h"
#include "session/sink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line may be this much early rather than a whole tick late. */
#define EARLY_NS (NS_PER_SECOND / 100)
/* Dates have microseconds. */
#define NEXT_MOMENT_NS 1000
/* The clock that counts on while the machine is suspended gains less than this otherwise. */
#define SUSPENDED_NS NS_PER_SECOND

/* A process as of the last line. */
struct recorded_process {
    pid_t pid;
    uint64_t start_time_ticks;
    int64_t cpu_ns;
};

/* Joules as of a moment; NaN: they were known before, but do not continue. */
struct recorded_joules {
    double figures[GPUT_ENERGY_FIGURE_COUNT];
    double gpus[GPU_MAX_DEVICES];
};

/* What the writer's thread writes to. */
struct power_output {
    struct energy_recording_writer *recording;
    bool warned;
};

/* An item for the writer: the two lines of a period. */
struct power_item {
    int64_t start_ns, end_ns;
    struct doc *start; /* owned */
    struct doc *end;   /* owned; NULL: as at the start */
    bool ends_segment;
};

struct power_sink {
    struct sink sink;
    const struct snapshot *snapshot; /* of the tick that is being recorded */
    struct gpu_usage gpu_usage;
    bool has_lines;
    int64_t due_ns; /* when the period ends */
    /* The period, and what was known at its start. */
    int64_t since_ns;      /* 0: none yet */
    int64_t since_time_ns; /* since the epoch, by the wall clock as the segment began */
    struct recorded_states start;
    double other_seconds; /* CPU time of processes that are not tracked */
    int64_t tree_cpu_ns;
    struct recorded_joules joules;
    double package_share, dram_share; /* joules of the tree, from the energy meter */
    struct recorded_states max;       /* of the sample with the most RAM in the period */
    uint64_t most_ram_bytes;
    struct recorded_process *processes; /* owned */
    size_t n_processes;
};

static int open_recording(struct sink *sink, struct gput_error *error)
{
    const struct gput_session_options *options = &sink->settings->options;
    struct power_output *output = calloc(1, sizeof *output);
    if (!output)
        return error_memory(error);
    int code = energy_recording_writer_create(sink->option, options->energy_driver,
        options->energy_continue, wall_clock_ns(), &output->recording, error);
    if (code == GPUT_OK)
        sink_writer_set_output(sink->writer, output);
    else
        free(output);
    return code;
}

static void warn_of_missing(struct power_sink *recording)
{
    const struct energy_meter *meter = recording->snapshot->energy;
    char faults[GPUT_REASON_SIZE];
    const char *end = meter->cpu.remedy[0] ? "; an administrator can run: " : ".";
    if (meter->cpu.uses_perf)
        return;
    energy_counters_explain(&meter->cpu, faults, sizeof faults);
    if (energy_counters_are_missing(&meter->cpu))
        session_warn(recording->sink.settings,
            "The recording goes on without the CPU's power%s: %s%s%s",
            gpu_set_is_empty(recording->snapshot->gpus)
                ? ", and no GPU was found (why: gpu-tracker doctor)"
                : "",
            meter->cpu.why_not, end, meter->cpu.remedy);
    else if (faults[0])
        session_warn(recording->sink.settings,
            "The recording goes on without some of the CPU's power: %s%s%s", faults, end,
            meter->cpu.remedy);
}

/* CPU time of a process without our own threads inside it. */
static int64_t cpu_ns_of(const struct power_sink *recording, const struct process *process)
{
    int64_t own_ns = process->is_main ? recording->snapshot->own_cpu_ns : 0;
    int64_t cpu_ns = process_cpu_ns(process);
    return cpu_ns > own_ns ? cpu_ns - own_ns : 0;
}

/* Of all processes, including ended ones: joules are shared out by it. */
static int64_t tree_cpu_ns(const struct power_sink *recording)
{
    return recording->snapshot->totals.main_ns + recording->snapshot->descendants_ns;
}

/* ---- the state at the start of a period ---- */

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

/* Whether the same figures are known as at the start of the period. */
static bool goes_on(const struct power_sink *recording)
{
    const struct recorded_joules *before = &recording->joules;
    struct recorded_joules now = joules_now(recording->snapshot->energy);
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

/* The date of the sample: by the monotonic clock from the start of the period on, so that dates
 * count the seconds that powers were divided by, also where the machine is suspended meanwhile. */
static int64_t sample_date_ns(const struct power_sink *recording)
{
    if (recording->since_ns == 0)
        return recording->snapshot->sample.time_ns;
    return recording->since_time_ns + (recording->snapshot->taken_ns - recording->since_ns);
}

/* Whether the machine was suspended in the period: what follows is dated anew. */
static bool was_suspended(const struct power_sink *recording)
{
    int64_t ahead_ns = recording->snapshot->sample.time_ns - sample_date_ns(recording);
    return llabs(ahead_ns) > SUSPENDED_NS;
}

static void remember(struct power_sink *recording)
{
    const struct process_tree *tree = recording->snapshot->tree;
    recording->since_time_ns =
        was_suspended(recording) ? recording->snapshot->sample.time_ns : sample_date_ns(recording);
    recording->since_ns = recording->snapshot->taken_ns;
    recorded_states_take(
        recording->snapshot, &recording->gpu_usage, recording->since_time_ns, &recording->start);
    recording->other_seconds = recording->snapshot->other_cpu_seconds;
    recording->tree_cpu_ns = tree_cpu_ns(recording);
    recording->joules = joules_now(recording->snapshot->energy);
    recording->package_share = recording->snapshot->energy->package_share;
    recording->dram_share = recording->snapshot->energy->dram_share;
    recording->n_processes = 0;
    if (!ARRAY_RESIZE(recording->processes, tree->count + 1))
        return;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        recording->processes[i] = (struct recorded_process){
            process->pid, process->polled->start_time_ticks, cpu_ns_of(recording, process)};
    }
    recording->n_processes = tree->count;
}

/* Joules and CPU time count from the start of the session on, which comes before the first sample.
 */
static void begin(struct power_sink *recording)
{
    remember(recording);
    recording->since_time_ns -= recording->since_ns - recording->sink.settings->start_ns;
    recording->since_ns = recording->sink.settings->start_ns;
    recording->start.date_ns = recording->since_time_ns;
    recording->other_seconds = 0;
    recording->tree_cpu_ns = 0;
    recording->n_processes = 0;
    memset(&recording->joules, 0, sizeof recording->joules);
}

static int64_t cpu_since(
    const struct power_sink *recording, const struct process *process, size_t guess)
{
    int64_t now_ns = cpu_ns_of(recording, process);
    for (size_t n = 0; n < recording->n_processes; n++) {
        /* Processes keep their order, so it is usually at the same place. */
        const struct recorded_process *before =
            &recording->processes[(guess + n) % recording->n_processes];
        if (before->pid == process->pid &&
            before->start_time_ticks == process->polled->start_time_ticks)
            return now_ns - before->cpu_ns;
    }
    return now_ns;
}

/* ---- figures of a period ---- */

/* A period, and its powers in watts. */
struct period {
    double seconds;
    double other_seconds; /* CPU time of processes that are not tracked */
    double package, core, uncore, dram, psys, gpu;
    double tree_package, tree_dram; /* of those the tracked processes' */
};

/* Mean power by how joules of the tree have grown, where those that they are part of are known. */
static double tree_watts(double now, double before, double seconds, double whole)
{
    return isnan(whole) ? NAN : (now - (isnan(before) ? 0 : before)) / seconds;
}

/* What was counted in it, also of what is lost at its end; nothing of what was at its start. */
static struct period measure(const struct power_sink *recording)
{
    const struct energy_meter *meter = recording->snapshot->energy;
    double seconds = clock_seconds_of_ns(recording->snapshot->taken_ns - recording->since_ns);
    double watts[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&meter->energy, watts);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        watts[i] = (watts[i] - recording->joules.figures[i]) / seconds;
    double package = watts[GPUT_ENERGY_PACKAGE], dram = watts[GPUT_ENERGY_DRAM];
    return (struct period){.seconds = seconds,
        .other_seconds = recording->snapshot->other_cpu_seconds - recording->other_seconds,
        .package = package,
        .core = watts[GPUT_ENERGY_CORE],
        .uncore = watts[GPUT_ENERGY_UNCORE],
        .dram = dram,
        .psys = watts[GPUT_ENERGY_PSYS],
        .gpu = watts[GPUT_ENERGY_GPU],
        .tree_package =
            tree_watts(meter->package_share, recording->package_share, seconds, package),
        .tree_dram = tree_watts(meter->dram_share, recording->dram_share, seconds, dram)};
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

static double cpu_seconds_since(const struct power_sink *recording, size_t i)
{
    int64_t ns = cpu_since(recording, recording->snapshot->tree->processes[i], i);
    return ns > 0 ? clock_seconds_of_ns(ns) : 0;
}

static struct parts sum_parts(const struct power_sink *recording, const struct period *period)
{
    const struct process_tree *tree = recording->snapshot->tree;
    struct parts parts = {0};
    double living_seconds = 0;
    for (size_t i = 0; i < tree->count; i++) {
        living_seconds += cpu_seconds_since(recording, i);
        parts.tree_bytes += process_pss_bytes(tree->processes[i]);
    }
    int64_t tree_ns = tree_cpu_ns(recording) - recording->tree_cpu_ns;
    parts.tree_seconds = fmax(clock_seconds_of_ns(tree_ns), living_seconds);
    parts.ended_seconds = parts.tree_seconds - living_seconds;
    parts.machine_seconds = parts.tree_seconds + period->other_seconds;
    return parts;
}

/* A part of a whole; where nothing separates the parts, all of it is main's. */
static double part_of(double part, double whole, bool is_main)
{
    return whole > 0 ? part / whole : is_main;
}

/* Where the shares and powers of each process go; NULL: not known. */
struct process_powers {
    const struct period *period;
    const struct parts *parts;
    struct doc *shares, *cpus, *packages, *cores, *drams;
};

static void add_powers_of(
    const struct process_powers *to, pid_t pid, bool is_main, double seconds, double bytes)
{
    const struct period *period = to->period;
    const struct parts *parts = to->parts;
    double share = part_of(seconds, parts->machine_seconds, false);
    double package = period->tree_package * part_of(seconds, parts->tree_seconds, is_main);
    double dram = period->tree_dram * part_of(bytes, parts->tree_bytes, is_main);
    char key[16];
    snprintf(key, sizeof key, "%d", (int)pid);
    doc_add_double(to->shares, key, share);
    doc_add_double(to->cpus, key, seconds / period->seconds);
    doc_add_known(to->packages, key, package);
    doc_add_known(to->cores, key, period->core * share);
    doc_add_known(to->drams, key, dram);
}

/* Shares and powers of each process over the period. The powers add up to what the session's report
 * gives all of them. */
static void add_process_powers(
    const struct power_sink *recording, const struct period *period, struct doc *cpu)
{
    const struct process_tree *tree = recording->snapshot->tree;
    struct parts parts = sum_parts(recording, period);
    struct process_powers to = {.period = period,
        .parts = &parts,
        .shares = doc_add_object(cpu, "per_process_cpu_uses"),
        /* For each second of the period, so that the integral, which readers show, is CPU time. */
        .cpus = doc_add_object(cpu, "absolute_cpu_time_per_pid"),
        .packages = add_parts(cpu, "rel_intel_power", period->tree_package),
        .cores = add_parts(cpu, "per_process_cpu_power", period->core),
        .drams = add_parts(cpu, "per_process_dram_power", period->tree_dram)};
    /* What has ended counts with main, also after main was collected and has left the tree. */
    if (!process_tree_main(tree))
        add_powers_of(&to, tree->options.main, true, parts.ended_seconds, 0);
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        bool is_main = process->is_main;
        double seconds = cpu_seconds_since(recording, i) + (is_main ? parts.ended_seconds : 0);
        add_powers_of(&to, process->pid, is_main, seconds, process_pss_bytes(process));
    }
}

static void add_cpu_powers(
    const struct power_sink *recording, const struct period *period, struct doc *cpu)
{
    doc_add_known(cpu, "intel_power", period->package);
    doc_add_known(cpu, "psys_power", period->psys);
    doc_add_known(cpu, "uncore_power", period->uncore);
    doc_add_known(cpu, "total_cpu_power", period->core);
    doc_add_known(cpu, "total_dram_power", period->dram);
    add_process_powers(recording, period, cpu);
}

/* The same of few GPUs. Without any there is no object of them. */
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
static double gpu_watts(const struct power_sink *recording, size_t i, double seconds)
{
    const struct energy_meter *meter = recording->snapshot->energy;
    if (isnan(meter->gpus[i].joules))
        return recording->snapshot->gpu.devices[i].power_watts;
    return (meter->gpus[i].joules - recording->joules.gpus[i]) / seconds;
}

/* All keys in every line, as of the states. */
static void add_gpu_powers(
    const struct power_sink *recording, const struct period *period, struct doc *gpu)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(recording->snapshot->gpus, &count);
    struct doc *powers = doc_add_object(gpu, "per_gpu_nvidia_power");
    struct doc *in_package = NULL, *cards = NULL;
    for (uint32_t i = 0; i < recording->snapshot->gpu.n_devices; i++) {
        double watts = gpu_watts(recording, i, period->seconds);
        bool has_joules = !isnan(recording->snapshot->energy->gpus[i].joules);
        if (devices[i].in_package && !has_joules)
            add_of_few(gpu, "in_package_gpu_power", &in_package, i, watts);
        else if (devices[i].mig)
            add_of_few(gpu, "mig_card_power", &cards, i, watts);
        else
            doc_add_of_gpu(powers, i, watts);
    }
    doc_add_double(gpu, "nvidia_power", period->gpu);
}

/* ---- its lines ---- */

/* The states with the powers of the period, as a document of the caller's. NULL without memory. */
static struct doc *line_of(
    const struct power_sink *recording, const struct period *period, struct recorded_states *states)
{
    if (states->metrics && recording->snapshot->gpu.n_devices > 0 && !states->gpu)
        recorded_states_add_gpus(states);
    if (states->metrics)
        add_cpu_powers(recording, period, states->cpu);
    if (states->gpu)
        add_gpu_powers(recording, period, states->gpu);
    struct doc *metrics = states->metrics;
    *states = (struct recorded_states){0};
    return metrics;
}

/* In case all have ended at the end of the period: those with the most RAM of it. */
static void keep_states(struct power_sink *recording)
{
    uint64_t ram_bytes = recording->snapshot->ram->figures.combined.total;
    if (ram_bytes == 0 || (recording->max.metrics && ram_bytes <= recording->most_ram_bytes))
        return;
    recording->most_ram_bytes = ram_bytes;
    recorded_states_take(
        recording->snapshot, &recording->gpu_usage, sample_date_ns(recording), &recording->max);
}

/* When all have ended by the end of the period, it has the states of the sample with the most RAM
 * or, where none was taken, those of its start: their memory is not 0 then, but not known. */
static struct doc *end_line(struct power_sink *recording, const struct period *period)
{
    if (process_tree_has_memory(recording->snapshot->tree))
        recorded_states_take(recording->snapshot, &recording->gpu_usage, 0, &recording->max);
    return recording->max.metrics ? line_of(recording, period, &recording->max) : NULL;
}

/*
 * Two lines, so that an integral by trapezoids is what was counted: powers, which are means over
 * the period, at its beginning and at its end, each with the states of that moment. No two lines
 * are of the same moment. No line may be drawn across a time without figures, nor across a change
 * of the clock: the segment ends.
 */
static void put_period(struct power_sink *recording)
{
    struct period period = measure(recording);
    struct power_item item = {
        .start_ns = recording->start.date_ns + (recording->has_lines ? NEXT_MOMENT_NS : 0),
        .end_ns = sample_date_ns(recording),
        .ends_segment = !goes_on(recording) || was_suspended(recording)};
    item.start = line_of(recording, &period, &recording->start);
    item.end = end_line(recording, &period);
    recording->has_lines = true;
    if (sink_put(&recording->sink, &item))
        return;
    doc_destroy(item.start);
    doc_destroy(item.end);
}

static bool is_due(const struct power_sink *recording)
{
    int64_t now_ns = recording->snapshot->taken_ns;
    /* Only where the machine's CPU time and the joules were just read. */
    bool in_step = recording->snapshot->system->since_ns == now_ns && now_ns > recording->since_ns;
    return in_step && (recording->snapshot->is_last || now_ns >= recording->due_ns - EARLY_NS ||
                          !goes_on(recording));
}

/* Periods are counted from the start of the session, whose ticks are. */
static void set_next_due(struct power_sink *recording)
{
    int64_t period_ns =
        (int64_t)(recording->sink.settings->options.energy_period_seconds * (double)NS_PER_SECOND);
    int64_t late_ns = recording->snapshot->taken_ns - (recording->due_ns - EARLY_NS);
    if (late_ns >= 0 && period_ns > 0)
        recording->due_ns += (late_ns / period_ns + 1) * period_ns;
}

static void record(struct sink *sink, const struct snapshot *snapshot)
{
    struct power_sink *recording = (struct power_sink *)sink;
    recording->snapshot = snapshot;
    gpu_usage_add(&recording->gpu_usage, &snapshot->gpu, 0);
    if (recording->since_ns == 0) {
        warn_of_missing(recording);
        begin(recording);
        /* The first period is short: of a program that soon ends, too, memory is seen. */
        recording->due_ns = recording->snapshot->taken_ns;
    } else if (is_due(recording)) {
        put_period(recording);
        remember(recording);
        recorded_states_finish(&recording->max);
        set_next_due(recording);
    } else {
        keep_states(recording);
    }
}

static void close_recording(struct sink *sink)
{
    struct power_sink *recording = (struct power_sink *)sink;
    recorded_states_finish(&recording->start);
    recorded_states_finish(&recording->max);
    gpu_usage_finish(&recording->gpu_usage);
    free(recording->processes);
}

/* ---- the writer's thread ---- */

static int write_line(struct power_output *output, int64_t date_ns, const struct doc *metrics,
    struct gput_error *error)
{
    if (!metrics || doc_failed(metrics))
        return error_memory(error);
    return energy_recording_writer_add(output->recording, date_ns, metrics, error);
}

static int write_period(
    struct power_output *output, const struct power_item *item, struct gput_error *error)
{
    TRY(write_line(output, item->start_ns, item->start, error));
    TRY(write_line(output, item->end_ns, item->end ? item->end : item->start, error));
    return item->ends_segment ? energy_recording_writer_end_segment(output->recording, error)
                              : GPUT_OK;
}

static void write_item(struct sink_writer *writer, void *user, void *bytes)
{
    struct power_output *output = user;
    struct power_item *item = bytes;
    struct gput_error error;
    bool has_failed = write_period(output, item, &error) != GPUT_OK;
    if (has_failed && !output->warned)
        sink_writer_warn(
            writer, "%s. Lines of the recording are being lost; tracking goes on.", error.message);
    output->warned |= has_failed;
    doc_destroy(item->start);
    doc_destroy(item->end);
}

static void end_recording(struct sink_writer *writer, void *user, const struct sink_end *end)
{
    struct power_output *output = user;
    struct gput_error error;
    (void)end;
    if (energy_recording_writer_finish(output->recording, &error) != GPUT_OK)
        sink_writer_warn(writer, "%s", error.message);
    free(output);
}

static const struct sink_writer_job job = {
    .item_size = sizeof(struct power_item),
    .max_items = 256,
    .patience_seconds = SINK_PATIENCE_SECONDS,
    .write = write_item,
    .end = end_recording,
};

const struct sink_class sink_power = {
    .name = "recording of power",
    .size = sizeof(struct power_sink),
    .option = offsetof(struct gput_session_options, energy_folder),
    .job = &job,
    .open = open_recording,
    .sample = record,
    .close = close_recording,
};
