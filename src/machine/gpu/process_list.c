#include "machine/gpu/process_list.h"

#include "base/array.h"
#include "base/order.h"
#include "machine/os/pid_vector.h"

#include <stdlib.h>
#include <string.h>

void gpu_process_list_clear(struct gpu_process_list *list)
{
    list->count = 0;
    list->n_tracked_pids = 0;
    list->only_tracked = list->none_tracked_has_files = list->pids_unproven = false;
    list->lacks_descriptors = false;
    memset(list->lacks_samples, 0, sizeof list->lacks_samples);
    memset(list->lacks_compute, 0, sizeof list->lacks_compute);
    memset(list->ram_missing, 0, sizeof list->ram_missing);
    memset(list->sm_missing, 0, sizeof list->sm_missing);
}

bool gpu_process_list_add(struct gpu_process_list *list, struct gpu_process entry)
{
    if (!ARRAY_RESERVE(list->entries, list->count, list->capacity))
        return false;
    list->entries[list->count++] = entry;
    return true;
}

bool gpu_process_list_set_tracked(struct gpu_process_list *list, const pid_t *pids, size_t count)
{
    list->n_tracked_pids = 0;
    if (count > list->tracked_capacity) {
        if (!ARRAY_RESIZE(list->tracked_pids, count))
            return false;
        list->tracked_capacity = count;
    }
    if (count)
        memcpy(list->tracked_pids, pids, count * sizeof *pids);
    list->n_tracked_pids = count;
    return true;
}

bool gpu_process_list_was_made_for(const struct gpu_process_list *list, pid_t pid)
{
    return list->n_tracked_pids && bsearch(&pid, list->tracked_pids, list->n_tracked_pids,
                                       sizeof *list->tracked_pids, pid_compare);
}

bool gpu_process_list_copy(struct gpu_process_list *to, const struct gpu_process_list *from)
{
    gpu_process_list_clear(to);
    if (!ARRAY_RESERVE(to->entries, from->count, to->capacity) ||
        !gpu_process_list_set_tracked(to, from->tracked_pids, from->n_tracked_pids))
        return false;
    if (from->count)
        memcpy(to->entries, from->entries, from->count * sizeof *from->entries);
    to->count = from->count;
    to->only_tracked = from->only_tracked;
    to->none_tracked_has_files = from->none_tracked_has_files;
    to->pids_unproven = from->pids_unproven;
    to->lacks_descriptors = from->lacks_descriptors;
    memcpy(to->lacks_samples, from->lacks_samples, sizeof to->lacks_samples);
    memcpy(to->lacks_compute, from->lacks_compute, sizeof to->lacks_compute);
    memcpy(to->ram_missing, from->ram_missing, sizeof to->ram_missing);
    memcpy(to->sm_missing, from->sm_missing, sizeof to->sm_missing);
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct gpu_process *a = left, *b = right;
    ORDER_BY(a->device, b->device);
    ORDER_BY(a->client, b->client);
    return ORDER(a->pid, b->pid);
}

void gpu_process_list_sort(struct gpu_process_list *list)
{
    if (list->count > 1)
        qsort(list->entries, list->count, sizeof *list->entries, compare);
}

void gpu_process_list_finish(struct gpu_process_list *list)
{
    free(list->entries);
    free(list->tracked_pids);
    *list = (struct gpu_process_list){0};
}
