#include "machine/gpu/kfd.h"

#include "base/number.h"
#include "machine/gpu/pid_owner.h"
#include "machine/os/procfs.h"
#include "machine/os/sysfs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
