#include "simulated_gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Opened once a process: processes that share a descriptor do not lock each other out. */
static struct {
    pid_t process;
    char path[4096];
    int descriptor;
    struct simulated_state *state;
} opened;

uint64_t simulated_gpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t simulated_gpu_wall_us(uint64_t interval_ns)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    uint64_t wall_us = (uint64_t)wall.tv_sec * 1000000 + (uint64_t)wall.tv_nsec / 1000;
    return wall_us - simulated_gpu_now_ns() % interval_ns / 1000;
}

/* Gone, or a zombie: a driver takes the memory back before the parent waits. */
static bool has_ended(int32_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return kill(pid, 0) != 0 && errno == ESRCH;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *name_end = strrchr(text, ')');
    return size == 0 || (name_end && (name_end[2] == 'Z' || name_end[2] == 'X'));
}

static void forget_ended(struct simulated_state *state)
{
    for (int i = 0; i < SIMULATED_PROCESSES; i++)
        if (state->processes[i].pid && has_ended(state->processes[i].pid))
            state->processes[i] = (struct simulated_process){0};
}

static void close_file(void)
{
    if (opened.state) {
        munmap(opened.state, sizeof *opened.state);
        close(opened.descriptor);
    }
    opened.state = NULL;
}

static bool open_file(const char *path)
{
    if (opened.state && opened.process == getpid() && strcmp(opened.path, path) == 0)
        return true;
    close_file();
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *state = MAP_FAILED;
    if (descriptor >= 0 && ftruncate(descriptor, sizeof *opened.state) == 0)
        state = mmap(NULL, sizeof *opened.state, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (state == MAP_FAILED) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    opened.process = getpid();
    snprintf(opened.path, sizeof opened.path, "%s", path);
    opened.descriptor = descriptor;
    opened.state = state;
    return true;
}

struct simulated_state *simulated_gpu_lock(void)
{
    const char *path = getenv("FAKE_GPU_STATE");
    if (!path)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!open_file(path) || flock(opened.descriptor, LOCK_EX) != 0) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    if (!opened.state->created_ns) {
        opened.state->created_ns = simulated_gpu_now_ns();
        fchmod(opened.descriptor, 0666); /* any user may use a GPU */
    }
    forget_ended(opened.state);
    return opened.state;
}

void simulated_gpu_unlock(struct simulated_state *state)
{
    (void)state;
    flock(opened.descriptor, LOCK_UN);
    pthread_mutex_unlock(&lock);
}

uint64_t simulated_gpu_used_bytes(const struct simulated_state *state)
{
    uint64_t used = 0;
    for (int i = 0; i < SIMULATED_PROCESSES; i++)
        used += state->processes[i].bytes;
    return used;
}

bool simulated_gpu_add_bytes(struct simulated_state *state, int32_t pid, int64_t bytes)
{
    struct simulated_process *process = NULL;
    if (bytes > 0 && simulated_gpu_used_bytes(state) + (uint64_t)bytes > SIMULATED_MEMORY_BYTES)
        return false;
    for (int i = 0; i < SIMULATED_PROCESSES; i++) {
        if (state->processes[i].pid == pid)
            process = &state->processes[i];
        else if (!process && !state->processes[i].pid)
            process = &state->processes[i];
        if (process && process->pid == pid)
            break;
    }
    if (!process)
        return false;
    process->pid = pid;
    process->bytes += (uint64_t)bytes;
    return true;
}

uint64_t simulated_gpu_launch(struct simulated_state *state, int32_t pid, uint64_t duration_ns)
{
    struct simulated_launch *slot = &state->launches[state->n_launches++ % SIMULATED_LAUNCHES];
    uint64_t now = simulated_gpu_now_ns();
    uint64_t start = state->free_at_ns > now ? state->free_at_ns : now;
    state->busy_ns += slot->end_ns - slot->start_ns; /* that which it replaces */
    *slot = (struct simulated_launch){pid, start, start + duration_ns};
    state->free_at_ns = slot->end_ns;
    return slot->end_ns;
}

uint64_t simulated_gpu_busy_ns(
    const struct simulated_state *state, int32_t pid, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t busy = 0;
    for (uint64_t i = 0; i < SIMULATED_LAUNCHES && i < state->n_launches; i++) {
        const struct simulated_launch *launch = &state->launches[i];
        uint64_t start = launch->start_ns > start_ns ? launch->start_ns : start_ns;
        uint64_t end = launch->end_ns < end_ns ? launch->end_ns : end_ns;
        if (start < end && (!pid || launch->pid == pid))
            busy += end - start;
    }
    return busy;
}

uint64_t simulated_gpu_energy_mj(const struct simulated_state *state, uint64_t now_ns)
{
    uint64_t busy_ns = state->busy_ns + simulated_gpu_busy_ns(state, 0, 0, now_ns);
    uint64_t all_ns = now_ns - state->created_ns;
    return all_ns / 1000000 * SIMULATED_IDLE_WATTS +
           busy_ns / 1000000 * (SIMULATED_BUSY_WATTS - SIMULATED_IDLE_WATTS);
}
