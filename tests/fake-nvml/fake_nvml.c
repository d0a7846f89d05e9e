/*
 * A libnvidia-ml.so.1 without a GPU: answers what a text file says. The file, named by
 * FAKE_NVML_SCENARIO, is read again for every call, so that a test can change it while a program
 * runs. See README.md for its lines.
 *
 * Layouts are written out here once more, on purpose: the code under test has its own, and the two
 * have to agree.
 *
 * FAKE_ONLY_V1, FAKE_ONLY_V2, FAKE_R535 and FAKE_MINIMAL leave out functions, as drivers do.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int nvmlReturn_t;
typedef void *nvmlDevice_t;

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    ARGUMENT_VERSION_MISMATCH = 25,
    UNKNOWN = 999,
};

#define MAX_GPUS 16
#define MAX_MIG 8
#define MAX_ENTRIES 256
#define MAX_RULES 64
#define PIECE_MS 5

/* ---- the scenario ---- */

struct entry {
    char kind; /* c compute, g graphics, m MPS, s utilization sample */
    unsigned pid;
    unsigned long long value; /* bytes, or the time stamp of a sample */
    unsigned percent;
};

struct rule {
    char call[48];
    int number;
};

struct device {
    char uuid[96], name[96];
    unsigned domain, bus, slot;
    unsigned long long total, reserved, used, energy_mj, module_energy_mj;
    unsigned utilization, power_mw;
    int n_rules;
    struct rule rules[MAX_RULES]; /* codes of calls on this GPU */
    int n_entries;
    struct entry *entries; /* MAX_ENTRIES */
};

struct gpu {
    struct device self;
    unsigned mig_current;
    int n_mig;
    struct device mig[MAX_MIG];
};

static struct scenario {
    char driver[80];
    unsigned generation; /* of handles: older ones are stale */
    int grow;            /* entries that are added between two calls of a list */
    int n_codes, n_delays, n_gpus;
    struct rule codes[MAX_RULES], delays[MAX_RULES];
    struct gpu gpus[MAX_GPUS];
} scenario;

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
    else if (strcmp(key, "energy_mj") == 0)
        device->energy_mj = strtoull(rest, NULL, 10);
    else if (strcmp(key, "module_energy_mj") == 0)
        device->module_energy_mj = strtoull(rest, NULL, 10);
    else if (strcmp(key, "code") == 0 && sscanf(rest, "%47s %d", call, &code) == 2)
        add_rule(device->rules, &device->n_rules, call, code);
    else if (device->n_entries < MAX_ENTRIES &&
             sscanf(rest, "%u %31s %u", &pid, word, &percent) >= 2 && strchr("cgms", key[0])) {
        value = strcmp(word, "na") == 0 ? ~0ull : strtoull(word, NULL, 10);
        device->entries[device->n_entries++] =
            (struct entry){.kind = key[0], .pid = pid, .value = value, .percent = percent};
    }
}

static void read_scenario(void)
{
    static struct scenario fresh;
    struct device *device = NULL;
    const char *path = getenv("FAKE_NVML_SCENARIO");
    if (loaded && getenv("FAKE_NVML_READ_ONCE"))
        return;
    memset(&fresh, 0, sizeof fresh);
    snprintf(fresh.driver, sizeof fresh.driver, "550.54.14");
    FILE *file = path ? fopen(path, "re") : NULL;
    char line[512], key[32], call[48];
    int number;
    while (file && fgets(line, sizeof line, file)) {
        int offset = 0;
        line[strcspn(line, "\n#")] = '\0';
        if (sscanf(line, " %31s %n", key, &offset) != 1)
            continue;
        const char *rest = line + offset;
        if (strcmp(key, "gpu") == 0 && fresh.n_gpus < MAX_GPUS) {
            int index = fresh.n_gpus++;
            device = &fresh.gpus[index].self;
            device->entries = entry_store[index * (MAX_MIG + 1)];
            device->bus = (unsigned)index + 1;
            snprintf(device->uuid, sizeof device->uuid, "%s", rest);
            snprintf(device->name, sizeof device->name, "Fake GPU");
        } else if (strcmp(key, "mig") == 0 && fresh.n_gpus &&
                   fresh.gpus[fresh.n_gpus - 1].n_mig < MAX_MIG) {
            struct gpu *gpu = &fresh.gpus[fresh.n_gpus - 1];
            gpu->mig_current = 1;
            device = &gpu->mig[gpu->n_mig++];
            device->entries = entry_store[(fresh.n_gpus - 1) * (MAX_MIG + 1) + gpu->n_mig];
            snprintf(device->uuid, sizeof device->uuid, "%s", rest);
            snprintf(device->name, sizeof device->name, "Fake GPU MIG 1g.5gb");
        } else if (device) {
            read_device_line(device, key, rest);
        } else if (strcmp(key, "driver") == 0) {
            snprintf(fresh.driver, sizeof fresh.driver, "%s", rest);
        } else if (strcmp(key, "generation") == 0) {
            fresh.generation = (unsigned)atoi(rest);
        } else if (strcmp(key, "grow") == 0) {
            fresh.grow = atoi(rest);
        } else if (strcmp(key, "code") == 0 && sscanf(rest, "%47s %d", call, &number) == 2) {
            add_rule(fresh.codes, &fresh.n_codes, call, number);
        } else if (strcmp(key, "delay_ms") == 0 && sscanf(rest, "%47s %d", call, &number) == 2) {
            add_rule(fresh.delays, &fresh.n_delays, call, number);
        }
    }
    if (file)
        fclose(file);
    scenario = fresh;
    loaded = true;
}

/* ---- what all calls do first ---- */

static int rule_for(const struct rule *rules, int count, const char *call)
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

static int begin(const char *call)
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
    return code;
}

static int end(int code)
{
    pthread_mutex_unlock(&lock);
    return code;
}

/* Handles say generation, GPU and MIG instance (0: the GPU itself). */
static nvmlDevice_t make_handle(unsigned gpu, unsigned mig)
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

/* The start of a call on a device: its code, and the device when that is SUCCESS. */
static int begin_on(const char *call, nvmlDevice_t handle, struct device **device)
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

/* As drivers do; it stays open, as theirs does for as long as the library is in use. */
static void open_control_file(void)
{
    static int descriptor = -1;
    const char *path = getenv("FAKE_NVML_CONTROL");
    if (path && descriptor < 0)
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
}

/* ---- the library ---- */

EXPORT nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInit_v2(void)
{
    int code = begin("nvmlInit");
    if (code == SUCCESS) {
        initialized_by = getpid();
        inits++;
        open_control_file();
    }
    return end(code);
}

EXPORT nvmlReturn_t nvmlShutdown(void);
nvmlReturn_t nvmlShutdown(void)
{
    int code = begin("nvmlShutdown");
    inits--;
    return end(code);
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length);
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    int code = begin("nvmlSystemGetDriverVersion");
    snprintf(version, length, "%s", scenario.driver);
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count)
{
    int code = begin("nvmlDeviceGetCount");
    *count = (unsigned)scenario.n_gpus;
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    int code = begin("nvmlDeviceGetHandleByIndex");
    if (index >= (unsigned)scenario.n_gpus)
        return end(INVALID_ARGUMENT);
    struct device *self = &scenario.gpus[index].self;
    if (code == SUCCESS)
        code = rule_for(self->rules, self->n_rules, "nvmlDeviceGetHandleByIndex");
    if (code == SUCCESS)
        *device = make_handle(index, 0);
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *name, unsigned length);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *name, unsigned length)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetName", handle, &device);
    if (code == SUCCESS)
        snprintf(name, length, "%s", device->name);
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *uuid, unsigned length);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *uuid, unsigned length)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetUUID", handle, &device);
    if (code == SUCCESS)
        snprintf(uuid, length, "%s", device->uuid);
    return end(code);
}

struct memory_v1 {
    unsigned long long total, free, used;
};

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, struct memory_v1 *memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, struct memory_v1 *memory)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMemoryInfo", handle, &device);
    if (code == SUCCESS) {
        unsigned long long used = device->used + device->reserved;
        *memory = (struct memory_v1){device->total, device->total - used, used};
    }
    return end(code);
}

struct utilization {
    unsigned gpu, memory;
};

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(
    nvmlDevice_t handle, struct utilization *utilization);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, struct utilization *utilization)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetUtilizationRates", handle, &device);
    if (code == SUCCESS)
        *utilization = (struct utilization){device->utilization, 10};
    return end(code);
}

/* ---- processes ---- */

struct process_v1 {
    unsigned pid;
    unsigned long long used;
};

/* Writes the entries of a kind, each `size` bytes, the first 16 of them as above. */
static int list_processes(
    const char *call, nvmlDevice_t handle, unsigned *count, void *entries, char kind, size_t size)
{
    static int calls;
    struct device *device;
    int code = begin_on(call, handle, &device);
    if (code != SUCCESS)
        return end(code);
    unsigned found = 0;
    for (int i = 0; i < device->n_entries; i++)
        found += device->entries[i].kind == kind;
    unsigned grown = found ? found + (unsigned)(scenario.grow * calls++) : found;
    if (grown > *count) {
        *count = grown;
        return end(INSUFFICIENT_SIZE);
    }
    unsigned written = 0;
    for (int i = 0; i < device->n_entries; i++) {
        if (device->entries[i].kind != kind)
            continue;
        struct process_v1 process = {device->entries[i].pid, device->entries[i].value};
        unsigned char *at = (unsigned char *)entries + size * written++;
        memset(at, 0xff, size);
        memcpy(at, &process, sizeof process);
    }
    *count = written;
    return end(SUCCESS);
}

#define LIST(function, call, kind, size)                                                           \
    EXPORT nvmlReturn_t function(nvmlDevice_t handle, unsigned *count, void *entries);             \
    nvmlReturn_t function(nvmlDevice_t handle, unsigned *count, void *entries)                     \
    {                                                                                              \
        return list_processes(call, handle, count, entries, kind, size);                           \
    }

LIST(nvmlDeviceGetComputeRunningProcesses, "nvmlDeviceGetComputeRunningProcesses", 'c', 16)
LIST(nvmlDeviceGetGraphicsRunningProcesses, "nvmlDeviceGetGraphicsRunningProcesses", 'g', 16)
#ifndef FAKE_ONLY_V1
LIST(nvmlDeviceGetComputeRunningProcesses_v2, "nvmlDeviceGetComputeRunningProcesses_v2", 'c', 24)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, "nvmlDeviceGetGraphicsRunningProcesses_v2", 'g', 24)
#ifndef FAKE_ONLY_V2
#ifdef FAKE_R535
#define V3_SIZE 32
#else
#define V3_SIZE 24
#endif
LIST(nvmlDeviceGetComputeRunningProcesses_v3, "nvmlDeviceGetComputeRunningProcesses_v3", 'c',
    V3_SIZE)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, "nvmlDeviceGetGraphicsRunningProcesses_v3", 'g',
    V3_SIZE)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, "nvmlDeviceGetMPSComputeRunningProcesses_v3", 'm',
    V3_SIZE)
#endif
#endif

#ifdef FAKE_R535
EXPORT nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t handle, void *info);
nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t handle, void *info)
{
    (void)handle;
    (void)info;
    return NOT_SUPPORTED;
}
#endif

#ifndef FAKE_MINIMAL

EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *handle);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *handle)
{
    int code = begin("nvmlDeviceGetHandleByUUID");
    for (int i = 0; i < scenario.n_gpus && code == SUCCESS; i++)
        if (strcmp(scenario.gpus[i].self.uuid, uuid) == 0) {
            *handle = make_handle((unsigned)i, 0);
            return end(SUCCESS);
        }
    return end(code == SUCCESS ? NOT_FOUND : code);
}

struct pci {
    char legacy[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char bus_id[32];
};

EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, struct pci *pci);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, struct pci *pci)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetPciInfo", handle, &device);
    if (code != SUCCESS)
        return end(code);
    *pci = (struct pci){.domain = device->domain, .bus = device->bus, .device = device->slot};
    snprintf(pci->legacy, sizeof pci->legacy, "%04X:%02X:%02X.0", device->domain & 0xffff,
        device->bus & 0xff, device->slot & 0xff);
    snprintf(pci->bus_id, sizeof pci->bus_id, "%08X:%02X:%02X.0", device->domain,
        device->bus & 0xff, device->slot & 0xff);
    return end(SUCCESS);
}

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, struct memory_v2 *memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, struct memory_v2 *memory)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMemoryInfo_v2", handle, &device);
    if (code == SUCCESS && memory->version != (2u << 24 | 40))
        return end(ARGUMENT_VERSION_MISMATCH);
    if (code == SUCCESS) {
        memory->total = device->total;
        memory->reserved = device->reserved;
        memory->used = device->used;
        memory->free = device->total - device->used - device->reserved;
    }
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned *milliwatts);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned *milliwatts)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetPowerUsage", handle, &device);
    if (code == SUCCESS)
        *milliwatts = device->power_mw;
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(
    nvmlDevice_t handle, unsigned long long *millijoules);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(
    nvmlDevice_t handle, unsigned long long *millijoules)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetTotalEnergyConsumption", handle, &device);
    if (code == SUCCESS)
        *millijoules = device->energy_mj;
    return end(code);
}

struct field_value {
    unsigned field, scope;
    long long timestamp, latency;
    int type, code;
    unsigned long long value;
};

EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(
    nvmlDevice_t handle, int count, struct field_value *values);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t handle, int count, struct field_value *values)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetFieldValues", handle, &device);
    for (int i = 0; i < count && code == SUCCESS; i++) {
        bool has_value = values[i].field == 83 && values[i].scope == 1 && device->module_energy_mj;
        values[i].code = has_value ? SUCCESS : NOT_SUPPORTED;
        values[i].type = 3;
        values[i].value = has_value ? device->module_energy_mj : 0;
    }
    return end(code);
}

struct process_sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder;
};

EXPORT nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle,
    struct process_sample *samples, unsigned *count, unsigned long long last_seen_us);
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle, struct process_sample *samples,
    unsigned *count, unsigned long long last_seen_us)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetProcessUtilization", handle, &device);
    if (code != SUCCESS)
        return end(code);
    if (!samples) {
        *count = 100;
        return end(INSUFFICIENT_SIZE);
    }
    unsigned written = 0;
    for (int i = 0; i < device->n_entries; i++) {
        const struct entry *entry = &device->entries[i];
        if (entry->kind != 's' || entry->value <= last_seen_us)
            continue;
        if (written == *count) {
            *count = (unsigned)device->n_entries;
            return end(INSUFFICIENT_SIZE);
        }
        samples[written++] = (struct process_sample){
            .pid = entry->pid, .time_us = entry->value, .sm = entry->percent};
    }
    *count = written;
    return end(written ? SUCCESS : NOT_FOUND);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned *current, unsigned *pending);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned *current, unsigned *pending)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMigMode", handle, &device);
    if (code != SUCCESS)
        return end(code);
    *current = *pending = ((struct gpu *)device)->mig_current;
    return end(SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned *count);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned *count)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMaxMigDeviceCount", handle, &device);
    *count = 7;
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(
    nvmlDevice_t handle, unsigned index, nvmlDevice_t *instance);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(
    nvmlDevice_t handle, unsigned index, nvmlDevice_t *instance)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMigDeviceHandleByIndex", handle, &device);
    if (code != SUCCESS)
        return end(code);
    if (index >= (unsigned)((struct gpu *)device)->n_mig)
        return end(NOT_FOUND);
    unsigned gpu = (unsigned)((uintptr_t)handle / 0x10 % 0x100);
    *instance = make_handle(gpu, index + 1);
    return end(SUCCESS);
}

#endif
