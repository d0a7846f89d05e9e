#include "cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ATTRIBUTE_MULTIPROCESSOR_COUNT 16
#define ATTRIBUTE_KERNEL_EXEC_TIMEOUT 17
#define WARM_UP_BYTES (1u << 20)

/* Runs until the GPU's clock has gone on by the argument. For any GPU from Maxwell on: the driver
 * translates it. */
static const char spin_text[] = ".version 6.0\n"
                                ".target sm_50\n"
                                ".address_size 64\n"
                                ".visible .entry spin(.param .u64 duration)\n"
                                "{\n"
                                "    .reg .u64 %duration, %start, %now, %passed;\n"
                                "    .reg .pred %again;\n"
                                "    ld.param.u64 %duration, [duration];\n"
                                "    mov.u64 %start, %globaltimer;\n"
                                "LOOP:\n"
                                "    mov.u64 %now, %globaltimer;\n"
                                "    sub.u64 %passed, %now, %start;\n"
                                "    setp.lt.u64 %again, %passed, %duration;\n"
                                "    @%again bra LOOP;\n"
                                "    ret;\n"
                                "}\n";

static bool load_functions(struct cuda *cuda, void *library, const char **message)
{
    const struct {
        const char *name;
        void *place;
    } functions[] = {
        {"cuInit", &cuda->init},
        {"cuDeviceGet", &cuda->device_get},
        {"cuDeviceGetAttribute", &cuda->device_get_attribute},
        {"cuCtxCreate_v2", &cuda->context_create},
        {"cuCtxSynchronize", &cuda->context_synchronize},
        {"cuMemAlloc_v2", &cuda->mem_alloc},
        {"cuMemAllocManaged", &cuda->mem_alloc_managed},
        {"cuMemAllocHost_v2", &cuda->mem_alloc_host},
        {"cuMemFree_v2", &cuda->mem_free},
        {"cuMemFreeHost", &cuda->mem_free_host},
        {"cuMemsetD8_v2", &cuda->mem_set},
        {"cuMemGetInfo_v2", &cuda->mem_get_info},
        {"cuModuleLoadData", &cuda->module_load},
        {"cuModuleGetFunction", &cuda->module_get_function},
        {"cuLaunchKernel", &cuda->launch},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function) {
            *message = functions[i].name;
            return false;
        }
        memcpy(functions[i].place, &function, sizeof function);
    }
    return true;
}

bool cuda_open(struct cuda *cuda, const char **message)
{
    const char *path = getenv("GPU_CHECK_CUDA");
    int is_limited = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        *message = dlerror();
        return false;
    }
    if (!load_functions(cuda, library, message))
        return false;
    *message = "CUDA finds no GPU";
    if (cuda->init(0) != 0 || cuda->device_get(&cuda->device, 0) != 0 ||
        cuda->device_get_attribute(
            &cuda->multiprocessors, ATTRIBUTE_MULTIPROCESSOR_COUNT, cuda->device) != 0)
        return false;
    cuda->device_get_attribute(&is_limited, ATTRIBUTE_KERNEL_EXEC_TIMEOUT, cuda->device);
    cuda->is_limited = is_limited != 0;
    return true;
}

static int warm_up(struct cuda *cuda)
{
    uint64_t pointer;
    int code = cuda_spin(cuda, 0);
    if (code == 0)
        code = cuda->mem_alloc(&pointer, WARM_UP_BYTES);
    if (code != 0)
        return code;
    code = cuda->mem_set(pointer, 1, WARM_UP_BYTES);
    if (code == 0)
        code = cuda->context_synchronize();
    int free_code = cuda->mem_free(pointer);
    return code ? code : free_code;
}

int cuda_create_context(struct cuda *cuda)
{
    void *context, *module;
    int code = cuda->context_create(&context, 0, cuda->device);
    if (code == 0)
        code = cuda->module_load(&module, spin_text);
    if (code == 0)
        code = cuda->module_get_function(&cuda->spin, module, "spin");
    return code ? code : warm_up(cuda);
}

int cuda_spin(struct cuda *cuda, uint64_t duration_ns)
{
    void *parameters[] = {&duration_ns};
    return cuda->launch(
        cuda->spin, (unsigned)cuda->multiprocessors, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
}
