#include "analysis/training/pytorch/kineto_categories.h"

#define ROW(spelling, name, kind)                                                                  \
    {                                                                                              \
        spelling, sizeof(spelling) - 1, name, kind                                                 \
    }

/* The most frequent first. Capitalized ones are of PyTorch 1.8 to 1.11. */
const struct kineto_category kineto_categories[] = {
    ROW("python_function", "python_function", KINETO_ASIDE),
    ROW("cpu_op", "cpu_op", KINETO_OPERATOR),
    ROW("kernel", "kernel", KINETO_KERNEL),
    ROW("cuda_runtime", "cuda_runtime", KINETO_LAUNCH),
    ROW("cuda_driver", "cuda_driver", KINETO_LAUNCH),
    ROW("gpu_memcpy", "gpu_memcpy", KINETO_MEMORY),
    ROW("gpu_memset", "gpu_memset", KINETO_MEMORY),
    ROW("user_annotation", "user_annotation", KINETO_ANNOTATION),
    ROW("gpu_user_annotation", "gpu_user_annotation", KINETO_ASIDE),
    ROW("overhead", "overhead", KINETO_ASIDE),
    ROW("cuda_sync", "cuda_sync", KINETO_ASIDE),
    ROW("cuda_event", "cuda_event", KINETO_ASIDE),
    ROW("Trace", "Trace", KINETO_ASIDE),
    ROW("cpu_instant_event", "cpu_instant_event", KINETO_ASIDE),
    ROW("external_correlation", "external_correlation", KINETO_ASIDE),
    ROW("collective_comm", "collective_comm", KINETO_ASIDE),
    ROW("cuda_profiler_range", "cuda_profiler_range", KINETO_ASIDE),
    ROW("hardware_counters", "hardware_counters", KINETO_ASIDE),
    ROW("gpu_pm_counter", "hardware_counters", KINETO_ASIDE),
    ROW("hip_runtime", "cuda_runtime", KINETO_LAUNCH),
    ROW("hip_driver", "cuda_driver", KINETO_LAUNCH),
    ROW("runtime", "cuda_runtime", KINETO_LAUNCH),
    ROW("driver", "cuda_driver", KINETO_LAUNCH),
    ROW("xpu_runtime", "xpu_runtime", KINETO_LAUNCH),
    ROW("xpu_driver", "xpu_driver", KINETO_LAUNCH),
    ROW("xpu_sync", "xpu_sync", KINETO_ASIDE),
    ROW("xpu_scope_profiler", "xpu_scope_profiler", KINETO_ASIDE),
    ROW("privateuse1_runtime", "privateuse1_runtime", KINETO_LAUNCH),
    ROW("privateuse1_driver", "privateuse1_driver", KINETO_LAUNCH),
    ROW("privateuse1_kernel", "kernel", KINETO_KERNEL),
    ROW("privateuse1_memcpy", "gpu_memcpy", KINETO_MEMORY),
    ROW("privateuse1_memset", "gpu_memset", KINETO_MEMORY),
    ROW("privateuse1_sync", "privateuse1_sync", KINETO_ASIDE),
    ROW("privateuse1_user_annotation", "gpu_user_annotation", KINETO_ASIDE),
    ROW("privateuse1_external_correlation", "external_correlation", KINETO_ASIDE),
    ROW("Kernel", "kernel", KINETO_KERNEL),
    ROW("Memcpy", "gpu_memcpy", KINETO_MEMORY),
    ROW("Memset", "gpu_memset", KINETO_MEMORY),
    ROW("Runtime", "cuda_runtime", KINETO_LAUNCH),
    ROW("Operator", "cpu_op", KINETO_OPERATOR),
    ROW("User", "gpu_user_annotation", KINETO_ASIDE),
    ROW("gpu_user_Annotation", "gpu_user_annotation", KINETO_ASIDE),
    /* Accelerators whose events are described in another way. */
    ROW("mtia_runtime", "mtia_runtime", KINETO_UNKNOWN),
    ROW("mtia_ccp_events", "mtia_ccp_events", KINETO_UNKNOWN),
    ROW("mtia_insight", "mtia_insight", KINETO_UNKNOWN),
    ROW("mtia_workloadd", "mtia_workloadd", KINETO_UNKNOWN),
    ROW("mtia_counters", "mtia_counters", KINETO_UNKNOWN),
    ROW("mtia_collective_comm", "mtia_collective_comm", KINETO_UNKNOWN),
    ROW("hpu_op", "hpu_op", KINETO_UNKNOWN),
    ROW("glow_runtime", "glow_runtime", KINETO_UNKNOWN),
};

const size_t kineto_category_count = sizeof kineto_categories / sizeof *kineto_categories;

const struct kineto_category *kineto_category_find(const struct json_value *spelling)
{
    if (spelling->kind != JSON_STRING)
        return NULL;
    for (size_t i = 0; i < kineto_category_count; i++) {
        const struct kineto_category *category = &kineto_categories[i];
        if (category->length == spelling->length &&
            memcmp(category->spelling, spelling->text, spelling->length) == 0)
            return category;
    }
    return NULL;
}
