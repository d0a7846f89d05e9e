#include "machine/gpu/source.h"

#include "base/array.h"
#include "base/order.h"
#include "base/text.h"
#include "machine/os/procfs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *gpu_vendor_name(enum gpu_vendor vendor)
{
    static const char *const names[] = {"other", "nvidia", "amd", "intel"};
    return names[vendor];
}

static const char *figure_name(enum gpu_figure figure)
{
    static const char *const names[GPU_FIGURE_COUNT] = {
        "ram_used",
        "utilization",
        "power",
        "energy",
        "process_ram",
        "process_utilization",
    };
    return names[figure];
}

static void append(char *text, size_t size, const char *separator, const char *more)
{
    size_t length = strlen(text);
    text_fit(text + length, size - length, "%s%s", separator, more);
}

void gpu_device_explain(
    const struct gpu_device *device, enum gpu_figure but, char *text, size_t size)
{
    bool named[GPU_FIGURE_COUNT + 1] = {false};
    named[but] = true;
    text[0] = '\0';
    for (enum gpu_figure figure = 0; figure < GPU_FIGURE_COUNT; figure++) {
        const char *reason = device->missing[figure], *separator = text[0] ? "; " : "";
        if (named[figure] || !reason[0])
            continue;
        for (enum gpu_figure same = figure; same < GPU_FIGURE_COUNT; same++) {
            if (named[same] || strcmp(device->missing[same], reason) != 0)
                continue;
            append(text, size, separator, figure_name(same));
            named[same] = true;
            separator = ", ";
        }
        append(text, size, ": ", reason);
    }
}

static const char not_reported[] = "not reported by this driver";

void gpu_device_reading_clear(struct gpu_device_reading *reading, const char *reason)
{
    *reading = (struct gpu_device_reading){
        .ram_used_bytes = NAN,
        .utilization_percent = NAN,
        .power_watts = NAN,
        .energy_joules = NAN,
        .card_power_watts = NAN,
        .card_energy_joules = NAN,
        .card_ram_used_bytes = NAN,
    };
    for (int i = 0; i < GPU_FIGURE_COUNT; i++)
        reading->missing[i] = reason;
    card_reading_clear(&reading->card, reason ? reason : not_reported);
}

void gpu_source_status_set(struct gpu_source_status *status, enum gpu_source_state state,
    const char *remedy, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(status->detail, sizeof status->detail, format, arguments);
    va_end(arguments);
    snprintf(status->remedy, sizeof status->remedy, "%s", remedy);
    status->state = state;
}

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
