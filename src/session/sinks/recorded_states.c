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
    /* First: AIPowerMeter takes the recording to last as long as the first metric of all. */
    doc_add_known(cpu, "total_mem_use", snapshot->system->ram_used_bytes);
    /* The last line can come after the end of all: their memory is not 0 then, but not known. */
    if (process_tree_has_memory(tree))
        add_memory(tree, snapshot->system->ram_used_bytes, cpu);
}

void doc_add_of_gpu(struct doc *object, uint32_t gpu, double value)
{
    char index[16];
    snprintf(index, sizeof index, "%u", gpu);
    doc_add_known(object, index, value);
}

void doc_add_never_known(struct doc *object, uint32_t gpu)
{
    char index[16];
    snprintf(index, sizeof index, "%u", gpu);
    if (object && !doc_get(object, index))
        doc_add_nan(object, index);
}

/* The keys that AIPowerMeter's reader needs in every line. */
static void add_gpu_keys(struct recorded_states *states, double bytes, double rate)
{
    states->gpu = doc_add_object(states->metrics, "gpu");
    states->memories = doc_add_object(states->gpu, "per_gpu_nvidia_memory");
    states->rates = doc_add_object(states->gpu, "per_gpu_nvidia_use_rate");
    doc_add_double(states->gpu, "nvidia_memory", bytes);
    doc_add_double(states->gpu, "nvidia_use_rate", rate);
}

/* Memory in use on the cards, by whomever, as AIPowerMeter has it; what the tracked processes hold
 * of it under the name that its recordings of 2023 have. */
static void add_gpu_states(
    const struct snapshot *snapshot, const struct gpu_usage *usage, struct recorded_states *states)
{
    const struct gpu_sample *sample = &snapshot->gpu;
    double rates = gpu_usage_sum(usage, GPU_USAGE_UTILIZATION) / 100;
    uint32_t n_rates = 0;
    for (uint32_t i = 0; i < sample->n_devices; i++)
        n_rates += !isnan(sample->devices[i].utilization_percent);
    add_gpu_keys(states, gpu_usage_sum(usage, GPU_USAGE_RAM), rates / n_rates);
    struct doc *held = doc_add_object(states->gpu, "per_gpu_attributable_mem_use");
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        doc_add_of_gpu(states->memories, i, device->ram_used_bytes);
        doc_add_of_gpu(states->rates, i, device->utilization_percent / 100);
        doc_add_of_gpu(held, i, snapshot_gpu_bytes(snapshot, device->combined_ram_bytes));
    }
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
    if (snapshot->gpu.n_devices > 0)
        add_gpu_states(snapshot, usage, states);
}

void recorded_states_add_gpus(struct recorded_states *states)
{
    add_gpu_keys(states, NAN, NAN);
}
