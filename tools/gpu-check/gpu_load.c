/*
 * gpu-load: a program whose use of a GPU is known. Its arguments are steps:
 *
 *   context              makes one more context (the first is made when it is needed)
 *   hold BYTES           allocates memory of the GPU, and writes to all of it
 *   pinned BYTES         allocates memory of the machine that the GPU can read
 *   managed BYTES        allocates managed memory, and writes to it; never more than is free
 *   release              gives the newest allocation back
 *   wait MS              sleeps
 *   kernel MS            one kernel that runs for that long
 *   busy PERCENT MS      keeps the processors busy for that share of the time
 *   slot FROM TO MS      busy from FROM to TO ms of each 1130 ms: two processes can take turns, and
 * a driver that samples so often a second sees each at all points of it children N STEP… end starts
 * N processes that take those steps; comes before any step that uses the GPU join waits for them
 *   crash                ends by SIGSEGV, holding what it holds
 *
 * If GPU_LOAD_REPORT names a file, each step that is done appends a line: "main" or "child", the
 * step, and the nanoseconds that its kernels ran.
 *
 * Exit status: 0; 1: a call failed, the message says which; 2: wrong steps; 3: no CUDA here; 4: the
 * GPU has not the memory, may not be shared, or may not run a kernel for so long.
 */
#include "cuda.h"
#include "monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ALLOCATIONS = 64 };
enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NO_CUDA = 3, EXIT_CANNOT = 4 };
enum { CUDA_OUT_OF_MEMORY = 2, CUDA_DEVICE_UNAVAILABLE = 46 };

#define MAX_LIMITED_NS NS_PER_S
#define BUSY_PERIOD_NS (20 * NS_PER_MS)

enum kind { ON_GPU, PINNED };

struct allocation {
    enum kind kind;
    uint64_t pointer;
    void *host;
};

struct load {
    struct cuda cuda;
    bool is_open;
    bool is_child;
    uint64_t busy_ns; /* of the kernels of this step */
    size_t n_allocations;
    struct allocation allocations[MAX_ALLOCATIONS];
};

static void check(int code, const char *what)
{
    if (code == 0)
        return;
    fprintf(stderr, "gpu-load: %s: CUDA error %d\n", what, code);
    exit(code == CUDA_OUT_OF_MEMORY || code == CUDA_DEVICE_UNAVAILABLE ? EXIT_CANNOT : EXIT_FAILED);
}

static struct cuda *open_gpu(struct load *load)
{
    const char *message = NULL;
    if (load->is_open)
        return &load->cuda;
    if (!cuda_open(&load->cuda, &message)) {
        fprintf(stderr, "gpu-load: no GPU: %s\n", message);
        exit(EXIT_NO_CUDA);
    }
    check(cuda_create_context(&load->cuda), "context");
    load->is_open = true;
    return &load->cuda;
}

static void add_allocation(struct load *load, struct allocation allocation)
{
    if (load->n_allocations == MAX_ALLOCATIONS) {
        fprintf(stderr, "gpu-load: more than %d allocations\n", MAX_ALLOCATIONS);
        exit(EXIT_USAGE);
    }
    load->allocations[load->n_allocations++] = allocation;
}

static void hold(struct load *load, size_t bytes)
{
    struct cuda *cuda = open_gpu(load);
    struct allocation allocation = {.kind = ON_GPU};
    check(cuda->mem_alloc(&allocation.pointer, bytes), "hold");
    check(cuda->mem_set(allocation.pointer, 1, bytes), "hold");
    check(cuda->context_synchronize(), "hold");
    add_allocation(load, allocation);
}

static void hold_managed(struct load *load, size_t bytes)
{
    struct cuda *cuda = open_gpu(load);
    struct allocation allocation = {.kind = ON_GPU};
    size_t free_bytes, total_bytes;
    check(cuda->mem_get_info(&free_bytes, &total_bytes), "managed");
    if (bytes > free_bytes / 2) {
        fprintf(stderr, "gpu-load: managed: more than half of what is free\n");
        exit(EXIT_CANNOT);
    }
    check(cuda->mem_alloc_managed(&allocation.pointer, bytes, 1), "managed");
    check(cuda->mem_set(allocation.pointer, 1, bytes), "managed");
    check(cuda->context_synchronize(), "managed");
    add_allocation(load, allocation);
}

static void hold_pinned(struct load *load, size_t bytes)
{
    struct allocation allocation = {.kind = PINNED};
    check(open_gpu(load)->mem_alloc_host(&allocation.host, bytes), "pinned");
    memset(allocation.host, 1, bytes);
    add_allocation(load, allocation);
}

static void release(struct load *load)
{
    if (load->n_allocations == 0) {
        fprintf(stderr, "gpu-load: release: nothing is held\n");
        exit(EXIT_USAGE);
    }
    struct allocation *newest = &load->allocations[--load->n_allocations];
    check(newest->kind == PINNED ? load->cuda.mem_free_host(newest->host)
                                 : load->cuda.mem_free(newest->pointer),
        "release");
}

static void run_kernel(struct load *load, uint64_t duration_ns)
{
    struct cuda *cuda = open_gpu(load);
    if (cuda->is_limited && duration_ns > MAX_LIMITED_NS) {
        fprintf(stderr, "gpu-load: kernel: this GPU ends kernels that run for long\n");
        exit(EXIT_CANNOT);
    }
    check(cuda_spin(cuda, duration_ns), "kernel");
    check(cuda->context_synchronize(), "kernel");
    load->busy_ns += duration_ns;
}

static void keep_busy(struct load *load, unsigned percent, uint64_t duration_ns)
{
    open_gpu(load);
    uint64_t start = monotonic_now_ns();
    for (uint64_t at = start; at < start + duration_ns; at += BUSY_PERIOD_NS) {
        run_kernel(load, BUSY_PERIOD_NS * percent / 100);
        if (percent < 100)
            monotonic_sleep_until(at + BUSY_PERIOD_NS);
        else
            at = monotonic_now_ns() - BUSY_PERIOD_NS;
    }
}

/* Of a slot, in milliseconds. */
#define TURNS_MS 1130

static void keep_slot(struct load *load, uint64_t from_ms, uint64_t to_ms, uint64_t duration_ns)
{
    open_gpu(load);
    uint64_t end = monotonic_now_ns() + duration_ns;
    const uint64_t length = TURNS_MS * NS_PER_MS;
    for (uint64_t turn = (monotonic_now_ns() / length + 1) * length; turn + length <= end;
         turn += length) {
        uint64_t until = turn + to_ms * NS_PER_MS;
        monotonic_sleep_until(turn + from_ms * NS_PER_MS);
        for (uint64_t now = monotonic_now_ns(); now < until; now = monotonic_now_ns())
            run_kernel(load, until - now < BUSY_PERIOD_NS ? until - now : BUSY_PERIOD_NS);
    }
}

static void join_children(void)
{
    int status;
    while (wait(&status) > 0 || errno == EINTR)
        if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
            exit(WEXITSTATUS(status));
}

static uint64_t number_of(const char *text)
{
    char *end;
    errno = 0;
    uint64_t number = text ? strtoull(text, &end, 10) : 0;
    if (!text || errno || end == text || *end) {
        fprintf(stderr, "gpu-load: not a number: %s\n", text ? text : "(nothing)");
        exit(EXIT_USAGE);
    }
    return number;
}

static void take_steps(struct load *load, char **step);

/* Returns the step after "end". */
static char **start_children(struct load *load, char **step)
{
    uint64_t count = number_of(step[1]);
    char **end = step;
    if (load->is_open) {
        fprintf(stderr, "gpu-load: children: CUDA does not survive a fork: start them first\n");
        exit(EXIT_USAGE);
    }
    while (*end && strcmp(*end, "end") != 0)
        end++;
    if (!*end) {
        fprintf(stderr, "gpu-load: children: no \"end\"\n");
        exit(EXIT_USAGE);
    }
    for (uint64_t i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0) {
            perror("gpu-load: fork");
            exit(EXIT_FAILED);
        }
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            load->is_child = true;
            *end = NULL;
            take_steps(load, step + 2);
            exit(0);
        }
    }
    return end + 1;
}

static char **take_step(struct load *load, char **step)
{
    const char *name = step[0];
    if (strcmp(name, "children") == 0)
        return start_children(load, step);
    if (strcmp(name, "context") == 0) {
        if (load->is_open)
            check(cuda_create_context(&load->cuda), "context");
        else
            open_gpu(load);
        return step + 1;
    }
    if (strcmp(name, "release") == 0) {
        release(load);
        return step + 1;
    }
    if (strcmp(name, "join") == 0) {
        join_children();
        return step + 1;
    }
    if (strcmp(name, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit */
        raise(SIGSEGV);
    }
    uint64_t number = number_of(step[1]);
    if (strcmp(name, "hold") == 0)
        hold(load, number);
    else if (strcmp(name, "managed") == 0)
        hold_managed(load, number);
    else if (strcmp(name, "pinned") == 0)
        hold_pinned(load, number);
    else if (strcmp(name, "wait") == 0)
        monotonic_sleep_until(monotonic_now_ns() + number * NS_PER_MS);
    else if (strcmp(name, "kernel") == 0)
        run_kernel(load, number * NS_PER_MS);
    else if (strcmp(name, "busy") == 0) {
        keep_busy(load, (unsigned)number, number_of(step[2]) * NS_PER_MS);
        return step + 3;
    } else if (strcmp(name, "slot") == 0) {
        uint64_t to_ms = number_of(step[2]);
        keep_slot(load, number, to_ms, number_of(step[3]) * NS_PER_MS);
        return step + 4;
    } else {
        fprintf(stderr, "gpu-load: no step is called %s\n", name);
        exit(EXIT_USAGE);
    }
    return step + 2;
}

/* One write, so that lines of several processes do not mix. */
static void report_step(const struct load *load, const char *step)
{
    const char *path = getenv("GPU_LOAD_REPORT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return;
    dprintf(file, "%s %s %" PRIu64 "\n", load->is_child ? "child" : "main", step, load->busy_ns);
    close(file);
}

static void take_steps(struct load *load, char **step)
{
    while (*step) {
        const char *name = *step;
        load->busy_ns = 0;
        step = take_step(load, step);
        report_step(load, name);
    }
}

int main(int count, char **arguments)
{
    static struct load load;
    if (count < 2) {
        fprintf(stderr, "Usage: gpu-load STEP…  (the steps are listed at the top of gpu_load.c)\n");
        return EXIT_USAGE;
    }
    take_steps(&load, arguments + 1);
    join_children();
    return 0;
}
