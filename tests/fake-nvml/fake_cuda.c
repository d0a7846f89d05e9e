/*
 * A libcuda.so.1 without a GPU: what programs take from it is written into the record of
 * simulated_gpu.h. It has what tools/gpu-check/ calls, and no more. A kernel runs for the
 * nanoseconds that its first argument says.
 */
#include "simulated_gpu.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int result;
typedef uint64_t device_pointer;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    DEVICE_UNAVAILABLE = 46,
    NOT_FOUND = 500
};
enum { MULTIPROCESSOR_COUNT = 16 };

static pid_t initialized_by;
static __thread uint64_t busy_until_ns;

struct allocation {
    uint64_t bytes;
};

static result change_bytes(int64_t bytes)
{
    struct simulated_state *state = simulated_gpu_lock();
    if (!state)
        return NOT_INITIALIZED;
    bool fits = simulated_gpu_add_bytes(state, getpid(), bytes);
    simulated_gpu_unlock(state);
    return fits ? SUCCESS : OUT_OF_MEMORY;
}

/* As drivers do; it stays open. Its name says which GPU: /dev/nvidia0. */
static void open_device_file(void)
{
    static int descriptor = -1;
    const char *path = getenv("FAKE_CUDA_DEVICE");
    if (path && descriptor < 0)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

/* Whether the GPU is one that the program is to see. */
static bool is_visible(void)
{
    const char *uuid = getenv("FAKE_CUDA_UUID"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    return !uuid || (visible && strcmp(uuid, visible) == 0);
}

EXPORT result cuInit(unsigned flags);
result cuInit(unsigned flags)
{
    struct simulated_state *state = simulated_gpu_lock();
    if (!state)
        return NOT_INITIALIZED;
    simulated_gpu_unlock(state);
    if (!is_visible())
        return NO_DEVICE;
    open_device_file();
    initialized_by = getpid();
    return flags ? INVALID_VALUE : SUCCESS;
}

EXPORT result cuDriverGetVersion(int *version);
result cuDriverGetVersion(int *version)
{
    *version = 13000;
    return SUCCESS;
}

EXPORT result cuDeviceGet(int *device, int ordinal);
result cuDeviceGet(int *device, int ordinal)
{
    if (initialized_by != getpid())
        return NOT_INITIALIZED;
    *device = ordinal;
    return ordinal == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT result cuDeviceGetAttribute(int *value, int attribute, int device);
result cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 16 ? MULTIPROCESSOR_COUNT : 0;
    return device == 0 ? SUCCESS : INVALID_VALUE;
}

/* In the compute mode that gives a GPU to one process alone. */
static bool others_hold_memory(void)
{
    struct simulated_state *state = simulated_gpu_lock();
    bool found = false;
    for (int i = 0; state && i < SIMULATED_PROCESSES; i++)
        found = found || (state->processes[i].pid && state->processes[i].pid != getpid());
    if (state)
        simulated_gpu_unlock(state);
    return found;
}

/* What handles of contexts point at: a program that ends need not destroy them. */
static char some_context;

EXPORT result cuCtxCreate_v2(void **context, unsigned flags, int device);
result cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    if (initialized_by != getpid() || device != 0)
        return NOT_INITIALIZED;
    if (getenv("FAKE_CUDA_EXCLUSIVE") && others_hold_memory())
        return DEVICE_UNAVAILABLE;
    *context = &some_context;
    return change_bytes((int64_t)SIMULATED_CONTEXT_BYTES);
}

EXPORT result cuCtxDestroy_v2(void *context);
result cuCtxDestroy_v2(void *context)
{
    (void)context;
    return change_bytes(-(int64_t)SIMULATED_CONTEXT_BYTES);
}

EXPORT result cuMemAlloc_v2(device_pointer *pointer, size_t bytes);
result cuMemAlloc_v2(device_pointer *pointer, size_t bytes)
{
    result code = change_bytes((int64_t)bytes);
    struct allocation *allocation = code == SUCCESS ? malloc(sizeof *allocation) : NULL;
    if (!allocation)
        return code == SUCCESS ? OUT_OF_MEMORY : code;
    allocation->bytes = bytes;
    *pointer = (device_pointer)(uintptr_t)allocation;
    return SUCCESS;
}

EXPORT result cuMemFree_v2(device_pointer pointer);
result cuMemFree_v2(device_pointer pointer)
{
    struct allocation *allocation = (void *)(uintptr_t)pointer;
    result code = change_bytes(-(int64_t)allocation->bytes);
    free(allocation);
    return code;
}

EXPORT result cuMemsetD8_v2(device_pointer pointer, unsigned char value, size_t bytes);
result cuMemsetD8_v2(device_pointer pointer, unsigned char value, size_t bytes)
{
    (void)value;
    return bytes <= ((struct allocation *)(uintptr_t)pointer)->bytes ? SUCCESS : INVALID_VALUE;
}

EXPORT result cuMemAllocManaged(device_pointer *pointer, size_t bytes, unsigned flags);
result cuMemAllocManaged(device_pointer *pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return cuMemAlloc_v2(pointer, bytes);
}

/* Memory of the machine, not of the GPU. */
EXPORT result cuMemAllocHost_v2(void **pointer, size_t bytes);
result cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    *pointer = malloc(bytes);
    return *pointer ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT result cuMemFreeHost(void *pointer);
result cuMemFreeHost(void *pointer)
{
    free(pointer);
    return SUCCESS;
}

EXPORT result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    struct simulated_state *state = simulated_gpu_lock();
    if (!state)
        return NOT_INITIALIZED;
    *total_bytes = SIMULATED_MEMORY_BYTES;
    *free_bytes = SIMULATED_MEMORY_BYTES - simulated_gpu_used_bytes(state);
    simulated_gpu_unlock(state);
    return SUCCESS;
}

EXPORT result cuModuleLoadData(void **module, const void *text);
result cuModuleLoadData(void **module, const void *text)
{
    static char loaded;
    *module = &loaded;
    return strstr(text, ".visible .entry") ? SUCCESS : INVALID_VALUE;
}

EXPORT result cuModuleGetFunction(void **function, void *module, const char *name);
result cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return *name ? SUCCESS : NOT_FOUND;
}

EXPORT result cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
    void **parameters, void **extra);
result cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
    void **parameters, void **extra)
{
    (void)shared_bytes;
    if (!function || stream || extra || !grid_x || !grid_y || !grid_z || !block_x || !block_y ||
        !block_z)
        return INVALID_VALUE;
    struct simulated_state *state = simulated_gpu_lock();
    if (!state)
        return NOT_INITIALIZED;
    busy_until_ns = simulated_gpu_launch(state, getpid(), *(uint64_t *)parameters[0]);
    simulated_gpu_unlock(state);
    return SUCCESS;
}

EXPORT result cuCtxSynchronize(void);
result cuCtxSynchronize(void)
{
    struct timespec until = {
        (time_t)(busy_until_ns / 1000000000u), (long)(busy_until_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
    return SUCCESS;
}
