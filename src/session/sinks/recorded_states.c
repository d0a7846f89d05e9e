#include "session/sinks/recorded_states.h"

#include <math.h>
#include <stdio.h>

void doc_add_known(struct doc *object, const char *key, double value)
{
    if (!isnan(value))
        doc_add_double(object, key, value);
}

double process_pss_bytes(const struct process *process)
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

/* Memory of processes that have not ended. */
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
        double bytes = process_pss_bytes(process);
        snprintf(pid, sizeof pid, "%d", (int)process->pid);
        doc_add_int(pss, pid, (int64_t)bytes);
        doc_add_int(uss, pid, (int64_t)memory_rss(&process->polled->memory).private);
        doc_add_known(shares, pid, used_bytes > 0 ? fmin(1, bytes / used_bytes) : NAN);
    }
}

bool process_tree_has_memory(const struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (process_has_memory(tree->processes[i]))
            return true;
    }
    return false;
}

static void add_cpu_states(const struct snapshot *snapshot, struct doc *cpu)
{
    const struct process_tree *tree = snapshot->tree;
    /* The last line can come after the end of all: their memory is not 0 then, but not known. */
    if (process_tree_has_memory(tree))
        add_memory(tree, snapshot->system->ram_used_bytes, cpu);
    doc_add_known(cpu, "total_mem_use", snapshot->system->ram_used_bytes);
}

void doc_add_of_gpu(struct doc *object, uint32_t gpu, double value)
{
    char index[16];
    snprintf(index, sizeof index, "%u", gpu);
    doc_add_known(object, index, value);
}

/* AIPowerMeter's reader needs its keys in every line: what is not known is null, or has no GPU. */
static void add_gpu_states(
    const struct snapshot *snapshot, const struct gpu_usage *usage, struct doc *gpu)
{
    const struct gpu_sample *sample = &snapshot->gpu;
    struct doc *memories = doc_add_object(gpu, "per_gpu_nvidia_memory");
    struct doc *rates = doc_add_object(gpu, "per_gpu_nvidia_use_rate");
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        double bytes = snapshot_gpu_bytes(snapshot, device->combined_ram_bytes);
        doc_add_of_gpu(memories, i, bytes);
        doc_add_of_gpu(rates, i, device->utilization_percent / 100);
    }
    double held = gpu_usage_sum(usage, GPU_USAGE_COMBINED_RAM);
    double rate = gpu_usage_sum(usage, GPU_USAGE_UTILIZATION) / 100;
    doc_add_double(gpu, "nvidia_memory", snapshot_gpu_bytes(snapshot, held));
    doc_add_double(gpu, "nvidia_use_rate", rate);
}

void recorded_states_finish(struct recorded_states *states)
{
    doc_destroy(states->metrics);
    *states = (struct recorded_states){0};
}

void recorded_states_take(const struct snapshot *snapshot, const struct gpu_usage *usage,
    int64_t date_ns, struct recorded_states *states)
{
    recorded_states_finish(states);
    states->metrics = doc_create_object();
    states->cpu = doc_add_object(states->metrics, "cpu");
    states->date_ns = date_ns;
    add_cpu_states(snapshot, states->cpu);
    if (snapshot->gpu.n_devices > 0) {
        states->gpu = doc_add_object(states->metrics, "gpu");
        add_gpu_states(snapshot, usage, states->gpu);
    }
}

void recorded_states_add_gpus(struct recorded_states *states)
{
    states->gpu = doc_add_object(states->metrics, "gpu");
    doc_add_object(states->gpu, "per_gpu_nvidia_memory");
    doc_add_object(states->gpu, "per_gpu_nvidia_use_rate");
    doc_add_double(states->gpu, "nvidia_memory", NAN);
    doc_add_double(states->gpu, "nvidia_use_rate", NAN);
}
