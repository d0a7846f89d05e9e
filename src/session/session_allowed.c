#include "session/session_allowed.h"

#include "machine/gpu/set.h"
#include "machine/gpu/visible.h"
#include "machine/os/cpu_count.h"
#include "machine/os/slurm.h"

#include <math.h>

void session_allowed_forget(struct session_settings *settings)
{
    settings->allowed =
        (struct gput_allowed){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    settings->static_data.allowed_ram_bytes = settings->static_data.allowed_cores = NAN;
}

void session_allowed_expect(struct session_settings *settings)
{
    struct gput_static_data *data = &settings->static_data;
    bool is_limited = !settings->options.whole_machine && !isnan(data->allowed_cores);
    data->n_expected_cores = settings->options.n_expected_cores ? settings->options.n_expected_cores
                             : is_limited ? (uint32_t)fmax(ceil(data->allowed_cores), 1)
                                          : data->system_core_count;
    session_settings_fill_gpus(settings, data);
}

void session_allowed_read_gpus(
    struct session_settings *settings, launcher_variable *variable, void *environment)
{
    struct gpu_visible visible;
    gpu_visible_read(variable, environment, &visible);
    bool is_limited = gpu_visible_is_limited(&visible) && !settings->options.gpu_uuids;
    gpu_set_show(settings->gpus, is_limited ? &visible : NULL);
    settings->allowed.gpus = is_limited && !gpu_set_is_opening(settings->gpus)
                                 ? (double)gpu_set_selected_count(settings->gpus)
                                 : NAN;
    if (settings->options.gpu_uuids)
        settings->allowed.named_gpus = (double)gpu_set_selected_count(settings->gpus);
    if (settings->options.whole_machine)
        gpu_set_show(settings->gpus, NULL);
}

void session_allowed_read(struct session_settings *settings, pid_t pid, const struct cgroup *cgroup,
    launcher_variable *variable, void *environment)
{
    struct gput_allowed *allowed = &settings->allowed;
    struct gput_static_data *data = &settings->static_data;
    session_allowed_forget(settings);
    struct cgroup_limits limits;
    struct slurm_allocation slurm;
    uint32_t affinity;
    cgroup_limits_read(cgroup, &limits);
    slurm_parse(variable, environment, &slurm);
    if (cpu_count_allowed(settings->options.procfs_root, settings->has_own_procfs, pid, &affinity,
            NULL) == GPUT_OK)
        allowed->affinity_cores = affinity;
    allowed->quota_cores = limits.cpu_cores;
    allowed->cpuset_cores = limits.cpuset_cores;
    allowed->memory_max_bytes = limits.memory_max_bytes;
    allowed->swap_max_bytes = limits.swap_max_bytes;
    allowed->pids_max = limits.pids_max;
    allowed->slurm_cores = slurm.cores;
    allowed->slurm_ram_bytes = slurm.ram_bytes;
    if (settings->limits.values[GPUT_LIMIT_RAM] > 0)
        allowed->limit_ram_bytes = settings->limits.values[GPUT_LIMIT_RAM];
    double cores = fmin(allowed->affinity_cores, allowed->quota_cores);
    cores = fmin(fmin(cores, allowed->cpuset_cores), allowed->slurm_cores);
    session_allowed_read_gpus(settings, variable, environment);
    double ram = fmin(allowed->memory_max_bytes, allowed->slurm_ram_bytes);
    ram = fmin(ram, allowed->limit_ram_bytes);
    if (cores < data->system_core_count)
        data->allowed_cores = cores;
    if (ram < data->ram_system_capacity_bytes)
        data->allowed_ram_bytes = ram;
}
