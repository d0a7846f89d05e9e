#include "session/sampler/snapshot.h"

#include <math.h>

bool snapshot_lacks_gpu_figure(
    const struct snapshot *snapshot, size_t device, enum gpu_figure figure)
{
    const struct gpu_sample *sample = &snapshot->gpu;
    bool lacks_now = figure == GPU_PROCESS_RAM && device < sample->n_devices &&
                     sample->devices[device].lacks_ram;
    return lacks_now || gpu_set_past_missing(snapshot->gpus, device, figure);
}

bool snapshot_lacks_gpu_processes(const struct snapshot *snapshot)
{
    size_t count;
    gpu_set_devices(snapshot->gpus, &count);
    for (size_t i = 0; i < count; i++)
        if (snapshot_lacks_gpu_figure(snapshot, i, GPU_PROCESS_RAM))
            return true;
    return false;
}

double snapshot_gpu_bytes(const struct snapshot *snapshot, double bytes)
{
    return bytes == 0 && snapshot_lacks_gpu_processes(snapshot) ? NAN : bytes;
}
