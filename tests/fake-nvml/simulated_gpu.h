/*
 * A GPU that only keeps a record: who holds how much of its memory, and when its processors were
 * busy. Processes share the record in a file; fake_cuda.c changes it, fake_nvml.c reports it.
 * Kernels run one after another, as if each took the whole GPU. It forgets processes that ended, as
 * a driver does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    SIMULATED_PROCESSES = 256,
    SIMULATED_LAUNCHES = 16384,
};

#define SIMULATED_MEMORY_BYTES (16ull << 30)
#define SIMULATED_CONTEXT_BYTES (256ull << 20) /* what a driver takes for each context */
#define SIMULATED_IDLE_WATTS 60
#define SIMULATED_BUSY_WATTS 300
/* How often a driver renews each figure, and over which time power is a mean. */
#define SIMULATED_UTILIZATION_NS 166000000ull
#define SIMULATED_POWER_NS 100000000ull
#define SIMULATED_POWER_WINDOW_NS 1000000000ull
#define SIMULATED_ENERGY_NS 20000000ull

struct simulated_process {
    int32_t pid;
    uint64_t bytes;
};

struct simulated_launch {
    int32_t pid;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
};

struct simulated_state {
    uint64_t created_ns; /* 0: nothing has used it yet */
    uint64_t free_at_ns; /* when the last kernel ends */
    uint64_t busy_ns;    /* of launches that the ring no longer has */
    uint64_t n_launches;
    struct simulated_process processes[SIMULATED_PROCESSES];
    struct simulated_launch launches[SIMULATED_LAUNCHES]; /* a ring */
};

/*
 * Opens the file that FAKE_GPU_STATE names, creates it where it is missing, and locks it against
 * other processes and threads until simulated_gpu_unlock(). NULL: no such variable, or the file
 * cannot be used.
 */
struct simulated_state *simulated_gpu_lock(void);
void simulated_gpu_unlock(struct simulated_state *state);

uint64_t simulated_gpu_now_ns(void);
/* When a figure that is renewed so often was last renewed: by the clock of NVML's timestamps. */
uint64_t simulated_gpu_wall_us(uint64_t interval_ns);

/* Adds bytes (negative: gives back) to what that process holds; false: the memory is full. */
bool simulated_gpu_add_bytes(struct simulated_state *state, int32_t pid, int64_t bytes);
uint64_t simulated_gpu_used_bytes(const struct simulated_state *state);

/* Puts a kernel after those that are there. Returns when it ends. */
uint64_t simulated_gpu_launch(struct simulated_state *state, int32_t pid, uint64_t duration_ns);

/* Nanoseconds between those times in which kernels ran; pid 0: of all processes. */
uint64_t simulated_gpu_busy_ns(
    const struct simulated_state *state, int32_t pid, uint64_t start_ns, uint64_t end_ns);
/* Millijoules from its creation until that time. */
uint64_t simulated_gpu_energy_mj(const struct simulated_state *state, uint64_t now_ns);
