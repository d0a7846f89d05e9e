#include "session/sampler/gpu_sampler.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

/* How long a sample waits for the figures of devices. */
#define MAX_WAIT_NS (NS_PER_SECOND / 20)
#define LAST_WAIT_NS (NS_PER_SECOND / 10)
/* Shorter intervals: figures of the tick before are fresh enough. */
#define MIN_AWAITED_NS (NS_PER_SECOND / 100)
/* How long it waits for lists of processes at both ends of a session. */
#define LIST_WAIT_NS (NS_PER_SECOND / 4)

void gpu_sampler_finish(struct gpu_sampler *sampler)
{
    pid_vector_finish(&sampler->descendants);
}

/* The first sample uses an earlier reading: joules count from it. */
static bool is_first(const struct gpu_sampler *sampler)
{
    return sampler->snapshot->taken_ns == 0;
}

void gpu_sampler_request(struct gpu_sampler *sampler)
{
    if (sampler->gpus && !is_first(sampler))
        gpu_set_refresh(sampler->gpus);
}

/* ---- whose figures are wanted ---- */

static void list_descendants(struct gpu_sampler *sampler, const struct process_tree *tree)
{
    struct pid_vector *descendants = &sampler->descendants;
    if (sampler->descendants_generation == tree->generation)
        return;
    descendants->count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        if (!tree->processes[i]->is_main)
            pid_vector_append(descendants, tree->processes[i]->pid);
    }
    if (descendants->count > 1)
        qsort(descendants->pids, descendants->count, sizeof(pid_t), pid_compare);
    sampler->descendants_generation = tree->generation;
}

static struct gpu_tree tree_of(struct gpu_sampler *sampler)
{
    const struct process_tree *listed = sampler->snapshot->listed;
    list_descendants(sampler, listed);
    const struct process *main = process_tree_main(sampler->snapshot->tree);
    return (struct gpu_tree){.main = main ? main->pid : 0,
        .descendants = sampler->descendants.pids,
        .n_descendants = sampler->descendants.count,
        .generation = listed->generation};
}

/* ---- requesting and awaiting ---- */

/* Figures, and with them joules, are of the sample's own moment where the drivers have answered by
 * the end of it. Else power is extrapolated, so that ticks do not wait for long; what the last
 * sample misses stays missing. */
static void await_figures(struct gpu_sampler *sampler, bool is_last, bool is_energy_due)
{
    bool is_row_awaited = sampler->interval_ns >= MIN_AWAITED_NS && !is_first(sampler);
    if (!is_last && !is_row_awaited && !is_energy_due)
        return;
    int64_t quarter_ns = sampler->interval_ns / 4;
    int64_t wait_ns = quarter_ns < MAX_WAIT_NS ? quarter_ns : MAX_WAIT_NS;
    gpu_set_await(sampler->gpus, is_last ? LAST_WAIT_NS : wait_ns);
}

/* ---- taking ---- */

static void put_ram(struct gpu_sampler *sampler)
{
    const struct gpu_sample *gpu = &sampler->snapshot->gpu;
    double *values = sampler->snapshot->sample.values;
    if (sampler->has_process) {
        values[GPUT_MAIN_GPU_RAM] = gpu->main_ram_bytes;
        values[GPUT_DESCENDANTS_GPU_RAM] = gpu->descendants_ram_bytes;
        values[GPUT_COMBINED_GPU_RAM] = gpu->combined_ram_bytes;
    }
    values[GPUT_SYSTEM_GPU_RAM] =
        sampler->snapshot->system->is_skipped ? NAN : gpu->system_ram_bytes;
}

void gpu_sampler_take(
    struct gpu_sampler *sampler, bool is_last, bool awaits_lists, bool is_energy_due)
{
    if (!sampler->gpus)
        return;
    struct gpu_tree tree = tree_of(sampler);
    /* At both ends a list is read, however short the session is. */
    bool needs_list = sampler->has_process && (is_first(sampler) || is_last);
    bool awaits_list = needs_list && (is_last || awaits_lists);
    if (awaits_list) {
        gpu_set_request_lists(sampler->gpus, &tree, is_last);
        gpu_set_await_lists(sampler->gpus, LIST_WAIT_NS);
    }
    await_figures(sampler, is_last, is_energy_due);
    struct gpu_sample *gpu = &sampler->snapshot->gpu;
    gpu_set_sample(sampler->gpus, &tree, gpu);
    if (needs_list && !awaits_list) /* its reading is later than that of the first sample */
        gpu_set_request_lists(sampler->gpus, &tree, is_last);
    put_ram(sampler);
    double *values = sampler->snapshot->sample.values;
    values[GPUT_GPU_SUM_UTILIZATION] = gpu->utilization_sum_percent;
    values[GPUT_GPU_HARDWARE_UTILIZATION] = gpu->utilization_hardware_percent;
}
