/*
 * What one sample of the GPUs costs, next to the bare calls of the NVIDIA library that it cannot do
 * without: a process of eight GPUs with 16 processes each, and a library that answers at once (a
 * fake one; a real driver adds the same time to every row). The last rows are what a tick itself
 * waits for: the drivers are asked from other threads.
 *
 *     gpu-sample LIBRARY          the fake libnvidia-ml.so.1
 *     gpu-sample LIBRARY card     which gives clocks, temperatures and the like, too
 *     gpu-sample LIBRARY [card] recorded     whose calls take the CPU time that an H200's took
 */
#include "base/clock.h"
#include "machine/gpu/gpu.h"
#include "machine/gpu/nvml_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPUS 8
#define PROCESSES 16
/* Fewer of calls that take their time. */
#define SAMPLES 20000
#define RECORDED_SAMPLES 100

/* What a driver gives of the card itself; without it each call is made once. */
static const char card_lines[] =
    "value nvmlDeviceGetClockInfo/0 1755\nvalue nvmlDeviceGetClockInfo/2 2619\n"
    "value nvmlDeviceGetMaxClockInfo/0 1980\nvalue nvmlDeviceGetMaxClockInfo/2 2619\n"
    "value nvmlDeviceGetTemperature/0 61\nvalue nvmlDeviceGetTemperatureThreshold/0 95\n"
    "value nvmlDeviceGetTemperatureThreshold/1 92\nvalue nvmlDeviceGetPerformanceState 0\n"
    "value nvmlDeviceGetEnforcedPowerLimit 700000\nvalue nvmlDeviceGetEncoderUtilization 0\n"
    "value nvmlDeviceGetDecoderUtilization 0\nvalue nvmlDeviceGetBAR1MemoryInfo 1000000\n"
    "value nvmlDeviceGetCurrPcieLinkGeneration 5\nvalue nvmlDeviceGetCurrPcieLinkWidth 16\n"
    "value nvmlDeviceGetMaxPcieLinkGeneration 5\nvalue nvmlDeviceGetMaxPcieLinkWidth 16\n"
    "value nvmlDeviceGetCurrentClocksEventReasons 0\n"
    "value field/74 1\nvalue field/76 1\nvalue field/251 1\nvalue field/252 1\n"
    "value field/253 1\nvalue field/82 50\nvalue field/197 1\nvalue field/198 1\n"
    "value field/94 0\nvalue field/138 1\nvalue field/139 1\n";

/* Medians of an H200, driver 580 (docs/gpu-check.md), in microseconds. Not recorded yet are calls
 * for figures of the card: each is taken to cost what memory does. */
static const char recorded_costs[] =
    "busy_us nvmlDeviceGetMemoryInfo_v2 8\nbusy_us nvmlDeviceGetComputeRunningProcesses_v3 17\n"
    "busy_us nvmlDeviceGetGraphicsRunningProcesses_v3 17\n"
    "busy_us nvmlDeviceGetMPSComputeRunningProcesses_v3 17\n"
    "busy_us nvmlDeviceGetUtilizationRates 1\nbusy_us nvmlDeviceGetPowerUsage 1\n"
    "busy_us nvmlDeviceGetTotalEnergyConsumption 2400\n"
    "busy_us nvmlDeviceGetProcessUtilization 1900\n"
    "busy_us nvmlDeviceGetProcessesUtilizationInfo 1900\nbusy_us * 8\n";

/* Writes what the fake library answers. */
static void write_scenario(char path[64], bool has_card_figures, bool has_costs)
{
    snprintf(path, 64, "/tmp/gpu-sample-XXXXXX");
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        exit(1);
    fputs(has_costs ? recorded_costs : "", file);
    for (int i = 0; i < GPUS; i++) {
        fprintf(file, "gpu GPU-%d\nmemory 80000000000 500000000 40000000000\nutilization 90\n", i);
        fprintf(file, "power_mw 400000\nenergy_mj 123456789\n");
        if (has_card_figures)
            fputs(card_lines, file);
        for (int j = 0; j < PROCESSES; j++)
            fprintf(file, "compute %d 1000000000\nsample %d 1 5\n", j ? 1 : (int)getpid(), 1);
    }
    fclose(file);
}

/* The calls that one sample needs, and nothing else. */
static void call_bare(const struct nvml_library *library, const nvml_device *devices)
{
    static struct nvml_process_r535 entries[128];
    static struct nvml_process_sample samples[128];
    for (int i = 0; i < GPUS; i++) {
        struct nvml_memory_v2 memory = {.version = NVML_MEMORY_V2_VERSION};
        struct nvml_utilization utilization;
        unsigned power, count;
        unsigned long long energy;
        library->memory_v2(devices[i], &memory);
        library->utilization(devices[i], &utilization);
        library->power(devices[i], &power);
        library->energy(devices[i], &energy);
        for (int kind = 0; kind < NVML_PROCESS_KINDS; kind++) {
            count = 128;
            library->processes[kind][NVML_V3](devices[i], &count, entries);
        }
        count = 128;
        library->process_utilization(devices[i], samples, &count, 1);
    }
}

static double bare_ns(const char *path, int samples)
{
    struct nvml_library library;
    nvml_device devices[GPUS];
    if (nvml_library_open(&library, path, NULL) != GPUT_OK)
        exit(1);
    library.init();
    for (unsigned i = 0; i < GPUS; i++)
        library.handle_by_index(i, &devices[i]);
    int64_t start = clock_process_cpu_ns();
    for (int i = 0; i < samples; i++)
        call_bare(&library, devices);
    int64_t end = clock_process_cpu_ns();
    library.shutdown();
    nvml_library_close(&library);
    return (double)(end - start) / samples;
}

/* CPU time a sample: of the whole process, and of the thread that asks for samples. */
static void sample_ns(
    const struct gpu_options *options, int samples, double *process_ns, double *thread_ns)
{
    struct gpu_set *set;
    struct gpu_sample sample;
    struct gput_error error;
    if (gpu_set_open(options, &set, &error) != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    struct gpu_tree tree = {.main = getpid()};
    int64_t process = clock_process_cpu_ns(), thread = clock_thread_cpu_ns();
    for (int i = 0; i < samples; i++) {
        gpu_set_refresh(set);
        if (!options->synchronous)
            usleep(1000); /* a tick's own work, so that threads are not asked faster than ever */
        gpu_set_sample(set, &tree, &sample);
    }
    *process_ns = (double)(clock_process_cpu_ns() - process) / samples;
    *thread_ns = (double)(clock_thread_cpu_ns() - thread) / samples;
    gpu_set_close(set);
}

/* CPU time a sample at the usual rate: what is read once a second counts with a tenth. */
static void sample_at_10_hz(const struct gpu_options *options, double *process_ns)
{
    enum { TICKS = 100 };
    struct gpu_set *set;
    struct gpu_sample sample;
    struct gput_error error;
    if (gpu_set_open(options, &set, &error) != GPUT_OK)
        exit(1);
    struct gpu_tree tree = {.main = getpid()};
    int64_t process = clock_process_cpu_ns();
    for (int i = 0; i < TICKS; i++) {
        gpu_set_refresh(set);
        usleep(100000);
        gpu_set_sample(set, &tree, &sample);
    }
    *process_ns = (double)(clock_process_cpu_ns() - process) / TICKS;
    gpu_set_close(set);
}

static void print_row(const char *what, double ns, double floor_ns)
{
    printf("%-58s %10.1f us %8.2f x\n", what, ns / 1e3, ns / floor_ns);
}

int main(int argc, char **argv)
{
    char scenario[64];
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "Usage: gpu-sample LIBRARY [card] [recorded]\n");
        return 2;
    }
    bool has_card_figures = false, has_costs = false;
    for (int i = 2; i < argc; i++) {
        has_card_figures |= strcmp(argv[i], "card") == 0;
        has_costs |= strcmp(argv[i], "recorded") == 0;
    }
    write_scenario(scenario, has_card_figures, has_costs);
    setenv("FAKE_NVML_SCENARIO", scenario, 1);
    setenv("FAKE_NVML_READ_ONCE", "1", 1);
    struct gpu_options options = {
        .sysfs_root = "/nonexistent", .nvml_path = argv[1], .synchronous = true};
    int samples = has_costs ? RECORDED_SAMPLES : SAMPLES;
    double floor_ns = bare_ns(argv[1], samples), process_ns, thread_ns;
    printf("%d GPUs, %d processes on each; CPU time a sample\n", GPUS, PROCESSES);
    print_row("the library's calls alone", floor_ns, floor_ns);
    sample_ns(&options, samples, &process_ns, &thread_ns);
    print_row("a sample with all its calls, in one thread", process_ns, floor_ns);
    options.synchronous = false;
    sample_ns(&options, 2000, &process_ns, &thread_ns);
    print_row("a tick 1 ms: all threads (lists of processes at 10 Hz)", process_ns, floor_ns);
    print_row("a tick 1 ms: the tick's own thread", thread_ns, floor_ns);
    sample_at_10_hz(&options, &process_ns);
    print_row("a tick 100 ms: all threads", process_ns, floor_ns);
    unlink(scenario);
    return 0;
}
