#include "live/fake_snapshot.h"

#include <math.h>
#include <string.h>

size_t gput_snapshot_process_count(const struct gput_snapshot *snapshot)
{
    return snapshot->n_processes;
}

const struct gput_snapshot_process *gput_snapshot_process(
    const struct gput_snapshot *snapshot, size_t index)
{
    return index < snapshot->n_processes ? &snapshot->processes[index] : NULL;
}

size_t gput_snapshot_gpu_count(const struct gput_snapshot *snapshot)
{
    return snapshot->n_gpus;
}

const struct gput_snapshot_gpu *gput_snapshot_gpu(
    const struct gput_snapshot *snapshot, size_t index)
{
    return index < snapshot->n_gpus ? &snapshot->gpus[index] : NULL;
}

const struct gput_sample *gput_snapshot_sample(const struct gput_snapshot *snapshot)
{
    return &snapshot->sample;
}

double gput_snapshot_elapsed_seconds(const struct gput_snapshot *snapshot)
{
    return snapshot->elapsed_seconds;
}

double gput_snapshot_watts(const struct gput_snapshot *snapshot, enum gput_energy_figure figure)
{
    return figure == GPUT_ENERGY_TOTAL ? snapshot->machine_watts : snapshot->watts;
}

double gput_results_max(const struct gput_results *results, enum gput_measurement_id measurement)
{
    (void)measurement;
    return results->max;
}

double gput_results_number(const struct gput_results *results, const char *column)
{
    if (strstr(column, "ram_system") == column + strlen("static_data."))
        return results->ram;
    return strstr(column, "core_count") ? results->cores : NAN;
}

double gput_results_energy(const struct gput_results *results, enum gput_energy_figure figure)
{
    (void)figure;
    return results->joules;
}

const struct gput_snapshot_gpu_user *gput_snapshot_gpu_user(
    const struct gput_snapshot *snapshot, size_t gpu, size_t index)
{
    bool is_there = snapshot->users && index < 2 && snapshot->users[gpu][index].pid != 0;
    return is_there ? &snapshot->users[gpu][index] : NULL;
}
