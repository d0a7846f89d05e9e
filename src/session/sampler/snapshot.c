#include "session/sampler/snapshot.h"

#include "base/clock.h"
#include "base/order.h"
#include "base/str.h"
#include "base/utf8.h"
#include "machine/process/process_threads.h"
#include "machine/process/wait_cause.h"
#include "model/card.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool snapshot_lacks_gpu_figure(
    const struct snapshot *snapshot, size_t device, enum gpu_figure figure)
{
    const struct gpu_sample *sample = &snapshot->gpu;
    bool lacks_now = figure == GPU_PROCESS_RAM && device < sample->n_devices &&
                     sample->devices[device].lacks_ram;
    return lacks_now || gpu_set_past_missing(snapshot->gpus, device, figure);
}

bool snapshot_lacks_gpu_processes(const struct snapshot *snapshot)
{
    size_t count;
    gpu_set_devices(snapshot->gpus, &count);
    for (size_t i = 0; i < count; i++)
        if (snapshot_lacks_gpu_figure(snapshot, i, GPU_PROCESS_RAM))
            return true;
    return false;
}

double snapshot_gpu_bytes(const struct snapshot *snapshot, double bytes)
{
    return bytes == 0 && snapshot_lacks_gpu_processes(snapshot) ? NAN : bytes;
}

/* A process, with what the next copy compares. */
struct copied_process {
    struct gput_snapshot_process process; /* first, for gput_snapshot_process() */
    uint64_t start_time_ticks;
    int64_t cpu_ns;
};

struct gput_snapshot {
    atomic_uint owners;
    uint64_t number;
    int64_t taken_ns; /* monotonic clock */
    int64_t boot_ns;  /* when the machine was booted, since the epoch; the same in every copy */
    double elapsed_seconds;
    struct gput_sample sample;
    double watts[GPUT_ENERGY_FIGURE_COUNT];
    struct copied_process *processes; /* owned */
    size_t n_processes;
    struct gput_snapshot_gpu *gpus; /* owned */
    size_t n_gpus;
    struct copied_use {
        uint32_t gpu;
        struct gput_snapshot_gpu_user user;
    } * uses; /* owned; ascending by GPU */
    size_t n_uses;
    char *command_lines; /* owned; those of the processes */
};

/* ---- processes ---- */

/* The same process in the copy before; processes keep their order, so it is usually at the same
 * place. NULL: it was not there. */
static const struct copied_process *find_before(
    const struct gput_snapshot *before, const struct process *process, size_t guess)
{
    size_t count = before ? before->n_processes : 0;
    for (size_t n = 0; n < count; n++) {
        const struct copied_process *copied = &before->processes[(guess + n) % count];
        if (copied->process.pid == process->pid &&
            copied->start_time_ticks == process->polled->stat.start_time_ticks)
            return copied;
    }
    return NULL;
}

static double gpu_ram_of(const struct snapshot *snapshot, pid_t pid)
{
    size_t count, at;
    uint64_t version;
    const struct gpu_process_ram *held = gpu_set_process_ram(snapshot->gpus, &count, &version);
    PARTITION_POINT(at, count, held[at].pid < pid);
    return at < count && held[at].pid == pid ? held[at].ram_bytes : NAN;
}

/* False without memory: a process without a name would be a wrong one. */
static bool copy_name(const char *name, struct gput_snapshot_process *process)
{
    struct str text = {0};
    utf8_append(name, strlen(name), &text);
    snprintf(process->name, sizeof process->name, "%s", str_text(&text));
    bool whole = !text.failed;
    str_finish(&text);
    return whole;
}

/* A vfork child has its parent's memory until execve(), during which statm has no page of it. */
static bool may_be_without_memory(const struct process *process)
{
    return process_is_zombie(process) || proc_stat_is_kernel_thread(&process->polled->stat);
}

/* Adds up what its threads did. Processes that are only listed have no account. */
static void copy_account(const struct process *process, struct gput_snapshot_process *copy)
{
    static const char *const names[] = {
#define WALL_CAUSE_NAME(ID, name, word, meaning) #name,
        WALL_CAUSES(WALL_CAUSE_NAME)
#undef WALL_CAUSE_NAME
    };
    const struct process_threads *list = process->threads;
    copy->computing_seconds = copy->cpu_wait_seconds = copy->storage_seconds = NAN;
    if (!list || list->began_ns == 0)
        return;
    struct wall_account account = list->ended;
    for (size_t i = 0; i < list->count; i++) {
        struct wall_account thread = process_thread_account(process, &list->threads[i]);
        wall_account_add(&account, &thread);
    }
    copy->computing_seconds = clock_seconds_of_ns(account.ns[WALL_COMPUTING]);
    copy->cpu_wait_seconds = clock_seconds_of_ns(account.ns[WALL_CPU] + account.ns[WALL_QUOTA]);
    copy->storage_seconds = clock_seconds_of_ns(account.ns[WALL_STORAGE] + account.ns[WALL_PAGING]);
    if (list->has_causes && list->count > 0) {
        unsigned cause = list->any_ran ? WALL_COMPUTING : list->threads[0].cause;
        copy->activity = cause == WALL_UNKNOWN ? NULL : names[process_state_cause(cause)];
    }
}

/* Command lines are gathered in one text, here as offsets from 1. */
static void copy_process(const struct snapshot *snapshot, const struct gput_snapshot *before,
    size_t i, struct gput_snapshot *to, struct str *command_lines)
{
    const struct process *process = snapshot->listed->processes[i];
    struct copied_process *copy = &to->processes[i];
    copy->start_time_ticks = process->polled->stat.start_time_ticks;
    copy->process = (struct gput_snapshot_process){.pid = process->pid,
        .parent = process->polled->stat.ppid,
        .start_ns = to->boot_ns + (int64_t)process->polled->stat.start_time_ticks *
                                      snapshot->listed->view.ns_per_tick,
        .is_main = process->is_main,
        .state = process->polled->stat.state,
        .threads = process_is_zombie(process) ? 0 : process_thread_count(process),
        .gpu_ram_bytes = gpu_ram_of(snapshot, process->pid),
        .start_ticks = process->polled->stat.start_time_ticks};
    command_lines->failed |= !copy_name(process->polled->stat.name, &copy->process);
    struct rss rss = {0};
    if (process_has_memory(process))
        rss = memory_rss(&process->polled->memory);
    bool is_known = rss.total > 0 || may_be_without_memory(process);
    copy->process.ram_bytes = is_known ? (double)rss.total : NAN;
    copy->process.private_ram_bytes = is_known ? (double)rss.private : NAN;
    /* An exact reading comes after the poll, and may find more. */
    copy->process.peak_ram_bytes =
        fmax((double)process->polled->peak_resident_bytes, copy->process.ram_bytes);
    copy_account(process, &copy->process);
    const struct copied_process *was = find_before(before, process, i);
    int64_t own_ns = process->is_main ? snapshot->own_cpu_ns : 0;
    int64_t cpu_ns = process_cpu_ns(process);
    copy->cpu_ns = cpu_ns > own_ns ? cpu_ns - own_ns : 0;
    copy->process.cpu_seconds = clock_seconds_of_ns(copy->cpu_ns);
    copy->process.cpu_percent = NAN;
    int64_t interval_ns = before ? snapshot->taken_ns - before->taken_ns : 0;
    int64_t used_ns = copy->cpu_ns - (was ? was->cpu_ns : 0);
    if (interval_ns > 0)
        copy->process.cpu_percent = used_ns > 0 ? 100 * (double)used_ns / (double)interval_ns : 0;
    const char *command = process->program.command;
    if (!command)
        return;
    copy->process.command_line = (const char *)(uintptr_t)(command_lines->length + 1);
    utf8_append(command, strlen(command), command_lines);
    str_append_bytes(command_lines, "", 1);
}

/* Copies the processes that are to be shown. Returns false without memory. */
static bool copy_processes(
    const struct snapshot *snapshot, const struct gput_snapshot *before, struct gput_snapshot *copy)
{
    const struct process_tree *tree = snapshot->listed;
    struct str command_lines = {0};
    copy->processes = calloc(tree->count + 1, sizeof *copy->processes);
    if (!copy->processes)
        return false;
    for (size_t i = 0; i < tree->count; i++)
        copy_process(snapshot, before, i, copy, &command_lines);
    copy->n_processes = tree->count;
    copy->command_lines = str_steal(&command_lines);
    for (size_t i = 0; copy->command_lines && i < tree->count; i++) {
        const char **line = &copy->processes[i].process.command_line;
        if (*line)
            *line = copy->command_lines + (uintptr_t)*line - 1;
    }
    return copy->command_lines;
}

/* ---- GPUs ---- */

/* Copies the figures of all GPUs. Returns false without memory. */
static bool copy_gpus(const struct snapshot *snapshot, struct gput_snapshot *copy)
{
    const struct gpu_sample *sample = &snapshot->gpu;
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(snapshot->gpus, &count);
    copy->gpus = calloc(count + 1, sizeof *copy->gpus);
    if (!copy->gpus)
        return false;
    for (size_t i = 0; i < count && i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        struct gput_snapshot_gpu *gpu = &copy->gpus[copy->n_gpus++];
        *gpu = (struct gput_snapshot_gpu){.selected = devices[i].selected,
            .ram_capacity_bytes = devices[i].ram_capacity_bytes,
            .ram_bytes = device->ram_used_bytes,
            .main_ram_bytes = device->main_ram_bytes,
            .descendants_ram_bytes = device->descendants_ram_bytes,
            .combined_ram_bytes = device->combined_ram_bytes,
            .utilization_percent = device->utilization_percent,
            .main_sm_percent = device->main_sm_percent,
            .descendants_sm_percent = device->descendants_sm_percent,
            .power_watts = device->power_watts};
        /* The figures of the card that people watch. */
        const struct card_reading *card = gpu_set_card(snapshot->gpus, i);
        char reasons[CARD_REASONS_SIZE];
        double slowed = card->values[CARD_SLOWDOWN_REASONS];
        gpu->clock_mhz = card->values[CARD_GRAPHICS_CLOCK];
        gpu->max_clock_mhz = card->values[CARD_MAX_GRAPHICS_CLOCK];
        gpu->temperature_celsius = card->values[CARD_TEMPERATURE];
        gpu->slowdown_celsius = card->values[CARD_SLOWDOWN_TEMPERATURE];
        gpu->power_limit_watts = card->values[CARD_POWER_LIMIT];
        unsigned throttles = isnan(slowed) ? 0 : (unsigned)slowed & CARD_THROTTLES;
        if (throttles)
            snprintf(
                gpu->slowed_by, sizeof gpu->slowed_by, "%s", card_reasons_text(throttles, reasons));
        memcpy(gpu->uuid, devices[i].uuid, sizeof gpu->uuid);
        memcpy(gpu->name, devices[i].name, sizeof gpu->name);
    }
    return true;
}

/* Copies which process uses which GPU. Returns false without memory. */
static bool copy_uses(const struct snapshot *snapshot, struct gput_snapshot *copy)
{
    size_t count;
    const struct gpu_use *uses = gpu_set_uses(snapshot->gpus, &count);
    copy->uses = calloc(count + 1, sizeof *copy->uses);
    if (!copy->uses)
        return false;
    for (; copy->n_uses < count; copy->n_uses++) {
        const struct gpu_use *use = &uses[copy->n_uses];
        copy->uses[copy->n_uses] =
            (struct copied_use){use->device, {.pid = use->pid, .ram_bytes = use->ram_bytes}};
    }
    return true;
}

/* ---- the copy ---- */

struct gput_snapshot *snapshot_copy(const struct snapshot *snapshot, uint64_t number,
    double elapsed_seconds, const struct gput_snapshot *before)
{
    struct gput_snapshot *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    atomic_init(&copy->owners, 1);
    copy->number = number;
    copy->taken_ns = snapshot->taken_ns;
    int64_t epoch_ns = snapshot->sample.time_ns - snapshot->taken_ns;
    copy->boot_ns = before ? before->boot_ns : clock_monotonic_of_boot_ns(0) + epoch_ns;
    copy->elapsed_seconds = elapsed_seconds;
    copy->sample = snapshot->sample;
    memcpy(copy->watts, snapshot->power.watts, sizeof copy->watts);
    if (copy_processes(snapshot, before, copy) && copy_gpus(snapshot, copy) &&
        copy_uses(snapshot, copy))
        return copy;
    gput_snapshot_release(copy);
    return NULL;
}

struct gput_snapshot *snapshot_copy_retain(struct gput_snapshot *snapshot)
{
    atomic_fetch_add(&snapshot->owners, 1);
    return snapshot;
}

void gput_snapshot_release(struct gput_snapshot *snapshot)
{
    if (!snapshot || atomic_fetch_sub(&snapshot->owners, 1) != 1)
        return;
    free(snapshot->processes);
    free(snapshot->gpus);
    free(snapshot->uses);
    free(snapshot->command_lines);
    free(snapshot);
}

uint64_t gput_snapshot_number(const struct gput_snapshot *snapshot)
{
    return snapshot->number;
}

double gput_snapshot_elapsed_seconds(const struct gput_snapshot *snapshot)
{
    return snapshot->elapsed_seconds;
}

const struct gput_sample *gput_snapshot_sample(const struct gput_snapshot *snapshot)
{
    return &snapshot->sample;
}

double gput_snapshot_watts(const struct gput_snapshot *snapshot, enum gput_energy_figure figure)
{
    return snapshot->watts[figure];
}

size_t gput_snapshot_process_count(const struct gput_snapshot *snapshot)
{
    return snapshot->n_processes;
}

const struct gput_snapshot_process *gput_snapshot_process(
    const struct gput_snapshot *snapshot, size_t index)
{
    return index < snapshot->n_processes ? &snapshot->processes[index].process : NULL;
}

size_t gput_snapshot_gpu_count(const struct gput_snapshot *snapshot)
{
    return snapshot->n_gpus;
}

const struct gput_snapshot_gpu *gput_snapshot_gpu(
    const struct gput_snapshot *snapshot, size_t index)
{
    return index < snapshot->n_gpus ? &snapshot->gpus[index] : NULL;
}

static size_t first_use(const struct gput_snapshot *snapshot, size_t gpu)
{
    size_t first = 0;
    while (first < snapshot->n_uses && snapshot->uses[first].gpu < gpu)
        first++;
    return first;
}

size_t gput_snapshot_gpu_user_count(const struct gput_snapshot *snapshot, size_t gpu)
{
    size_t count = 0, first = first_use(snapshot, gpu);
    while (first + count < snapshot->n_uses && snapshot->uses[first + count].gpu == gpu)
        count++;
    return count;
}

const struct gput_snapshot_gpu_user *gput_snapshot_gpu_user(
    const struct gput_snapshot *snapshot, size_t gpu, size_t index)
{
    if (index >= gput_snapshot_gpu_user_count(snapshot, gpu))
        return NULL;
    return &snapshot->uses[first_use(snapshot, gpu) + index].user;
}
