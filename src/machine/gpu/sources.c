#include "machine/gpu/source.h"

const struct gpu_source *const gpu_sources[GPU_SOURCE_COUNT] = {
    &gpu_source_nvml,
    &gpu_source_amdgpu,
    &gpu_source_drm,
};
