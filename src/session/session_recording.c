#include "session/session_recording.h"

#include "base/clock.h"
#include "session/session_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A line comes this much early rather than a whole tick late. */
#define EARLY_NS (NS_PER_SECOND / 100)

int session_open_recording(struct gput_session *session, struct gput_error *error)
{
    const struct gput_options *options = &session->options;
    if (!options->energy_folder)
        return GPUT_OK;
    return energy_recording_writer_create(options->energy_folder, options->energy_driver,
        options->energy_continue, clock_realtime_ns(), &session->recording.writer, error);
}

static void warn_of_missing(struct gput_session *session)
{
    const struct energy_meter *meter = &session->sampler.energy;
    if (meter->why_not[0] && !meter->uses_perf)
        session_warn(session, "The recording goes on without the CPU's power: %s%s%s",
            meter->why_not, meter->remedy[0] ? "; an administrator can run: " : ".", meter->remedy);
}

/* CPU time of a process that is work: our own threads inside it are none. */
static int64_t cpu_ns_of(const struct gput_session *session, const struct process *process)
{
    int64_t own_ns = process->is_main ? session->sampler.own_cpu_ns : 0;
    int64_t cpu_ns = process_cpu_ns(process);
    return cpu_ns > own_ns ? cpu_ns - own_ns : 0;
}

/* ---- the state at the start of a period ---- */

static void remember(struct gput_session *session)
{
    struct session_recording *recording = &session->recording;
    const struct process_tree *tree = &session->sampler.tree;
    recording->since_ns = session->sampler.sampled_ns;
    recording->busy_seconds = system_meter_busy_seconds(&session->system);
    recording->energy = session->sampler.energy.energy;
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        recording->gpu_joules[i] = session->sampler.energy.gpus[i].joules;
    recording->n_processes = 0;
    struct recorded_process *processes =
        realloc(recording->processes, (tree->count + 1) * sizeof *processes);
    if (!processes)
        return;
    recording->processes = processes;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        processes[i] = (struct recorded_process){
            process->pid, process->start_time_ticks, cpu_ns_of(session, process)};
    }
    recording->n_processes = tree->count;
}

/* CPU time of a process in the period. */
static int64_t cpu_since(
    const struct gput_session *session, const struct process *process, size_t guess)
{
    const struct session_recording *recording = &session->recording;
    int64_t now_ns = cpu_ns_of(session, process);
    for (size_t n = 0; n < recording->n_processes; n++) {
        /* Processes keep their order, so it is usually at the same place. */
        const struct recorded_process *before =
            &recording->processes[(guess + n) % recording->n_processes];
        if (before->pid == process->pid && before->start_time_ticks == process->start_time_ticks)
            return now_ns - before->cpu_ns;
    }
    return now_ns;
}

/* ---- a line ---- */

/* A period, and its powers in watts. */
struct period {
    double seconds;
    double busy_seconds;
    double ram_bytes; /* in use */
    double package, core, uncore, dram, psys;
};

/* NaN where the domain is not known. A domain is first known at the end of its first interval. */
static double watts(double now, double before, double seconds)
{
    return (now - (isnan(before) ? 0 : before)) / seconds;
}

static struct period measure(const struct gput_session *session)
{
    const struct session_recording *recording = &session->recording;
    const struct gput_energy *now = &session->sampler.energy.energy, *before = &recording->energy;
    double seconds =
        (double)(session->sampler.sampled_ns - recording->since_ns) / (double)NS_PER_SECOND;
    return (struct period){.seconds = seconds,
        .busy_seconds = system_meter_busy_seconds(&session->system) - recording->busy_seconds,
        .ram_bytes = session->system.ram_used_bytes,
        .package = watts(now->machine.package, before->machine.package, seconds),
        .core = watts(now->machine.core, before->machine.core, seconds),
        .uncore = watts(now->machine.uncore, before->machine.uncore, seconds),
        .dram = watts(now->machine.dram, before->machine.dram, seconds),
        .psys = watts(now->machine.psys, before->machine.psys, seconds)};
}

static void add_known(struct doc *object, const char *key, double value)
{
    if (!isnan(value))
        doc_add_double(object, key, value);
}

/* The objects of numbers by pid. */
struct by_pid {
    struct doc *pss, *uss, *ram_share, *cpu_share, *cpu_time, *package, *core, *dram;
};

/* Anonymous memory by its share; of files, which the tree's other readings count once, all. */
static double pss_bytes(const struct memory *memory, const struct rss *rss)
{
    uint64_t anonymous = memory_anonymous_bytes(memory);
    if (!memory->has_exact || anonymous > rss->total)
        return (double)rss->total;
    return (double)(rss->total - anonymous + memory_anonymous_share_bytes(memory));
}

static void add_process(const struct by_pid *by_pid, const struct process *process, int64_t cpu_ns,
    double cpu_share, const struct period *period)
{
    char pid[16];
    struct rss rss = memory_rss(&process->memory);
    double pss = pss_bytes(&process->memory, &rss);
    double ram_share = period->ram_bytes > 0 ? fmin(1, pss / period->ram_bytes) : NAN;
    snprintf(pid, sizeof pid, "%d", (int)process->pid);
    doc_add_int(by_pid->pss, pid, (int64_t)pss);
    doc_add_int(by_pid->uss, pid, (int64_t)rss.private);
    add_known(by_pid->ram_share, pid, ram_share);
    doc_add_double(by_pid->cpu_share, pid, cpu_share);
    doc_add_double(by_pid->cpu_time, pid, (double)cpu_ns / (double)NS_PER_SECOND);
    add_known(by_pid->package, pid, period->package * cpu_share);
    add_known(by_pid->core, pid, period->core * cpu_share);
    add_known(by_pid->dram, pid, period->dram * ram_share);
}

/* Shares are of the same period as the power, and never sum to more than 1: the machine's time
 * comes in ticks and cannot have been less than that of the tree. */
static void add_processes(
    const struct gput_session *session, const struct period *period, struct doc *cpu)
{
    const struct process_tree *tree = &session->sampler.tree;
    struct by_pid by_pid = {.pss = doc_add_object(cpu, "per_process_mem_use_abs"),
        .uss = doc_add_object(cpu, "per_process_mem_use_uss"),
        .ram_share = doc_add_object(cpu, "per_process_mem_use_percent"),
        .cpu_share = doc_add_object(cpu, "per_process_cpu_uses"),
        .cpu_time = doc_add_object(cpu, "absolute_cpu_time_per_pid")};
    if (!isnan(period->package))
        by_pid.package = doc_add_object(cpu, "rel_intel_power");
    if (!isnan(period->core))
        by_pid.core = doc_add_object(cpu, "per_process_cpu_power");
    if (!isnan(period->dram))
        by_pid.dram = doc_add_object(cpu, "per_process_dram_power");
    double used = 0;
    for (size_t i = 0; i < tree->count; i++)
        used += (double)cpu_since(session, tree->processes[i], i);
    double whole = fmax(period->busy_seconds, used / (double)NS_PER_SECOND);
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        double seconds = (double)cpu_since(session, process, i) / (double)NS_PER_SECOND;
        add_process(&by_pid, process, cpu_ns_of(session, process),
            whole > 0 ? fmax(0, seconds) / whole : 0, period);
    }
}

/* Mean power of a GPU in the period. One whose joules are part of another's figure (a MIG instance,
 * a GPU in the CPU's package) has what it draws now. */
static double gpu_watts(const struct gput_session *session, size_t i, double seconds)
{
    double mean =
        watts(session->sampler.energy.gpus[i].joules, session->recording.gpu_joules[i], seconds);
    return isnan(mean) ? session->sampler.gpu.devices[i].power_watts : mean;
}

static void add_gpus(const struct gput_session *session, double seconds, struct doc *gpu)
{
    const struct gpu_sample *sample = &session->sampler.gpu;
    struct doc *powers = doc_add_object(gpu, "per_gpu_power");
    struct doc *memories = doc_add_object(gpu, "per_gpu_memory");
    struct doc *rates = doc_add_object(gpu, "per_gpu_use_rate");
    double power = NAN, memory = NAN, rate = NAN;
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        char index[16];
        snprintf(index, sizeof index, "%u", i);
        double use = device->utilization_percent / 100;
        double mean_watts = gpu_watts(session, i, seconds);
        add_known(powers, index, mean_watts);
        add_known(memories, index, device->combined_ram_bytes);
        add_known(rates, index, use);
        power = isnan(mean_watts) ? power : fmax(power, 0) + mean_watts;
        memory = isnan(device->combined_ram_bytes) ? memory
                                                   : fmax(memory, 0) + device->combined_ram_bytes;
        rate = isnan(use) ? rate : fmax(rate, 0) + use;
    }
    add_known(gpu, "nvidia_power", power);
    add_known(gpu, "nvidia_memory", memory);
    add_known(gpu, "nvidia_use_rate", rate);
}

static int write_line(struct gput_session *session, struct gput_error *error)
{
    struct period period = measure(session);
    struct doc *metrics = doc_create_object();
    struct doc *cpu = doc_add_object(metrics, "cpu");
    add_processes(session, &period, cpu);
    add_known(cpu, "total_mem_use", period.ram_bytes);
    add_known(cpu, "intel_power", period.package);
    add_known(cpu, "psys_power", period.psys);
    add_known(cpu, "uncore_power", period.uncore);
    add_known(cpu, "total_cpu_power", period.core);
    add_known(cpu, "total_dram_power", period.dram);
    if (session->sampler.gpu.n_devices > 0)
        add_gpus(session, period.seconds, doc_add_object(metrics, "gpu"));
    int code = !metrics || doc_failed(metrics)
                   ? error_memory(error)
                   : energy_recording_writer_add(session->recording.writer,
                         session->sampler.sample.time_ns, metrics, error);
    doc_destroy(metrics);
    return code;
}

/* The first line comes with the first interval that has a power: an integral needs two points. */
static bool is_due(const struct gput_session *session, bool last)
{
    const struct session_recording *recording = &session->recording;
    int64_t now_ns = session->sampler.sampled_ns, passed_ns = now_ns - recording->since_ns;
    int64_t period_ns =
        (int64_t)(session->options.energy_period_seconds * (double)NS_PER_SECOND) - EARLY_NS;
    /* Only where the machine's CPU time and the joules were just read. */
    bool in_step = session->system.since_ns == now_ns;
    return in_step && passed_ns > 0 && (last || !recording->has_lines || passed_ns >= period_ns);
}

void session_record(struct gput_session *session, bool last)
{
    struct session_recording *recording = &session->recording;
    struct gput_error error;
    if (!recording->writer)
        return;
    if (recording->since_ns == 0) {
        warn_of_missing(session);
        remember(session);
    } else if (is_due(session, last)) {
        if (write_line(session, &error) == GPUT_OK) {
            recording->has_lines = true;
        } else if (!recording->warned) {
            recording->warned = true;
            session_warn(session, "%s. Lines of the recording are being lost; tracking goes on.",
                error.message);
        }
        remember(session);
    }
}

void session_close_recording(struct gput_session *session)
{
    struct gput_error error;
    if (energy_recording_writer_finish(session->recording.writer, &error) != GPUT_OK)
        session_warn(session, "%s", error.message);
    session->recording.writer = NULL;
    free(session->recording.processes);
    session->recording.processes = NULL;
    session->recording.n_processes = 0;
}
