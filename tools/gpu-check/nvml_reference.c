#include "nvml_reference.h"

#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SAMPLES = 4096 };

#define NOT_AVAILABLE (~0ull)
#define MEMORY_V2 (2u << 24 | 40)
#define INSTANT_POWER 186

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

/* Entries of a list begin with these; newer drivers have more after them. */
struct process_entry {
    unsigned pid;
    unsigned long long bytes;
};

struct process_sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder;
};

struct field_value {
    unsigned field, scope;
    long long time_us, latency_us;
    unsigned type, code;
    unsigned long long value;
};

struct sample {
    unsigned long long time_us, value;
};

/* Copies a function's address from the library; false: it has none of that name. */
static bool find_function(const struct nvml_reference *nvml, const char *name, void *place)
{
    void *function = dlsym(nvml->library, name);
    memcpy(place, &function, sizeof function);
    return function != NULL;
}

/* Lists have had three layouts, and early R535 drivers wrote a fourth one by the third's name. */
static void find_list(struct nvml_reference *nvml)
{
    void *unused;
    bool is_r535 = find_function(nvml, "nvmlDeviceGetConfComputeMemSizeInfo", &unused) &&
                   !find_function(nvml, "nvmlDeviceGetRunningProcessDetailList", &unused);
    if (find_function(nvml, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml->processes))
        nvml->entry_size = is_r535 ? 32 : 24;
    else if (find_function(nvml, "nvmlDeviceGetComputeRunningProcesses_v2", &nvml->processes))
        nvml->entry_size = 24;
    else if (find_function(nvml, "nvmlDeviceGetComputeRunningProcesses", &nvml->processes))
        nvml->entry_size = sizeof(struct process_entry);
}

static void find_functions(struct nvml_reference *nvml)
{
    find_function(nvml, "nvmlDeviceGetMemoryInfo_v2", &nvml->memory);
    find_function(nvml, "nvmlDeviceGetUtilizationRates", &nvml->utilization);
    find_function(nvml, "nvmlDeviceGetPowerUsage", &nvml->power);
    find_function(nvml, "nvmlDeviceGetFieldValues", &nvml->fields);
    find_function(nvml, "nvmlDeviceGetTotalEnergyConsumption", &nvml->energy);
    find_function(nvml, "nvmlDeviceGetProcessUtilization", &nvml->process_utilization);
    find_function(nvml, "nvmlDeviceGetSamples", &nvml->samples);
    find_list(nvml);
}

static bool read_text(
    const struct nvml_reference *nvml, const char *function, void *device, char *text, size_t size)
{
    int (*read)(void *, char *, unsigned);
    return find_function(nvml, function, &read) && read(device, text, (unsigned)size) == 0;
}

static bool has_uuid(const struct nvml_reference *nvml, void *device, const char *wanted)
{
    char uuid[96];
    return *wanted && read_text(nvml, "nvmlDeviceGetUUID", device, uuid, sizeof uuid) &&
           strncmp(uuid, wanted, strlen(wanted)) == 0;
}

/* The instance of that UUID, or the first one, of a GPU that is split. */
static bool choose_instance(struct nvml_reference *nvml, const char *wanted)
{
    int (*mode)(void *, unsigned *, unsigned *), (*by_index)(void *, unsigned, void **);
    unsigned current, pending;
    if (!find_function(nvml, "nvmlDeviceGetMigMode", &mode) ||
        !find_function(nvml, "nvmlDeviceGetMigDeviceHandleByIndex", &by_index) ||
        mode(nvml->card, &current, &pending) != 0 || current != 1)
        return false;
    bool is_found = false;
    for (unsigned i = 0; i < MAX_GPUS; i++) {
        void *instance;
        if (by_index(nvml->card, i, &instance) != 0)
            continue;
        bool is_wanted = has_uuid(nvml, instance, wanted);
        if (!nvml->is_mig || is_wanted)
            nvml->device = instance;
        nvml->is_mig = true;
        is_found = is_found || is_wanted;
    }
    return is_found;
}

/* An index, a UUID of a GPU or of an instance; "": the first GPU. false: there is none. */
static bool choose_device(struct nvml_reference *nvml, const char *wanted)
{
    unsigned index = isdigit((unsigned char)*wanted) ? (unsigned)atoi(wanted) : 0;
    bool is_uuid = isalpha((unsigned char)*wanted);
    for (unsigned i = 0; i < nvml->n_cards; i++) {
        if (!is_uuid && i != index)
            continue;
        nvml->card = nvml->device = nvml->cards[i];
        nvml->is_mig = false;
        bool is_instance = choose_instance(nvml, wanted);
        if (!is_uuid || is_instance || has_uuid(nvml, nvml->card, wanted))
            return true;
    }
    return false;
}

static bool find_device(struct nvml_reference *nvml, const char **message)
{
    int (*init)(void), (*by_index)(unsigned, void **), (*driver)(char *, unsigned);
    const char *wanted = getenv("GPU_CHECK_GPU"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    char first[96];
    snprintf(first, sizeof first, "%s", wanted ? wanted : visible ? visible : "");
    first[strcspn(first, ",")] = '\0';
    *message = "the library has not the functions of NVML, or does not start";
    if (!find_function(nvml, "nvmlInit_v2", &init) ||
        !find_function(nvml, "nvmlDeviceGetHandleByIndex_v2", &by_index) ||
        !find_function(nvml, "nvmlSystemGetDriverVersion", &driver) || init() != 0)
        return false;
    /* A GPU that this user may not use has no handle, and still its index. */
    for (unsigned i = 0; i < MAX_GPUS; i++)
        if (by_index(i, &nvml->cards[nvml->n_cards]) == 0)
            nvml->n_cards++;
    *message = "NVML finds no GPU, or not that which GPU_CHECK_GPU or CUDA_VISIBLE_DEVICES names";
    return choose_device(nvml, first) &&
           read_text(nvml, "nvmlDeviceGetName", nvml->device, nvml->name, sizeof nvml->name) &&
           read_text(nvml, "nvmlDeviceGetUUID", nvml->device, nvml->uuid, sizeof nvml->uuid) &&
           driver(nvml->driver, sizeof nvml->driver) == 0;
}

bool nvml_reference_open(struct nvml_reference *nvml, const char **message)
{
    const char *path = getenv("GPUT_NVML");
    memset(nvml, 0, sizeof *nvml);
    nvml->library = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW);
    if (!nvml->library) {
        *message = dlerror();
        return false;
    }
    find_functions(nvml);
    if (!find_device(nvml, message))
        return false;
    nvml->used_before = nvml_reference_read(nvml, NVML_MEMORY);
    nvml->n_before = nvml_reference_process_count(nvml);
    double bytes = nvml_reference_read(nvml, NVML_PROCESSES);
    nvml->bytes_before = isnan(bytes) ? 0 : bytes;
    return true;
}

const char *nvml_call_name(enum nvml_call call)
{
    static const char *const names[] = {"memory in use", "utilization", "power", "energy counter",
        "list of processes", "utilization of processes"};
    return names[call];
}

int nvml_reference_list(struct nvml_reference *nvml, struct nvml_process *processes, int size)
{
    unsigned char entries[MAX_LISTED * 32];
    unsigned count = MAX_LISTED;
    if (!nvml->processes || nvml->processes(nvml->device, &count, entries) != 0)
        return -1;
    for (int i = 0; i < (int)count && i < size; i++) {
        struct process_entry entry;
        memcpy(&entry, entries + (size_t)i * nvml->entry_size, sizeof entry);
        processes[i] = (struct nvml_process){
            (pid_t)entry.pid, entry.bytes == NOT_AVAILABLE ? NAN : (double)entry.bytes};
    }
    return (int)count;
}

int nvml_reference_process_count(struct nvml_reference *nvml)
{
    struct nvml_process processes[1];
    return nvml_reference_list(nvml, processes, 1);
}

static double read_memory(struct nvml_reference *nvml)
{
    struct memory_v2 memory = {.version = MEMORY_V2};
    return nvml->memory && nvml->memory(nvml->device, &memory) == 0 ? (double)memory.used : NAN;
}

double nvml_reference_free_bytes(struct nvml_reference *nvml)
{
    struct memory_v2 memory = {.version = MEMORY_V2};
    return nvml->memory && nvml->memory(nvml->device, &memory) == 0 ? (double)memory.free : NAN;
}

static double read_utilization(struct nvml_reference *nvml)
{
    unsigned rates[2]; /* GPU, memory */
    return nvml->utilization && nvml->utilization(nvml->device, rates) == 0 ? rates[0] : NAN;
}

/* Of the moment; the older call gives the mean of the last second on newer GPUs. */
static double read_power(struct nvml_reference *nvml)
{
    unsigned milliwatts;
    struct field_value instant = {.field = INSTANT_POWER};
    if (nvml->fields && nvml->fields(nvml->device, 1, &instant) == 0 && instant.code == 0)
        return (double)(instant.value & 0xffffffff) / 1e3;
    return nvml->power && nvml->power(nvml->device, &milliwatts) == 0 ? milliwatts / 1e3 : NAN;
}

static double read_energy(struct nvml_reference *nvml)
{
    double joules = NAN;
    for (unsigned i = 0; i < nvml->n_cards && nvml->energy; i++) {
        unsigned long long millijoules;
        if (nvml->energy(nvml->cards[i], &millijoules) == 0)
            joules = (isnan(joules) ? 0 : joules) + (double)millijoules / 1e3;
    }
    return joules;
}

static double read_process_bytes(struct nvml_reference *nvml)
{
    struct nvml_process processes[MAX_LISTED];
    int count = nvml_reference_list(nvml, processes, MAX_LISTED);
    double sum = count < 0 ? NAN : 0;
    for (int i = 0; i < count; i++)
        sum += processes[i].bytes;
    return sum;
}

static unsigned read_process_samples(
    struct nvml_reference *nvml, struct process_sample *samples, unsigned size)
{
    unsigned count = size;
    if (!nvml->process_utilization ||
        nvml->process_utilization(nvml->device, samples, &count, 0) != 0)
        return 0;
    return count < size ? count : size;
}

static double read_process_utilization(struct nvml_reference *nvml)
{
    struct process_sample samples[MAX_LISTED];
    unsigned count = read_process_samples(nvml, samples, MAX_LISTED), busiest = 0;
    for (unsigned i = 0; i < count; i++)
        if (samples[i].sm <= 100 && samples[i].sm > busiest)
            busiest = samples[i].sm;
    return count ? busiest : NAN;
}

double nvml_reference_read(struct nvml_reference *nvml, enum nvml_call call)
{
    static double (*const readers[])(struct nvml_reference *) = {read_memory, read_utilization,
        read_power, read_energy, read_process_bytes, read_process_utilization};
    return readers[call](nvml);
}

static int compare_times(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

size_t nvml_reference_sample_times(
    struct nvml_reference *nvml, enum nvml_samples type, uint64_t *times_us, size_t size)
{
    static struct sample samples[MAX_SAMPLES];
    unsigned count = MAX_SAMPLES;
    int value_type;
    if (!nvml->samples ||
        nvml->samples(nvml->device, (int)type, 0, &value_type, &count, samples) != 0)
        return 0;
    count = count < size ? count : (unsigned)size;
    for (unsigned i = 0; i < count; i++)
        times_us[i] = samples[i].time_us;
    qsort(times_us, count, sizeof *times_us, compare_times);
    return count;
}

uint64_t nvml_reference_process_sample_us(struct nvml_reference *nvml)
{
    struct process_sample samples[MAX_LISTED];
    unsigned count = read_process_samples(nvml, samples, MAX_LISTED);
    uint64_t newest = 0;
    for (unsigned i = 0; i < count; i++)
        if (samples[i].time_us > newest)
            newest = samples[i].time_us;
    return newest;
}

double nvml_reference_number(struct nvml_reference *nvml, const char *function, int type)
{
    int (*plain)(void *, unsigned *), (*typed)(void *, unsigned, unsigned *);
    unsigned value = 0;
    bool is_read = type < 0
                       ? find_function(nvml, function, &plain) && plain(nvml->card, &value) == 0
                       : find_function(nvml, function, &typed) &&
                             typed(nvml->card, (unsigned)type, &value) == 0;
    return is_read ? value : NAN;
}

double nvml_reference_field(struct nvml_reference *nvml, unsigned field, unsigned scope)
{
    enum { UNSIGNED = 1, UNSIGNED_LONG = 2, UNSIGNED_LONG_LONG = 3, INT = 5 };
    struct field_value value = {.field = field, .scope = scope};
    if (!nvml->fields || nvml->fields(nvml->card, 1, &value) != 0 || value.code != 0)
        return NAN;
    switch (value.type) {
    case UNSIGNED:
        return (unsigned)value.value;
    case UNSIGNED_LONG:
    case UNSIGNED_LONG_LONG:
        return (double)value.value;
    case INT:
        return (int)value.value;
    default:
        return NAN;
    }
}

/* Takes a sample of the counters of the GPU, or of the instance that is checked. */
static bool take_sample(const struct nvml_reference *nvml, void *sample)
{
    int (*take)(void *, void *), (*take_of)(void *, unsigned, void *),
        (*number)(void *, unsigned *);
    unsigned instance;
    if (!nvml->is_mig)
        return find_function(nvml, "nvmlGpmSampleGet", &take) && take(nvml->card, sample) == 0;
    return find_function(nvml, "nvmlGpmMigSampleGet", &take_of) &&
           find_function(nvml, "nvmlDeviceGetGpuInstanceId", &number) &&
           number(nvml->device, &instance) == 0 && take_of(nvml->card, instance, sample) == 0;
}

void nvml_reference_parts(
    struct nvml_reference *nvml, const unsigned *metrics, size_t count, double *values)
{
    int (*allocate)(void **), (*release)(void *), (*compute)(void *);
    struct {
        unsigned version, count;
        void *before, *now;
        struct {
            unsigned metric;
            int code;
            double value;
            char *names[3];
        } metrics[MAX_PARTS];
    } request = {.version = 1, .count = (unsigned)count};
    const struct timespec pause = {0, 250000000};
    for (size_t i = 0; i < count; i++) {
        values[i] = NAN;
        request.metrics[i].metric = metrics[i];
    }
    if (!find_function(nvml, "nvmlGpmSampleAlloc", &allocate) ||
        !find_function(nvml, "nvmlGpmSampleFree", &release) ||
        !find_function(nvml, "nvmlGpmMetricsGet", &compute) || allocate(&request.before) != 0)
        return;
    if (allocate(&request.now) == 0) {
        bool is_taken = take_sample(nvml, request.before);
        nanosleep(&pause, NULL);
        if (is_taken && take_sample(nvml, request.now) && compute(&request) == 0)
            for (size_t i = 0; i < count; i++)
                values[i] = request.metrics[i].code == 0 ? request.metrics[i].value : NAN;
        release(request.now);
    }
    release(request.before);
}

enum nvml_compute_mode nvml_reference_compute_mode(struct nvml_reference *nvml)
{
    int (*read)(void *, unsigned *);
    unsigned mode = NVML_COMPUTE_SHARED;
    if (!find_function(nvml, "nvmlDeviceGetComputeMode", &read) || read(nvml->card, &mode) != 0)
        return NVML_COMPUTE_SHARED;
    return (enum nvml_compute_mode)mode;
}

static const char *word_of(unsigned number, const char *const *words, size_t count)
{
    return number < count ? words[number] : "unknown";
}

/* Some modes have a second number, of the mode after the next start. */
static void describe_mode(struct nvml_reference *nvml, json_t *machine, const char *key,
    const char *function, const char *const *words, size_t count)
{
    int (*read)(void *, unsigned *, unsigned *);
    unsigned mode = 0, pending = 0;
    bool is_known = find_function(nvml, function, &read) && read(nvml->card, &mode, &pending) == 0;
    json_object_set_new(
        machine, key, json_string(is_known ? word_of(mode, words, count) : "not said"));
}

void nvml_reference_describe(struct nvml_reference *nvml, json_t *machine)
{
    static const char *const states[] = {"off", "on"};
    static const char *const compute[] = {
        "shared", "one thread", "prohibited", "one process (exclusive)"};
    static const char *const virtualization[] = {
        "none", "passed through to a virtual machine", "vGPU", "host of vGPUs", "host of vGPUs"};
    char text[32];
    snprintf(text, sizeof text, "%u", nvml->n_cards);
    json_object_set_new(machine, "GPUs", json_string(text));
    describe_mode(nvml, machine, "MIG", "nvmlDeviceGetMigMode", states, 2);
    describe_mode(nvml, machine, "ECC", "nvmlDeviceGetEccMode", states, 2);
    describe_mode(nvml, machine, "persistence", "nvmlDeviceGetPersistenceMode", states, 2);
    describe_mode(nvml, machine, "compute mode", "nvmlDeviceGetComputeMode", compute, 4);
    describe_mode(
        nvml, machine, "virtualization", "nvmlDeviceGetVirtualizationMode", virtualization, 5);
}
