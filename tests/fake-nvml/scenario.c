#include "scenario.h"

#include "simulated_gpu.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIECE_MS 5

struct scenario scenario;

static struct entry entry_store[MAX_GPUS * (MAX_MIG + 1)][MAX_ENTRIES];
static pid_t initialized_by;
static int inits;
static bool loaded;

static void add_rule(struct rule *rules, int *count, const char *call, int number)
{
    if (*count < MAX_RULES) {
        snprintf(rules[*count].call, sizeof rules[*count].call, "%s", call);
        rules[(*count)++].number = number;
    }
}

/* Figures of the simulated GPU (simulated_gpu.h), each as old as a driver's would be. */
static void add_simulated_entries(
    struct device *device, const struct simulated_state *state, uint64_t renewed_ns)
{
    for (int i = 0; i < SIMULATED_PROCESSES && device->n_entries + 2 <= MAX_ENTRIES; i++) {
        const struct simulated_process *process = &state->processes[i];
        if (!process->pid)
            continue;
        uint64_t busy_ns = simulated_gpu_busy_ns(
            state, process->pid, renewed_ns - SIMULATED_UTILIZATION_NS, renewed_ns);
        device->entries[device->n_entries++] =
            (struct entry){.kind = 'c', .pid = (unsigned)process->pid, .value = process->bytes};
        if (!busy_ns)
            continue; /* drivers have no sample of those that used nothing */
        device->entries[device->n_entries++] = (struct entry){.kind = 's',
            .pid = (unsigned)process->pid,
            .value = simulated_gpu_wall_us(SIMULATED_UTILIZATION_NS),
            .percent = (unsigned)(busy_ns * 100 / SIMULATED_UTILIZATION_NS)};
    }
}

/* A driver that hides processes from a container. */
static void hide_listed(struct device *device)
{
    int kept = 0;
    for (int i = 0; i < device->n_entries; i++)
        if (device->entries[i].kind != 'c' && device->entries[i].kind != 's')
            device->entries[kept++] = device->entries[i];
    device->n_entries = kept;
}

/* A driver that lists pids of the host inside a container. */
static void shift_pids(struct device *device, unsigned by)
{
    for (int i = 0; i < device->n_entries; i++)
        device->entries[i].pid += by;
}

/* A driver whose lists are wrong. */
static void multiply_listed(struct device *device, unsigned factor)
{
    for (int i = 0; i < device->n_entries; i++)
        if (device->entries[i].kind == 'c')
            device->entries[i].value *= factor;
}

static unsigned mean_power_mw(
    const struct simulated_state *state, uint64_t until_ns, uint64_t window_ns)
{
    uint64_t busy_ns = simulated_gpu_busy_ns(state, 0, until_ns - window_ns, until_ns);
    uint64_t more_mw = (SIMULATED_BUSY_WATTS - SIMULATED_IDLE_WATTS) * 1000ull;
    return (unsigned)(SIMULATED_IDLE_WATTS * 1000 + more_mw * busy_ns / window_ns);
}

static void read_simulated_gpu(struct device *device)
{
    struct simulated_state *state = simulated_gpu_lock();
    if (!state)
        return;
    uint64_t now_ns = simulated_gpu_now_ns();
    uint64_t renewed_ns = now_ns / SIMULATED_UTILIZATION_NS * SIMULATED_UTILIZATION_NS;
    device->is_simulated = true;
    uint64_t power_ns = now_ns / SIMULATED_POWER_NS * SIMULATED_POWER_NS;
    uint64_t busy_ns =
        simulated_gpu_busy_ns(state, 0, renewed_ns - SIMULATED_UTILIZATION_NS, renewed_ns);
    device->total = SIMULATED_MEMORY_BYTES;
    device->used = simulated_gpu_used_bytes(state);
    device->utilization = (unsigned)(busy_ns * 100 / SIMULATED_UTILIZATION_NS);
    device->power_mw = mean_power_mw(state, power_ns, SIMULATED_POWER_WINDOW_NS);
    device->instant_power_mw = mean_power_mw(state, power_ns, SIMULATED_POWER_NS);
    device->energy_mj =
        1000 + simulated_gpu_energy_mj(state, now_ns / SIMULATED_ENERGY_NS * SIMULATED_ENERGY_NS);
    add_simulated_entries(device, state, renewed_ns);
    simulated_gpu_unlock(state);
}

static void set_value(struct device *device, const char *call, unsigned long long number)
{
    if (device->n_values == MAX_RULES)
        return;
    struct value *value = &device->values[device->n_values++];
    snprintf(value->call, sizeof value->call, "%s", call);
    value->number = number;
}

const unsigned long long *value_of(const struct device *device, const char *call)
{
    for (int i = 0; i < device->n_values; i++)
        if (strcmp(device->values[i].call, call) == 0)
            return &device->values[i].number;
    return NULL;
}

static void read_device_line(struct device *device, const char *key, const char *rest)
{
    char call[48];
    int code;
    unsigned pid, percent;
    unsigned long long value;
    char word[32];
    if (strcmp(key, "name") == 0)
        snprintf(device->name, sizeof device->name, "%s", rest);
    else if (strcmp(key, "pci") == 0)
        sscanf(rest, "%x:%x:%x", &device->domain, &device->bus, &device->slot);
    else if (strcmp(key, "memory") == 0)
        sscanf(rest, "%llu %llu %llu", &device->total, &device->reserved, &device->used);
    else if (strcmp(key, "utilization") == 0)
        device->utilization = (unsigned)atoi(rest);
    else if (strcmp(key, "power_mw") == 0)
        device->power_mw = (unsigned)atoi(rest);
    else if (strcmp(key, "instant_power_mw") == 0)
        device->instant_power_mw = (unsigned)atoi(rest);
    else if (strcmp(key, "energy_mj") == 0)
        device->energy_mj = strtoull(rest, NULL, 10);
    else if (strcmp(key, "module_energy_mj") == 0)
        device->module_energy_mj = strtoull(rest, NULL, 10);
    else if (strcmp(key, "code") == 0 && sscanf(rest, "%47s %d", call, &code) == 2)
        add_rule(device->rules, &device->n_rules, call, code);
    else if (strcmp(key, "value") == 0 && sscanf(rest, "%47s %lli", call, (long long *)&value) == 2)
        set_value(device, call, value);
    else if (strcmp(key, "simulated") == 0)
        read_simulated_gpu(device);
    else if (strcmp(key, "unlisted") == 0)
        hide_listed(device);
    else if (strcmp(key, "shift_pids") == 0)
        shift_pids(device, (unsigned)atoi(rest));
    else if (strcmp(key, "compute_mode") == 0)
        device->compute_mode = (unsigned)atoi(rest);
    else if (strcmp(key, "list_factor") == 0)
        multiply_listed(device, (unsigned)atoi(rest));
    else if (device->n_entries < MAX_ENTRIES &&
             sscanf(rest, "%u %31s %u", &pid, word, &percent) >= 2 && strchr("cgms", key[0])) {
        value = strcmp(word, "na") == 0 ? ~0ull : strtoull(word, NULL, 10);
        device->entries[device->n_entries++] =
            (struct entry){.kind = key[0], .pid = pid, .value = value, .percent = percent};
    }
}

static struct device *start_device(int gpu, int mig, const char *uuid, const char *name)
{
    struct device *device = mig ? &scenario.gpus[gpu].mig[mig - 1] : &scenario.gpus[gpu].self;
    memset(device, 0, sizeof *device);
    device->entries = entry_store[gpu * (MAX_MIG + 1) + mig];
    snprintf(device->uuid, sizeof device->uuid, "%s", uuid);
    snprintf(device->name, sizeof device->name, "%s", name);
    return device;
}

static struct device *add_gpu(const char *uuid)
{
    int number = scenario.n_gpus++;
    scenario.gpus[number].n_mig = 0;
    scenario.gpus[number].mig_current = 0;
    struct device *device = start_device(number, 0, uuid, "Fake GPU");
    device->bus = (unsigned)number + 1;
    return device;
}

static struct device *add_mig(const char *uuid)
{
    struct gpu *gpu = &scenario.gpus[scenario.n_gpus - 1];
    gpu->mig_current = 1;
    return start_device(scenario.n_gpus - 1, ++gpu->n_mig, uuid, "Fake GPU MIG 1g.5gb");
}

/* Before each call: so what is cleared is what the file has, not all that it may have. */
static void read_scenario(void)
{
    struct device *device = NULL;
    const char *path = getenv("FAKE_NVML_SCENARIO");
    if (loaded && getenv("FAKE_NVML_READ_ONCE"))
        return;
    memset(&scenario, 0, offsetof(struct scenario, gpus));
    snprintf(scenario.driver, sizeof scenario.driver, "550.54.14");
    FILE *file = path ? fopen(path, "re") : NULL;
    char line[512], key[32], call[48];
    int number;
    while (file && fgets(line, sizeof line, file)) {
        int offset = 0;
        line[strcspn(line, "\n#")] = '\0';
        if (sscanf(line, " %31s %n", key, &offset) != 1)
            continue;
        const char *rest = line + offset;
        if (strcmp(key, "gpu") == 0 && scenario.n_gpus < MAX_GPUS) {
            device = add_gpu(rest);
        } else if (strcmp(key, "mig") == 0 && scenario.n_gpus &&
                   scenario.gpus[scenario.n_gpus - 1].n_mig < MAX_MIG) {
            device = add_mig(rest);
        } else if (device) {
            read_device_line(device, key, rest);
        } else if (strcmp(key, "driver") == 0) {
            snprintf(scenario.driver, sizeof scenario.driver, "%s", rest);
        } else if (strcmp(key, "generation") == 0) {
            scenario.generation = (unsigned)atoi(rest);
        } else if (strcmp(key, "grow") == 0) {
            scenario.grow = atoi(rest);
        } else if (strcmp(key, "code") == 0 && sscanf(rest, "%47s %d", call, &number) == 2) {
            add_rule(scenario.codes, &scenario.n_codes, call, number);
        } else if (strcmp(key, "delay_ms") == 0 && sscanf(rest, "%47s %d", call, &number) == 2) {
            add_rule(scenario.delays, &scenario.n_delays, call, number);
        } else if (strcmp(key, "busy_us") == 0 && sscanf(rest, "%47s %d", call, &number) == 2) {
            add_rule(scenario.costs, &scenario.n_costs, call, number);
        }
    }
    if (file)
        fclose(file);
    loaded = true;
}

int rule_for(const struct rule *rules, int count, const char *call)
{
    for (int i = 0; i < count; i++)
        if (strcmp(rules[i].call, call) == 0 || strcmp(rules[i].call, "*") == 0)
            return rules[i].number;
    return 0;
}

static void write_log(const char *call)
{
    const char *path = getenv("FAKE_NVML_LOG");
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    fprintf(file, "%d %s\n", (int)getpid(), call);
    fclose(file);
}

/* The code under test calls from two threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long long thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int begin(const char *call)
{
    pthread_mutex_lock(&lock);
    write_log(call);
    read_scenario();
    int code = rule_for(scenario.codes, scenario.n_codes, call);
    /* In small pieces, so that a scenario without the delay ends it. */
    for (int waited_ms = 0; waited_ms < rule_for(scenario.delays, scenario.n_delays, call);
         waited_ms += PIECE_MS) {
        struct timespec piece = {0, PIECE_MS * 1000000};
        pthread_mutex_unlock(&lock);
        nanosleep(&piece, NULL);
        pthread_mutex_lock(&lock);
        read_scenario();
    }
    /* Take CPU time, as drivers do that wait for the GPU. */
    int busy_us = rule_for(scenario.costs, scenario.n_costs, call);
    for (long long end_ns = thread_cpu_ns() + busy_us * 1000LL;
         busy_us && thread_cpu_ns() < end_ns;)
        ;
    return code;
}

int end(int code)
{
    pthread_mutex_unlock(&lock);
    return code;
}

/* Handles say generation, GPU and MIG instance (0: the GPU itself). */
nvmlDevice_t make_handle(unsigned gpu, unsigned mig)
{
    return (nvmlDevice_t)(uintptr_t)(0x10000 + scenario.generation * 0x1000 + gpu * 0x10 + mig);
}

static struct device *find_device(nvmlDevice_t handle)
{
    uintptr_t number = (uintptr_t)handle - 0x10000;
    unsigned gpu = number / 0x10 % 0x100, mig = number % 0x10;
    if (number / 0x1000 != scenario.generation || gpu >= (unsigned)scenario.n_gpus)
        return NULL;
    if (mig == 0)
        return &scenario.gpus[gpu].self;
    return mig <= (unsigned)scenario.gpus[gpu].n_mig ? &scenario.gpus[gpu].mig[mig - 1] : NULL;
}

int begin_on(const char *call, nvmlDevice_t handle, struct device **device)
{
    int code = begin(call);
    if (!initialized_by || !inits)
        return UNINITIALIZED;
    if (initialized_by != getpid())
        return UNKNOWN;
    *device = find_device(handle);
    if (code == SUCCESS && !*device)
        return INVALID_ARGUMENT;
    if (code == SUCCESS)
        code = rule_for((*device)->rules, (*device)->n_rules, call);
    return code;
}

void set_initialized(bool initialized)
{
    inits += initialized ? 1 : -1;
    if (initialized)
        initialized_by = getpid();
}
