#include "machine/gpu/process_ram.h"

#include "base/array.h"
#include "base/number.h"
#include "base/order.h"
#include "machine/os/procfs.h"

#include <math.h>
#include <stdlib.h>

void gpu_process_ram_list_clear(struct gpu_process_ram_list *ram_list)
{
    ram_list->count = ram_list->held_count = 0;
}

void gpu_process_ram_list_finish(struct gpu_process_ram_list *ram_list)
{
    free(ram_list->entries);
    free(ram_list->uses);
    free(ram_list->held);
    *ram_list = (struct gpu_process_ram_list){0};
}

/* ---- uses: one for each process, device and client ---- */

static int compare_uses(const void *left, const void *right)
{
    const struct gpu_use *a = left, *b = right;
    ORDER_BY(a->pid, b->pid);
    return ORDER(a->device, b->device);
}

/* The tracked process to which an entry belongs; 0: none. */
static pid_t tracked_pid(const struct gpu_process_list *list, const struct pid_owner_search *search,
    const struct gpu_process *entry)
{
    pid_t pid = entry->pid;
    /* also when it has ended since */
    if (pid_owner_cache_has_our_pid(search->pid_owners, entry) &&
        gpu_process_list_was_made_for(list, pid))
        return pid;
    enum pid_owner owner = pid_owner_find(search, entry, &pid);
    return owner == PID_OWNER_MAIN || owner == PID_OWNER_DESCENDANT ? pid : 0;
}

static bool is_same_use(const struct gpu_process *a, const struct gpu_process *b)
{
    return a->device == b->device && a->client == b->client && a->pid == b->pid;
}

/* Lists what each tracked process uses of each device, ascending by process. */
static void collect_uses(struct gpu_process_ram_list *ram_list, const struct gpu_process_list *list,
    const struct pid_owner_search *search)
{
    ram_list->use_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct gpu_process *entry = &list->entries[i];
        struct gpu_use use = {.device = entry->device,
            .ram_bytes = entry->ram_bytes,
            .sm_percent = entry->sm_percent};
        while (i + 1 < list->count && is_same_use(entry, &list->entries[i + 1])) {
            i++;
            use.ram_bytes = fmax(use.ram_bytes, list->entries[i].ram_bytes);
            use.sm_percent = fmax(use.sm_percent, list->entries[i].sm_percent);
        }
        use.pid = tracked_pid(list, search, entry);
        if (use.pid && ARRAY_RESERVE(ram_list->uses, ram_list->use_count, ram_list->use_capacity))
            ram_list->uses[ram_list->use_count++] = use;
    }
    if (ram_list->use_count > 1)
        qsort(ram_list->uses, ram_list->use_count, sizeof *ram_list->uses, compare_uses);
}

/* Keeps them by device. */
static void keep_uses(
    struct gpu_process_ram_list *ram_list, const uint32_t *positions, uint32_t n_devices)
{
    for (size_t i = 0; i < ram_list->use_count; i++) {
        struct gpu_use use = ram_list->uses[i];
        if (use.device >= n_devices ||
            !ARRAY_RESERVE(ram_list->held, ram_list->held_count, ram_list->held_capacity))
            continue;
        use.device = positions[use.device];
        ram_list->held[ram_list->held_count++] = use;
    }
}

/* ---- GPU RAM of each process ---- */

/* Adds up what a process uses of the devices that report it. */
static void sum_up(struct gpu_process_ram *total, const struct gpu_use *uses, size_t count,
    bool tracked, const struct gpu_process_reading *reading)
{
    size_t at = 0;
    for (uint32_t device = 0; device < reading->n_devices; device++) {
        const struct gpu_missing *missing = &reading->missing[device];
        bool reports = !missing->ram;
        total->is_partial |= missing->ram_may_be_held;
        if (reports && tracked && (at == count || uses[at].device > device))
            number_add_known(&total->ram_bytes, 0);
        for (; at < count && uses[at].device <= device; at++) {
            total->is_partial |= isnan(uses[at].ram_bytes);
            if (reports)
                number_add_known(&total->ram_bytes, uses[at].ram_bytes);
        }
    }
}

void gpu_process_ram_list_add(struct gpu_process_ram_list *ram_list,
    const struct gpu_process_reading *reading, const struct pid_owner_search *search)
{
    const struct gpu_process_list *list = reading->list;
    collect_uses(ram_list, list, search);
    keep_uses(ram_list, reading->positions, reading->n_devices);
    const struct gpu_use *uses = ram_list->uses;
    size_t use = 0, tracked = 0;
    while (use < ram_list->use_count || tracked < list->n_tracked_pids) {
        bool has_use = use < ram_list->use_count;
        pid_t pid = tracked < list->n_tracked_pids ? list->tracked_pids[tracked] : uses[use].pid;
        if (has_use && uses[use].pid < pid)
            pid = uses[use].pid;
        bool is_tracked = tracked < list->n_tracked_pids && list->tracked_pids[tracked] == pid;
        tracked += is_tracked;
        size_t first = use;
        while (use < ram_list->use_count && uses[use].pid == pid)
            use++;
        struct gpu_process_ram total = {.pid = pid, .read_ns = reading->read_ns, .ram_bytes = NAN};
        sum_up(&total, uses + first, use - first, is_tracked, reading);
        if (ARRAY_RESERVE(ram_list->entries, ram_list->count, ram_list->capacity))
            ram_list->entries[ram_list->count++] = total;
    }
}

static int compare_entries_by_pid(const void *left, const void *right)
{
    return pid_compare(&((const struct gpu_process_ram *)left)->pid,
        &((const struct gpu_process_ram *)right)->pid);
}

/* Merges the entries of each process into one. */
static void merge(struct gpu_process_ram_list *ram_list)
{
    qsort(ram_list->entries, ram_list->count, sizeof *ram_list->entries, compare_entries_by_pid);
    size_t kept = 0;
    for (size_t i = 1; i < ram_list->count; i++) {
        struct gpu_process_ram *last = &ram_list->entries[kept];
        const struct gpu_process_ram *next = &ram_list->entries[i];
        if (next->pid != last->pid) {
            ram_list->entries[++kept] = *next;
            continue;
        }
        number_add_known(&last->ram_bytes, next->ram_bytes);
        last->is_partial |= next->is_partial;
        if (next->read_ns < last->read_ns)
            last->read_ns = next->read_ns;
    }
    ram_list->count = kept + 1;
}

static int compare_by_device(const void *left, const void *right)
{
    const struct gpu_use *a = left, *b = right;
    ORDER_BY(a->device, b->device);
    return pid_compare(&a->pid, &b->pid);
}

void gpu_process_ram_list_merge(struct gpu_process_ram_list *ram_list)
{
    if (ram_list->held_count > 1) {
        /* Make one of those of a process on a device. */
        size_t kept = 0;
        qsort(ram_list->held, ram_list->held_count, sizeof *ram_list->held, compare_by_device);
        for (size_t i = 1; i < ram_list->held_count; i++) {
            struct gpu_use *last = &ram_list->held[kept];
            if (compare_by_device(last, &ram_list->held[i]) == 0) {
                number_add_known(&last->ram_bytes, ram_list->held[i].ram_bytes);
                last->sm_percent = fmax(last->sm_percent, ram_list->held[i].sm_percent);
            } else
                ram_list->held[++kept] = ram_list->held[i];
        }
        ram_list->held_count = kept + 1;
    }
    if (ram_list->count > 1)
        merge(ram_list);
    /* A lower bound of 0 carries no information. */
    for (size_t i = 0; i < ram_list->count; i++)
        if (ram_list->entries[i].is_partial && ram_list->entries[i].ram_bytes == 0)
            ram_list->entries[i].ram_bytes = NAN;
}
