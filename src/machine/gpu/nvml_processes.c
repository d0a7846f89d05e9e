#include "machine/gpu/nvml_processes.h"

#include "base/array.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A list may grow between the calls for its size and for its entries: the most attempts, and its
 * largest size. */
#define ATTEMPTS 6
#define MAX_ENTRIES 65536u
#define FIRST_ENTRIES 128u
/* Drivers sample processes so often: from once a second to many times. */
#define MAX_PERIOD_NS NS_PER_SECOND
/* After so long without a sample nothing was used, whatever the period. */
#define MAX_IDLE_AFTER_NS (MAX_PERIOD_NS * 3 / 2)
#define MIN_PERIOD_US 50000

void nvml_process_reader_init(
    struct nvml_process_reader *reader, const struct nvml_library *library)
{
    memset(reader, 0, sizeof *reader);
    reader->library = library;
}

void nvml_process_reader_finish(struct nvml_process_reader *reader)
{
    free(reader->buffer);
    free(reader->samples);
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        free(reader->usages[i].entries);
    memset(reader, 0, sizeof *reader);
}

/* Reserves space for `count` entries of `size` bytes in a buffer whose content is not kept. */
static bool grow(void **buffer, unsigned *capacity, unsigned count, size_t size)
{
    if (count <= *capacity)
        return true;
    void *grown = calloc(count, size);
    if (!grown)
        return false;
    free(*buffer);
    *buffer = grown;
    *capacity = count;
    return true;
}

/* The capacity to try next, after `capacity` was too small and the driver returned `needed`. */
static unsigned next_capacity(unsigned capacity, unsigned needed)
{
    unsigned next = capacity * 2;
    if (needed > capacity && needed < MAX_ENTRIES)
        next = needed + needed / 4 + 8;
    return next < MAX_ENTRIES ? next : MAX_ENTRIES;
}

/* Calls one list function until its list fits. */
static int call_list(struct nvml_process_reader *reader, nvml_list_processes *function,
    nvml_device handle, unsigned *count)
{
    unsigned wanted = reader->capacity ? reader->capacity : FIRST_ENTRIES;
    int code = NVML_INSUFFICIENT_SIZE;
    for (int i = 0; i < ATTEMPTS && code == NVML_INSUFFICIENT_SIZE; i++) {
        /* the largest entry of any version: what a driver writes always fits */
        if (!grow(&reader->buffer, &reader->capacity, wanted, sizeof(struct nvml_process_r535)))
            return NVML_INSUFFICIENT_SIZE;
        *count = reader->capacity;
        code = function(handle, count, reader->buffer);
        wanted = next_capacity(reader->capacity, *count);
    }
    if (*count > reader->capacity)
        *count = reader->capacity;
    return code;
}

/* Adds what the driver listed. Returns false without memory. */
static bool add_entries(struct nvml_process_reader *reader, size_t size, unsigned count,
    uint32_t device, struct gpu_process_list *list)
{
    for (unsigned i = 0; i < count; i++) {
        /* All versions begin alike. */
        struct nvml_process_v1 entry;
        memcpy(&entry, (char *)reader->buffer + i * size, sizeof entry);
        struct gpu_process process = {
            .device = device,
            .pid = (pid_t)entry.pid,
            .ram_bytes = entry.used_gpu_memory == NVML_MEMORY_NOT_AVAILABLE
                             ? NAN
                             : (double)entry.used_gpu_memory,
            .sm_percent = NAN,
        };
        if (process.pid > 0 && !gpu_process_list_add(list, process))
            return false;
    }
    return true;
}

/* Reads one kind of list with the newest function that this driver supports. */
static int read_kind(struct nvml_process_reader *reader, enum nvml_process_kind kind,
    nvml_device handle, uint32_t device, struct gpu_process_list *list)
{
    for (enum nvml_process_version version = reader->version[kind]; version < NVML_PROCESS_VERSIONS;
         version++) {
        nvml_list_processes *function = reader->library->processes[kind][version];
        if (!function)
            continue;
        unsigned count = 0;
        int code = call_list(reader, function, handle, &count);
        if (code == NVML_FUNCTION_NOT_FOUND || code == NVML_ARGUMENT_VERSION_MISMATCH)
            continue;
        reader->version[kind] = version;
        if (code == NVML_NOT_FOUND)
            return NVML_SUCCESS;
        if (code == NVML_SUCCESS &&
            !add_entries(reader, nvml_process_size(reader->library, version), count, device, list))
            return NVML_INSUFFICIENT_SIZE;
        return code;
    }
    reader->version[kind] = NVML_PROCESS_VERSIONS;
    return NVML_FUNCTION_NOT_FOUND;
}

static bool is_soft(int code)
{
    return code == NVML_NOT_SUPPORTED || code == NVML_FUNCTION_NOT_FOUND;
}

/* All kinds. Returns why there is no list, or NULL. */
static const char *read_lists(struct nvml_process_reader *reader, nvml_device handle,
    uint32_t device, struct gpu_process_list *list)
{
    int codes[NVML_PROCESS_KINDS];
    for (enum nvml_process_kind kind = 0; kind < NVML_PROCESS_KINDS; kind++)
        codes[kind] = read_kind(reader, kind, handle, device, list);
    /* A kind that is not supported has no processes; MPS adds to compute. */
    if (codes[NVML_COMPUTE] != NVML_SUCCESS && !is_soft(codes[NVML_COMPUTE]))
        return nvml_code_text(codes[NVML_COMPUTE]);
    if (codes[NVML_GRAPHICS] != NVML_SUCCESS && !is_soft(codes[NVML_GRAPHICS]))
        return nvml_code_text(codes[NVML_GRAPHICS]);
    for (enum nvml_process_kind kind = 0; kind < NVML_PROCESS_KINDS; kind++)
        if (codes[kind] == NVML_SUCCESS)
            return NULL;
    return nvml_code_text(codes[NVML_COMPUTE]);
}

/* ---- utilization ---- */

static struct nvml_usage_entry *usage_of(struct nvml_usage *usage, pid_t pid)
{
    for (size_t i = 0; i < usage->count; i++)
        if (usage->entries[i].pid == pid)
            return &usage->entries[i];
    return NULL;
}

/* Keeps the newest valid sample of each process. */
static void add_sample(struct nvml_usage *usage, const struct nvml_process_sample *sample)
{
    if (sample->pid == 0 || sample->sm_percent > 100)
        return;
    struct nvml_usage_entry *entry = usage_of(usage, (pid_t)sample->pid);
    if (!entry) {
        if (!ARRAY_RESERVE(usage->entries, usage->count, usage->capacity))
            return;
        entry = &usage->entries[usage->count++];
        *entry = (struct nvml_usage_entry){.pid = (pid_t)sample->pid};
    }
    if (sample->time_us < entry->time_us)
        return;
    entry->percent = sample->sm_percent;
    entry->time_us = sample->time_us;
}

/* After so long without a sample nothing was used. */
static int64_t idle_after_ns(const struct nvml_usage *usage)
{
    if (!usage->period_us)
        return MAX_IDLE_AFTER_NS;
    return (int64_t)usage->period_us * 1000 * 3 / 2;
}

/* Whether the driver has given none for so long that it may give none at all. */
static bool lacks_samples(const struct nvml_usage *usage, int64_t now_ns)
{
    bool is_recent = usage->last_seen_us && now_ns - usage->seen_ns <= MAX_IDLE_AFTER_NS;
    return usage->count == 0 && !is_recent;
}

/*
 * From when on samples are asked for. The driver gives the mean of each process from then to its
 * last sample, without those that used nothing; so a rest before a process began again is not part
 * of it.
 */
static unsigned long long window_start_us(const struct nvml_usage *usage, int64_t now_ns)
{
    int64_t rest_ns = now_ns - usage->seen_ns - idle_after_ns(usage);
    if (!usage->last_seen_us || rest_ns < 0)
        return usage->last_seen_us;
    return usage->last_seen_us + (unsigned long long)(rest_ns / 1000);
}

static void note_period(struct nvml_usage *usage, unsigned long long newest_us)
{
    unsigned long long passed_us = newest_us - usage->last_seen_us;
    if (passed_us < MIN_PERIOD_US)
        return;
    if (passed_us < MAX_PERIOD_NS / 1000 && (!usage->period_us || passed_us < usage->period_us))
        usage->period_us = passed_us;
}

/* The answer to a question about all since `start_us`. */
static void add_samples(struct nvml_process_reader *reader, struct nvml_usage *usage,
    unsigned count, unsigned long long start_us, int64_t now_ns)
{
    unsigned long long newest_us = start_us;
    for (unsigned i = 0; i < count; i++)
        if (reader->samples[i].time_us > newest_us)
            newest_us = reader->samples[i].time_us;
    if (newest_us == start_us) {
        if (now_ns - usage->seen_ns > idle_after_ns(usage))
            usage->count = 0;
        return;
    }
    usage->count = 0;
    for (unsigned i = 0; i < count; i++)
        if (reader->samples[i].time_us > start_us)
            add_sample(usage, &reader->samples[i]);
    if (usage->last_seen_us)
        note_period(usage, newest_us);
    usage->last_seen_us = newest_us;
    usage->seen_ns = now_ns;
}

/* The call of all drivers since R375. */
static int call_samples(struct nvml_process_reader *reader, nvml_device handle,
    unsigned long long start_us, unsigned *count)
{
    if (!reader->library->process_utilization)
        return NVML_FUNCTION_NOT_FOUND;
    unsigned wanted = reader->sample_capacity ? reader->sample_capacity : FIRST_ENTRIES;
    int code = NVML_INSUFFICIENT_SIZE;
    for (int i = 0; i < ATTEMPTS && code == NVML_INSUFFICIENT_SIZE; i++) {
        if (!grow((void **)&reader->samples, &reader->sample_capacity, wanted,
                sizeof *reader->samples))
            return NVML_INSUFFICIENT_SIZE;
        *count = reader->sample_capacity;
        code = reader->library->process_utilization(handle, reader->samples, count, start_us);
        wanted = next_capacity(reader->sample_capacity, *count);
    }
    if (*count > reader->sample_capacity)
        *count = reader->sample_capacity;
    return code;
}

/* The call of newer drivers; its answer is converted to the older call's form. */
static int call_info(struct nvml_process_reader *reader, nvml_device handle,
    unsigned long long start_us, unsigned *count)
{
    if (!reader->library->processes_utilization)
        return NVML_FUNCTION_NOT_FOUND;
    unsigned capacity = FIRST_ENTRIES;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct nvml_process_utilization *entries = calloc(capacity, sizeof *entries);
        struct nvml_processes_utilization request = {
            .version = NVML_PROCESSES_UTILIZATION_VERSION,
            .count = capacity,
            .last_seen_us = start_us,
            .entries = entries,
        };
        if (!entries || !grow((void **)&reader->samples, &reader->sample_capacity, capacity,
                            sizeof *reader->samples)) {
            free(entries);
            return NVML_INSUFFICIENT_SIZE;
        }
        int code = reader->library->processes_utilization(handle, &request);
        *count = request.count < capacity ? request.count : capacity;
        for (unsigned j = 0; j < *count && code == NVML_SUCCESS; j++)
            reader->samples[j] = (struct nvml_process_sample){
                .pid = entries[j].pid,
                .time_us = entries[j].time_us,
                .sm_percent = entries[j].sm_percent,
            };
        free(entries);
        if (code != NVML_INSUFFICIENT_SIZE)
            return code;
        capacity = next_capacity(capacity, request.count);
    }
    return NVML_INSUFFICIENT_SIZE;
}

/* Asks for the use since then by the older call, and by the newer one where that is refused. */
static int call_usage(struct nvml_process_reader *reader, struct nvml_usage *usage,
    nvml_device handle, unsigned long long start_us, unsigned *count)
{
    int code = NVML_FUNCTION_NOT_FOUND;
    if (!usage->use_info)
        code = call_samples(reader, handle, start_us, count);
    if (!is_soft(code))
        return code;
    code = call_info(reader, handle, start_us, count);
    usage->use_info = code == NVML_SUCCESS || code == NVML_NOT_FOUND;
    return code;
}

/* Updates the utilization of a GPU's processes. Returns why it is missing, or NULL. */
static const char *read_usage(struct nvml_process_reader *reader, struct nvml_usage *usage,
    nvml_device handle, bool is_due, int64_t now_ns)
{
    unsigned count = 0;
    if (usage->unsupported)
        return usage->unsupported;
    if (usage->is_probed && !is_due && !call_pace_is_due(&usage->pace, now_ns))
        return usage->missing;
    usage->is_probed = true;
    unsigned long long start_us = window_start_us(usage, now_ns);
    call_pace_begin(&usage->pace, now_ns);
    int code = call_usage(reader, usage, handle, start_us, &count);
    call_pace_end(&usage->pace, reader->n_gpus);
    bool is_answered = code == NVML_SUCCESS || code == NVML_NOT_FOUND || code == NVML_NO_DATA;
    if (is_soft(code) || code == NVML_ARGUMENT_VERSION_MISMATCH)
        usage->unsupported = nvml_code_text(NVML_NOT_SUPPORTED);
    usage->missing = is_answered ? NULL : nvml_code_text(code);
    if (is_answered)
        add_samples(reader, usage, code == NVML_SUCCESS ? count : 0, start_us, now_ns);
    return usage->missing;
}

void nvml_processes_read(struct nvml_process_reader *reader, nvml_device handle, bool mig,
    uint32_t device, int64_t now_ns, bool is_due, struct gpu_process_list *list)
{
    struct nvml_usage *usage = &reader->usages[device];
    size_t first = list->count;
    list->ram_missing[device] = read_lists(reader, handle, device, list);
    /* Probe it without processes, too: else 0 percent of no process would be reported as
     * missing. */
    if (mig)
        list->sm_missing[device] = "not reported for MIG instances";
    else if (list->ram_missing[device])
        list->sm_missing[device] = list->ram_missing[device];
    else if (list->count > first || !usage->is_probed || usage->unsupported)
        list->sm_missing[device] = read_usage(reader, usage, handle, is_due, now_ns);
    list->lacks_samples[device] = list->count > first && lacks_samples(usage, now_ns);
    for (size_t i = first; i < list->count && !list->sm_missing[device]; i++) {
        const struct nvml_usage_entry *entry = usage_of(usage, list->entries[i].pid);
        list->entries[i].sm_percent = entry ? entry->percent : 0;
    }
}
