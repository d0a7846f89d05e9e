/*
 * The processes of a session as a list.
 */
#include "session/ledger/ledger.h"

#include "base/error.h"
#include "base/order.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/wall_clock.h"
#include "machine/process/process_figures.h"
#include "model/processes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* It ended after the last scan: "at least 0" says nothing. */
static bool ended_unseen(const struct process *process)
{
    return process_has_ended(process) && !process_has_last_record(process);
}

/* NaN where it is not known. */
static double bytes_of(
    const struct process *process, const struct task_counts *counts, uint64_t value)
{
    bool is_unknown = counts->lacks_io || (value == 0 && ended_unseen(process));
    return is_unknown ? NAN : (double)value;
}

/* The exit record is made before the exit is complete, so it can have 0 seconds: not known then.
 * But a process that started before tracking may not have run since. */
static double cpu_seconds_of(const struct process *process)
{
    bool is_known = process->cpu_ns > 0 ||
                    (process->cpu_ns == 0 && process_is_old(process) && !ended_unseen(process));
    return is_known ? (double)process->cpu_ns * 1e-9 : NAN;
}

/* A process of the log; command lines are gathered in one text, here as offsets from 1. */
static void take(struct gput_process *listed, const struct process *process,
    const struct epochs *epochs, struct str *commands)
{
    struct task_counts counts = process_counts(process);
    *listed = (struct gput_process){.pid = process->pid,
        .parent = process->parent_pid,
        .parent_index = -1,
        .start_ns = epochs_date_ns(epochs, process->start.at_ns),
        .end_ns = process_has_ended(process) ? epochs_date_ns(epochs, process->end.at_ns) : 0,
        .is_final = process_has_last_record(process) && !process->history.has_lost_events,
        .cpu_seconds = cpu_seconds_of(process),
        .peak_ram_bytes = process->peak.trust != GPUT_PROCESS_PEAK_UNKNOWN
                              ? (double)process->peak.rss_bytes
                              : NAN,
        .peak = process->peak.trust,
        .peak_gpu_ram_bytes = process->peak.gpu_ram_bytes,
        .read_bytes = bytes_of(process, &counts, counts.read_call_bytes),
        .write_bytes = bytes_of(process, &counts, counts.write_call_bytes),
        .storage_read_bytes = bytes_of(process, &counts, counts.read_bytes),
        .storage_write_bytes = bytes_of(process, &counts, task_counts_stored_bytes(&counts)),
        .has_status = process->end.has_status,
        .status = process->end.status,
        .end_is_exact = process_has_ended(process) && process->end.is_exact};
    /* The reading before execve() is another program's. */
    if (process->program.is_stale)
        return;
    /* A program's name may have any bytes. */
    struct str text = {0};
    utf8_append(process->program.name, strlen(process->program.name), &text);
    snprintf(listed->name, sizeof listed->name, "%s", str_text(&text));
    str_finish(&text);
    if (process->program.command) {
        listed->command_line = (const char *)(uintptr_t)(commands->length + 1);
        utf8_append(process->program.command, strlen(process->program.command), commands);
        str_append_bytes(commands, "", 1);
    }
}

/* Adds what wait4() knows of a process that we collect. */
static void add_collected(struct gput_process *process, const struct ledger *ledger)
{
    if (!process->end_is_exact && ledger->main_ended_ns != 0) {
        process->end_ns = epochs_date_ns(&ledger->epochs, ledger->main_ended_ns);
        process->end_is_exact = true;
    }
    struct gput_peak peak;
    ledger_fill_main_peak(ledger, &peak);
    process->has_status = true;
    process->status = ledger->collected.main_status;
    if (!isnan(peak.bytes))
        process->peak_ram_bytes = peak.bytes;
    if (peak.bytes == peak.at_most_bytes)
        process->peak = GPUT_PROCESS_PEAK_FINAL;
}

/* The kernel's figure at the end is then of the time since. */
static void mark_reset_peaks(struct gput_processes *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->processes[i].peak == GPUT_PROCESS_PEAK_FINAL)
            list->processes[i].peak = GPUT_PROCESS_PEAK_KEPT;
    }
}

/* Parents come first, so a binary search by number finds them. */
static ptrdiff_t place_of(
    struct process *const *processes, size_t count, const struct process *wanted)
{
    size_t at;
    if (!wanted)
        return -1;
    PARTITION_POINT(at, count, processes[at]->number < wanted->number);
    return at < count && processes[at] == wanted ? (ptrdiff_t)at : -1;
}

/* Where GPU RAM may have been used unseen, 0 is not a peak; and none had more than all of them. */
static void check_gpu_ram(const struct ledger *ledger, double *bytes)
{
    double max = ledger->usage.max[GPUT_COMBINED_GPU_RAM];
    if (*bytes > max)
        *bytes = max;
    *bytes = snapshot_gpu_bytes(ledger->snapshot, *bytes);
}

/* Fills in the processes of the log. It fails without memory. */
static int fill_list(struct ledger *ledger, struct gput_processes *list)
{
    struct str commands = {0};
    size_t count;
    struct process **processes = process_log_list(&ledger->log, &count);
    struct clock_pair now = clock_read_pair(clock_monotonic_ns, wall_clock_ns);
    epochs_add(&ledger->epochs, now.first_ns, now.second_ns);
    list->processes = processes ? calloc(count + 1, sizeof *list->processes) : NULL;
    if (!list->processes || ledger->epochs.count == 0) {
        free(processes);
        return GPUT_ERROR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        take(&list->processes[i], processes[i], &ledger->epochs, &commands);
        list->processes[i].parent_index = place_of(processes, count, processes[i]->parent);
        if (processes[i]->is_main && ledger->collected.has_main_usage)
            add_collected(&list->processes[i], ledger);
    }
    free(processes);
    list->count = count;
    list->start_ns = epochs_date_ns(&ledger->epochs, ledger->settings->start_ns);
    char *texts = str_steal(&commands);
    list->storage = texts;
    for (size_t i = 0; texts && i < count; i++) {
        struct gput_process *process = &list->processes[i];
        if (process->command_line)
            process->command_line = texts + (uintptr_t)process->command_line - 1;
    }
    return texts ? GPUT_OK : GPUT_ERROR_MEMORY;
}

int ledger_list_processes(struct ledger *ledger, struct gput_processes **processes)
{
    struct gput_processes *list = calloc(1, sizeof *list);
    if (!list)
        return GPUT_ERROR_MEMORY;
    process_log_refresh(&ledger->log);
    process_log_read_counts(&ledger->log);
    int code = fill_list(ledger, list);
    list->others.count = ledger->log.ended.others.count;
    list->others.cpu_seconds = (double)ledger->log.ended.others.cpu_ns * 1e-9;
    list->others.peak_ram_bytes = (double)ledger->log.ended.others.peak_rss_bytes;
    list->others.peak_gpu_ram_bytes = ledger->log.ended.others.peak_gpu_ram_bytes;
    list->others.read_bytes = (double)ledger->log.ended.others.counts.read_call_bytes;
    list->others.write_bytes = (double)ledger->log.ended.others.counts.write_call_bytes;
    list->others.storage_read_bytes = (double)ledger->log.ended.others.counts.read_bytes;
    list->others.storage_write_bytes =
        (double)task_counts_stored_bytes(&ledger->log.ended.others.counts);
    check_gpu_ram(ledger, &list->others.peak_gpu_ram_bytes);
    for (size_t i = 0; i < list->count; i++)
        check_gpu_ram(ledger, &list->processes[i].peak_gpu_ram_bytes);
    if (ledger_peaks_are_reset(ledger))
        mark_reset_peaks(list);
    list->has_command_lines = ledger->settings->options.command_lines;
    list->ram_unit = ledger->settings->options.ram_unit;
    list->gpu_ram_unit = ledger->settings->options.gpu_ram_unit;
    if (code == GPUT_OK)
        *processes = list;
    else
        gput_processes_destroy(list);
    return code;
}

void gput_processes_destroy(struct gput_processes *processes)
{
    if (!processes)
        return;
    free(processes->processes);
    free(processes->storage);
    free(processes);
}
