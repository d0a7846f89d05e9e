/* What gpu-load calls of the driver's library, libcuda.so.1, and a kernel of a given duration. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*device_get_attribute)(int *value, int attribute, int device);
    int (*context_create)(void **context, unsigned flags, int device);
    int (*context_synchronize)(void);
    int (*mem_alloc)(uint64_t *pointer, size_t bytes);
    int (*mem_alloc_managed)(uint64_t *pointer, size_t bytes, unsigned flags);
    int (*mem_alloc_host)(void **pointer, size_t bytes);
    int (*mem_free)(uint64_t pointer);
    int (*mem_free_host)(void *pointer);
    int (*mem_set)(uint64_t pointer, unsigned char value, size_t bytes);
    int (*mem_get_info)(size_t *free_bytes, size_t *total_bytes);
    int (*module_load)(void **module, const void *text);
    int (*module_get_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
        void **parameters, void **extra);
    int device;
    int multiprocessors;
    bool is_limited; /* kernels may not run long: the GPU also draws a screen */
    void *spin;      /* the kernel, of the newest context */
};

/*
 * Loads the library, or the file that GPU_CHECK_CUDA names, and finds the first GPU. It stays
 * loaded: CUDA cannot be unloaded. false: *message says why, a string that is not to be freed.
 */
bool cuda_open(struct cuda *cuda, const char **message);

/*
 * Makes a context current, loads the kernel into it and runs all that a driver loads only when it
 * is first used: what the context takes does not change any more. Returns CUDA's code, 0 for
 * success.
 */
int cuda_create_context(struct cuda *cuda);

/* Starts a kernel on every multiprocessor that runs for that time. Returns CUDA's code. */
int cuda_spin(struct cuda *cuda, uint64_t duration_ns);
