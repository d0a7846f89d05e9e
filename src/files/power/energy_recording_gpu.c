#include "files/power/energy_recording.h"

#include <math.h>
#include <string.h>

const char *energy_recording_gpu_name(const char *name)
{
    static const char *const names[][2] = {
        {"per_gpu_attributable_mem_use", "nvidia_mem_use"},
        {"per_gpu_absolute_percent_usage", "nvidia_sm_use"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    }
    return name;
}

/* per_gpu_attributable_power also has "all", the sum of the GPUs, which must not be added to them.
 */
int energy_recording_add_gpu(struct recorded_series *series, const char *name, const char *gpu,
    double value, struct gput_error *error)
{
    bool is_sum = gpu && strcmp(gpu, "all") == 0;
    if (isnan(value))
        return GPUT_OK;
    if (is_sum && strcmp(name, "per_gpu_attributable_power") == 0)
        name = "nvidia_attributable_power";
    else if (is_sum)
        return GPUT_OK;
    return recorded_series_set(
        series, "gpu", energy_recording_gpu_name(name), is_sum ? NULL : gpu, value, error);
}
