/*
 * AMD GPUs of the amdgpu driver: sysfs for the card, the compute driver (KFD) and the card's
 * clients for processes.
 */

#include "machine/gpu/amdgpu.h"

#include "base/clock.h"
#include "base/number.h"
#include "machine/gpu/drm_card.h"
#include "machine/gpu/drm_clients.h"
#include "machine/gpu/pid_owner.h"
#include "machine/gpu/source.h"
#include "machine/os/procfs.h"
#include "machine/os/sysfs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char not_reported[] = "the amdgpu driver does not report it for this GPU";
static const char refused[] = "the system denies reading it";
static const char gone[] = "the GPU was removed";

struct amdgpu_state {
    struct drm_gpus gpus; /* an integrated one uses system RAM beyond a small reserved part */
    struct kfd_card kfd[GPU_MAX_DEVICES];
    struct drm_figures figures[GPU_MAX_DEVICES];
    struct gpu_metrics_slowed slowed[GPU_MAX_DEVICES];
};

static bool is_amdgpu(const struct drm_card *card, const struct gpu_source_options *options)
{
    (void)options;
    if (card->driver[0])
        return strcmp(card->driver, "amdgpu") == 0;
    return card->vendor == GPU_VENDOR_AMD;
}

static bool are_sensors_of_card(const char *folder, const char *name)
{
    (void)folder;
    return name[0] == '\0' || strcmp(name, "amdgpu") == 0;
}

/* Only APUs have the voltage rail of a north bridge, or CPU cores in the same node. */
static bool is_apu(const struct drm_card *card, bool has_cores)
{
    char label[32];
    return has_cores ||
           (card->sensors[0] && sysfs_read_line(card->sensors, "in1_label", label, sizeof label) &&
               strcmp(label, "vddnb") == 0);
}

/* Finds the sensors of a card, and the card in KFD. */
static void find_parts(struct amdgpu_state *state, uint32_t index)
{
    struct drm_gpus *gpus = &state->gpus;
    struct drm_card *card = &gpus->cards[index];
    struct drm_target *target = &gpus->targets[index];
    struct kfd_card *kfd = &state->kfd[index];
    drm_card_find_sensors(card, are_sensors_of_card);
    kfd_find_card(gpus->options.sysfs_root, card, target->render_number, gpus->count == 1, kfd);
    target->integrated = is_apu(card, kfd->has_cores);
}

/* Finds the AMD cards of the kernel's DRM subsystem. */
static void *amdgpu_probe(
    const struct gpu_source_options *options, struct gpu_source_status *status)
{
    struct amdgpu_state *state = drm_gpus_create(options, sizeof *state, is_amdgpu, "AMD", status);
    for (uint32_t i = 0; state && i < state->gpus.count; i++)
        find_parts(state, i);
    return state;
}

/* Says from which interfaces the figures come. */
static bool amdgpu_open(void *opaque, struct gpu_source_status *status)
{
    const struct amdgpu_state *state = opaque;
    bool kfd = false;
    for (uint32_t i = 0; i < state->gpus.count; i++)
        kfd |= state->kfd[i].n_ids > 0;
    gpu_source_status_set(status, GPU_SOURCE_AVAILABLE, "", "sysfs, fdinfo%s",
        kfd ? ", KFD" : " (no KFD: ROCm is not set up)");
    return true;
}

/* Bytes of the card's memory; of an APU also the system RAM it may use (GTT). NaN, with errno set,
 * when unknown. `which` is "total" or "used". */
static double read_ram(const struct drm_gpus *gpus, uint32_t index, const char *which)
{
    const char *folder = gpus->cards[index].folder;
    char name[48];
    uint64_t vram, gtt;
    snprintf(name, sizeof name, "mem_info_vram_%s", which);
    if (!sysfs_read_uint64(folder, name, &vram))
        return NAN;
    snprintf(name, sizeof name, "mem_info_gtt_%s", which);
    if (gpus->targets[index].integrated && sysfs_read_uint64(folder, name, &gtt))
        vram += gtt;
    return (double)vram;
}

/* Describes each card as sysfs does. */
static uint32_t amdgpu_list_devices(void *opaque, struct gpu_device *devices, uint32_t capacity)
{
    const struct amdgpu_state *state = opaque;
    const struct drm_gpus *gpus = &state->gpus;
    uint32_t count = gpus->count < capacity ? gpus->count : capacity;
    for (uint32_t i = 0; i < count; i++) {
        const struct drm_card *card = &gpus->cards[i];
        char text[64];
        drm_card_describe(card, "amdgpu", &devices[i]);
        devices[i].in_package = gpus->targets[i].integrated;
        devices[i].n_partitions = state->kfd[i].n_ids;
        /* ROCm does not have a card that KFD has not: it does not come before the others. */
        devices[i].vendor_number =
            state->kfd[i].n_ids > 0 ? (uint32_t)state->kfd[i].number : UINT32_MAX;
        devices[i].ram_capacity_bytes = read_ram(gpus, i, "total");
        if (sysfs_read_line(card->folder, "unique_id", text, sizeof text) && text[0])
            snprintf(devices[i].uuid, sizeof devices[i].uuid, "GPU-%s", text);
        if (sysfs_read_line(card->folder, "product_name", text, sizeof text) && text[0])
            snprintf(devices[i].name, sizeof devices[i].name, "%s%s",
                strncmp(text, "AMD", 3) == 0 ? "" : "AMD ", text);
    }
    return count;
}

/* Returns why a figure is missing, by errno. */
static const char *reason_of_errno(void)
{
    switch (errno) {
    case EPERM: /* amdgpu returns this for a GPU that has just been suspended */
        return drm_card_suspended_reason;
    case EACCES:
        return refused;
    case ENODEV:
        return gone;
    default:
        return not_reported;
    }
}

/* Reads the figures of a card from sysfs. A suspended one is left asleep. */
static void amdgpu_read_device(
    void *opaque, uint32_t index, bool whole, struct gpu_device_reading *reading)
{
    struct amdgpu_state *state = opaque;
    const struct drm_gpus *gpus = &state->gpus;
    const struct drm_card *card = &gpus->cards[index];
    uint64_t percent;
    if (sysfs_is_suspended(card->folder)) {
        gpu_device_reading_clear(reading, drm_card_suspended_reason);
        return;
    }
    reading->ram_used_bytes = read_ram(gpus, index, "used");
    if (isnan(reading->ram_used_bytes)) {
        reading->missing[GPU_RAM_USED] = reason_of_errno();
        reading->lost = errno == ENODEV;
    }
    if (sysfs_read_uint64(card->folder, "gpu_busy_percent", &percent) && percent <= 100)
        reading->utilization_percent = (double)percent;
    else
        reading->missing[GPU_UTILIZATION] = reason_of_errno();

    uint64_t microwatts;
    errno = ENOENT;
    if (card->sensors[0] && (sysfs_read_uint64(card->sensors, "power1_average", &microwatts) ||
                                sysfs_read_uint64(card->sensors, "power1_input", &microwatts)))
        reading->power_watts = (double)microwatts / 1e6;
    else
        reading->missing[GPU_POWER] = reason_of_errno();

    char table[GPU_METRICS_SIZE];
    long length = sysfs_read_bytes(card->folder, "gpu_metrics", table, sizeof table);
    if (length > 0)
        reading->energy_joules = gpu_metrics_energy_joules(table, (size_t)length);
    if (isnan(reading->energy_joules))
        reading->missing[GPU_ENERGY] = length < 0 ? reason_of_errno() : not_reported;
    drm_figures_read(
        card, &state->figures[index], whole, not_reported, drm_figures_read_amdgpu, &reading->card);
    if (length > 0) {
        gpu_metrics_fill(table, (size_t)length, &reading->card);
        gpu_metrics_add_slowed(&state->slowed[index], table, (size_t)length, &reading->card);
    }
}

static void amdgpu_read_ram(void *opaque, uint32_t index, struct gpu_device_reading *reading)
{
    double used = read_ram(&((const struct amdgpu_state *)opaque)->gpus, index, "used");
    if (!isnan(used))
        reading->ram_used_bytes = used;
}

static void amdgpu_read_processes(
    void *opaque, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list)
{
    struct amdgpu_state *state = opaque;
    drm_gpus_read_processes(state, tracked, whole, list);
    kfd_processes_read(state->gpus.options.sysfs_root, state->gpus.options.procfs_root, tracked,
        state->kfd, state->gpus.count, list);
}

const struct gpu_source gpu_source_amdgpu = {
    .name = "amdgpu",
    .vendor = GPU_VENDOR_AMD,
    .probe = amdgpu_probe,
    .open = amdgpu_open,
    .list_devices = amdgpu_list_devices,
    .read_device = amdgpu_read_device,
    .read_ram = amdgpu_read_ram,
    .read_processes = amdgpu_read_processes,
    .close = drm_gpus_close,
};

/* The counter's unit: 2^-16 J. */
#define JOULES_PER_COUNT 15.259e-6

/* Discrete cards have format 1, APUs format 2. */
#define FORMAT_DISCRETE 1
#define FORMAT_APU 2

/* Where a version has each figure; 0: it has not. Offsets in bytes; clocks in MHz, temperatures in
 * degrees, speed of the link in 0.1 GT/s. */
static const struct layout {
    uint8_t format, revision;
    uint16_t energy, temperature, memory_temperature, memory_busy, graphics_clock, memory_clock,
        link_width, link_speed;
    uint16_t reasons; /* 64 bits that mean the same on all cards */
    uint16_t ticks;   /* of the controller; its five counters of slowed time follow */
    uint16_t clock;   /* when the driver made it, in nanoseconds */
    uint16_t links;   /* kilobytes read over each XGMI link; those written follow */
} layouts[] = {
    {FORMAT_DISCRETE, 1, 24, 4, 8, 18, 54, 58, 74, 76, 0, 0, 32, 0},
    {FORMAT_DISCRETE, 2, 24, 4, 8, 18, 54, 58, 74, 76, 0, 0, 32, 0},
    {FORMAT_DISCRETE, 3, 24, 4, 8, 18, 54, 58, 74, 76, 112, 0, 32, 0},
    {FORMAT_DISCRETE, 4, 24, 4, 6, 14, 240, 0, 48, 50, 0, 0, 32, 104},
    {FORMAT_DISCRETE, 6, 16, 4, 6, 14, 0, 0, 60, 62, 0, 32, 24, 128},
    {FORMAT_DISCRETE, 7, 24, 4, 6, 14, 0, 0, 68, 70, 0, 40, 32, 136},
    {FORMAT_APU, 1, 0, 0, 0, 0, 76, 80, 0, 0, 0, 0, 0, 0},
    {FORMAT_APU, 2, 0, 0, 0, 0, 76, 80, 0, 0, 120, 0, 0, 0},
};

static const struct layout *layout_of(const uint8_t *table, size_t length)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && length >= 4; i++)
        if (layouts[i].format == table[2] && layouts[i].revision == table[3])
            return &layouts[i];
    return NULL;
}

/* A number of `size` bytes; false where the table does not have it: all bits are set then. */
static bool read_number(
    const uint8_t *table, size_t length, size_t offset, size_t size, uint64_t *number)
{
    *number = 0;
    if (!offset || offset + size > length)
        return false;
    memcpy(number, table + offset, size);
    return *number != UINT64_MAX >> (64 - 8 * size);
}

double gpu_metrics_energy_joules(const void *table, size_t length)
{
    const struct layout *layout = layout_of(table, length);
    uint64_t counter;
    if (!layout || !read_number(table, length, layout->energy, sizeof counter, &counter) ||
        counter == 0 || counter == UINT32_MAX)
        return NAN;
    return (double)counter * JOULES_PER_COUNT;
}

static void set(struct card_reading *reading, enum card_figure figure, double value)
{
    reading->values[figure] = value;
    reading->missing[figure] = NULL;
}

/* Returns the reasons that the bits of a version stand for. */
static unsigned reasons_of(uint64_t bits)
{
    static const struct {
        unsigned first, last;
        enum card_reason reason;
    } ranges[] = {
        {0, 15, CARD_REASON_POWER_CAP},
        {16, 31, CARD_REASON_CURRENT},
        {32, 45, CARD_REASON_THERMAL},
        {46, 47, CARD_REASON_HARDWARE_THERMAL},
        {48, 63, CARD_REASON_OTHER},
    };
    unsigned reasons = 0;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        uint64_t mask = UINT64_MAX >> (63 - ranges[i].last) & UINT64_MAX << ranges[i].first;
        reasons |= bits & mask ? 1u << ranges[i].reason : 0;
    }
    return reasons;
}

static int generation_of(uint64_t tenths_of_gigatransfers)
{
    static const unsigned speeds[] = {25, 50, 80, 160, 320, 640};
    for (int i = 0; i < 6; i++)
        if (speeds[i] == tenths_of_gigatransfers)
            return i + 1;
    return 0;
}

/* Counters of 64 bits, one for each XGMI link. */
#define LINKS 8
#define LINKS_SIZE (LINKS * 8)

/* Adds up what went over the links that a card has. */
static void add_links(struct card_reading *reading, enum card_figure figure, size_t offset,
    const void *table, size_t length)
{
    uint64_t kilobytes;
    double sum = NAN;
    for (size_t i = 0; i < LINKS && offset; i++)
        if (read_number(table, length, offset + 8 * i, 8, &kilobytes))
            sum = (isnan(sum) ? 0 : sum) + (double)kilobytes * 1024;
    if (!isnan(sum))
        set(reading, figure, sum);
}

void gpu_metrics_fill(const void *table, size_t length, struct card_reading *reading)
{
    const struct layout *layout = layout_of(table, length);
    uint64_t value;
    if (!layout)
        return;
    const struct {
        uint16_t offset;
        enum card_figure figure;
        unsigned max;
    } numbers[] = {
        {layout->temperature, CARD_TEMPERATURE, 200},
        {layout->memory_temperature, CARD_MEMORY_TEMPERATURE, 200},
        {layout->memory_busy, CARD_MEMORY_BUSY, 100},
        {layout->graphics_clock, CARD_GRAPHICS_CLOCK, 20000},
        {layout->memory_clock, CARD_MEMORY_CLOCK, 20000},
        {layout->link_width, CARD_PCIE_WIDTH, 32},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (read_number(table, length, numbers[i].offset, 2, &value) && value != 0 &&
            value <= numbers[i].max)
            set(reading, numbers[i].figure, (double)value);
    if (read_number(table, length, layout->link_speed, 2, &value) && generation_of(value))
        set(reading, CARD_PCIE_GENERATION, generation_of(value));
    if (read_number(table, length, layout->reasons, 8, &value))
        set(reading, CARD_SLOWDOWN_REASONS, reasons_of(value));
    add_links(reading, CARD_XGMI_READ, layout->links, table, length);
    add_links(
        reading, CARD_XGMI_WRITTEN, layout->links ? layout->links + LINKS_SIZE : 0, table, length);
}

/* The order of the counters after that of the ticks. */
enum { PROCHOT, POWER_LIMIT, SOCKET, REGULATORS, MEMORY, COUNTERS };

void gpu_metrics_add_slowed(struct gpu_metrics_slowed *slowed, const void *table, size_t length,
    struct card_reading *reading)
{
    const struct layout *layout = layout_of(table, length);
    uint64_t clock_ns, ticks, counts[COUNTERS];
    if (!layout || !read_number(table, length, layout->clock, 8, &clock_ns) ||
        !read_number(table, length, layout->ticks, 4, &ticks))
        return;
    for (size_t i = 0; i < COUNTERS; i++)
        if (!read_number(table, length, layout->ticks + 4 + 4 * i, 4, &counts[i]))
            return;
    uint32_t passed = (uint32_t)ticks - slowed->ticks;
    bool was_reset = passed > UINT32_MAX / 2; /* it went back, not round */
    if (slowed->has_before && passed > 0 && !was_reset && clock_ns > slowed->clock_ns) {
        double seconds[COUNTERS], whole = (double)(clock_ns - slowed->clock_ns) * 1e-9;
        for (size_t i = 0; i < COUNTERS; i++)
            seconds[i] =
                fmin(whole, (double)((uint32_t)counts[i] - slowed->counts[i]) / passed * whole);
        slowed->power_cap_seconds += seconds[POWER_LIMIT];
        slowed->hardware_thermal_seconds += seconds[PROCHOT];
        /* They can last at the same time. */
        slowed->thermal_seconds +=
            fmax(seconds[SOCKET], fmax(seconds[REGULATORS], seconds[MEMORY]));
    }
    slowed->has_before = true;
    slowed->clock_ns = clock_ns;
    slowed->ticks = (uint32_t)ticks;
    for (size_t i = 0; i < COUNTERS; i++)
        slowed->counts[i] = (uint32_t)counts[i];
    set(reading, CARD_POWER_CAP_SECONDS, slowed->power_cap_seconds);
    set(reading, CARD_HARDWARE_THERMAL_SECONDS, slowed->hardware_thermal_seconds);
    set(reading, CARD_THERMAL_SECONDS, slowed->thermal_seconds);
}

/* The number after `key` in a text of lines "key number"; false when it is not there. */
static bool find_property(const char *text, const char *key, uint64_t *value)
{
    size_t length = strlen(key);
    for (const char *line = text; *line;) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            const char *number = line + length + 1;
            return number_parse_uint64(number, number + strcspn(number, "\n"), value);
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return false;
}

enum match { NOT_ITS_NODE, UNREPORTED, ITS_PARTITION, ITS_NODE };

/* How a node, by its properties, belongs to the card. location_id is bus << 8 | device << 3 |
 * function; of a partition the function is its number. */
static enum match match_node(
    const char *properties, const struct drm_card *card, long render_number)
{
    uint64_t minor, location, domain = 0;
    struct pci_address address;
    bool has_minor = find_property(properties, "drm_render_minor", &minor) && render_number >= 0;
    bool has_location = find_property(properties, "location_id", &location) &&
                        pci_address_parse(card->pci_address, &address);
    if (has_minor && minor == (uint64_t)render_number)
        return ITS_NODE;
    if (!has_location)
        return has_minor ? NOT_ITS_NODE : UNREPORTED;
    find_property(properties, "domain", &domain);
    if (domain != address.domain || location >> 3 != (address.bus << 5 | address.device))
        return NOT_ITS_NODE;
    if (has_minor)
        return (location & 7) == address.function ? NOT_ITS_NODE : ITS_PARTITION;
    return (location & 7) == address.function ? ITS_NODE : NOT_ITS_NODE;
}

void kfd_find_card(const char *sysfs_root, const struct drm_card *card, long render_number,
    bool is_only, struct kfd_card *found)
{
    char nodes[SYSFS_PATH_SIZE], folder[SYSFS_PATH_SIZE], text[4096];
    struct kfd_card unreported = {0};
    *found = (struct kfd_card){0};
    if (!sysfs_path(nodes, sysfs_root, "class/kfd/kfd/topology/nodes"))
        return;
    for (long number = -1; (number = sysfs_next_numbered(nodes, "", number)) >= 0;) {
        char name[24];
        uint64_t gpu_id, cores = 0;
        snprintf(name, sizeof name, "%ld", number);
        if (!sysfs_path(folder, nodes, name) || !sysfs_read_uint64(folder, "gpu_id", &gpu_id) ||
            gpu_id == 0)
            continue;
        long length = sysfs_read_bytes(folder, "properties", text, sizeof text - 1);
        text[length > 0 ? length : 0] = '\0';
        enum match match = match_node(text, card, render_number);
        struct kfd_card *to = match == UNREPORTED ? &unreported : found;
        if (match == NOT_ITS_NODE || to->n_ids == KFD_MAX_PARTITIONS)
            continue;
        if (to->n_ids == 0)
            to->number = number;
        to->gpu_ids[to->n_ids++] = gpu_id;
        find_property(text, "cpu_cores_count", &cores);
        to->has_cores |= cores > 0;
    }
    if (found->n_ids == 0 && is_only && unreported.n_ids == 1)
        *found = unreported;
}

static const char unreadable[] = "the list of compute programs (ROCm) cannot be read";

/* Whether a process is tracked, or is not visible and may be a tracked one. */
static bool may_be_tracked(
    const char *procfs_root, const struct gpu_tracked *tracked, pid_t pid, bool *is_out_of_sight)
{
    char path[PROCFS_PATH_SIZE];
    bool is_visible = procfs_path(procfs_root, pid, "", path) && access(path, F_OK) == 0;
    bool is_tracked = false;
    for (size_t i = 0; i < tracked->count; i++)
        is_tracked |= tracked->pids[i] == pid;
    *is_out_of_sight |= !is_visible && !is_tracked;
    return is_tracked || !is_visible;
}

static void add(struct gpu_process_list *list, uint32_t device, pid_t pid, double bytes)
{
    gpu_process_list_add(list, (struct gpu_process){
                                   .device = device,
                                   .pid = pid,
                                   .ram_bytes = bytes,
                                   .sm_percent = NAN,
                               });
}

/* Counts a process's memory once, with the larger figure of KFD and the card's clients. */
static void merge(struct gpu_process_list *list, uint32_t device, pid_t pid, double bytes)
{
    double held = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct gpu_process *entry = &list->entries[i];
        if (entry->device == device && entry->pid == pid && !isnan(entry->ram_bytes))
            held += entry->ram_bytes;
    }
    if (bytes <= held)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].device == device && list->entries[i].pid == pid)
            list->entries[i].ram_bytes = 0;
    add(list, device, pid, bytes);
}

/* Adds up what a process, by its folder, has on all partitions of a card. False: none is listed. */
static bool read_vram(const char *folder, const struct kfd_card *card, uint64_t *sum)
{
    bool is_listed = false;
    *sum = 0;
    for (unsigned i = 0; i < card->n_ids; i++) {
        char name[48];
        uint64_t bytes;
        snprintf(name, sizeof name, "vram_%llu", (unsigned long long)card->gpu_ids[i]);
        if (!sysfs_read_uint64(folder, name, &bytes))
            continue;
        is_listed = true;
        *sum += bytes;
    }
    return is_listed;
}

void kfd_processes_read(const char *sysfs_root, const char *procfs_root,
    const struct gpu_tracked *tracked, const struct kfd_card *cards, uint32_t n_devices,
    struct gpu_process_list *list)
{
    char processes[SYSFS_PATH_SIZE], folder[SYSFS_PATH_SIZE], name[24];
    bool is_inner = procfs_is_inner(procfs_root), is_out_of_sight = false;
    if (!sysfs_path(processes, sysfs_root, "class/kfd/kfd/proc"))
        return;
    for (long pid = -1; (pid = sysfs_next_numbered(processes, "", pid)) >= 0;) {
        snprintf(name, sizeof name, "%ld", pid);
        if (!sysfs_path(folder, processes, name))
            continue;
        bool lacks_use =
            may_be_tracked(procfs_root, tracked, (pid_t)pid, &is_out_of_sight) || is_inner;
        for (uint32_t device = 0; device < n_devices; device++) {
            uint64_t bytes;
            if (!read_vram(folder, &cards[device], &bytes))
                continue;
            if (is_inner)
                add(list, device, (pid_t)pid, (double)bytes);
            else
                merge(list, device, (pid_t)pid, (double)bytes);
            list->pids_unproven |= is_inner;
            list->lacks_compute[device] |= lacks_use && bytes > 0;
        }
    }
    for (uint32_t device = 0; errno && device < n_devices; device++) {
        if (cards[device].n_ids)
            list->ram_missing[device] = list->sm_missing[device] = unreadable;
    }
    if (is_out_of_sight || list->pids_unproven)
        list->none_tracked_has_files = device_files_none_open(procfs_root, tracked, "kfd", NULL);
}
