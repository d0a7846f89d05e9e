/*
 * The processes of a session: as a list, and as the table process_data of its tracking file.
 */
#include "session/session_state.h"

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/wall_clock.h"

#include <gputracker/processes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *gput_process_peak_name(enum gput_process_peak peak)
{
    static const char *const names[] = {"unknown", "sampled", "kept", "final"};
    return names[peak];
}

const char *gput_process_at_least(const struct gput_process *process)
{
    if (process->end_ns == 0)
        return NULL;
    return process->is_final ? "cpu_seconds" : "all";
}

const char *gput_process_end_name(const struct gput_process *process)
{
    if (process->end_ns == 0)
        return NULL;
    return process->end_is_exact ? "final" : "sampled";
}

void session_update_gpu_holdings(struct gput_session *session)
{
    size_t count;
    uint64_t version;
    const struct gpu_process_ram *held =
        gpu_set_process_ram(session->settings.gpus, &count, &version);
    if (version == session->gpu_holdings_version)
        return;
    session->gpu_holdings_version = version;
    for (size_t i = 0; i < count; i++)
        process_log_set_gpu_ram(&session->log, held[i].pid, held[i].ram_bytes, held[i].read_ns);
}

/* ---- the list ---- */

/* It ended after the last scan: "at least 0" is no information. */
static bool ended_unseen(const struct process_record *record)
{
    return process_state_has_ended(record->state) && !record->has_last_record;
}

/* NaN where it is not known. */
static double bytes_of(
    const struct process_record *record, const struct task_counts *counts, uint64_t value)
{
    bool is_unknown = counts->lacks_io || (value == 0 && ended_unseen(record));
    return is_unknown ? NAN : (double)value;
}

/* The exit record is made before the exit is complete, so it can have 0 seconds: not known then.
 * But a process that started before tracking may not have run since. */
static double cpu_seconds_of(const struct process_record *record)
{
    bool is_known =
        record->cpu_ns > 0 || (record->cpu_ns == 0 && record->is_old && !ended_unseen(record));
    return is_known ? (double)record->cpu_ns * 1e-9 : NAN;
}

/* A program's name may have any bytes. */
static void update_name(struct gput_process *process, const char *name)
{
    struct str text = {0};
    utf8_append(name, strlen(name), &text);
    snprintf(process->name, sizeof process->name, "%s", str_text(&text));
    str_finish(&text);
}

/* A process of the log; command lines are gathered in one text, here as offsets from 1. */
static void take(struct gput_process *process, const struct process_record *record,
    int64_t epoch_ns, struct str *commands)
{
    struct task_counts counts = process_record_counts(record);
    *process = (struct gput_process){.pid = record->pid,
        .parent = record->parent_pid,
        .parent_index = -1,
        .start_ns = record->start_ns + epoch_ns,
        .end_ns = process_state_has_ended(record->state) ? record->end_ns + epoch_ns : 0,
        .is_final = record->has_last_record && !record->has_lost_events,
        .cpu_seconds = cpu_seconds_of(record),
        .peak_ram_bytes =
            record->peak != PROCESS_PEAK_UNKNOWN ? (double)record->peak_rss_bytes : NAN,
        .peak = (enum gput_process_peak)record->peak,
        .peak_gpu_ram_bytes = record->peak_gpu_ram_bytes,
        .read_bytes = bytes_of(record, &counts, counts.read_call_bytes),
        .write_bytes = bytes_of(record, &counts, counts.write_call_bytes),
        .storage_read_bytes = bytes_of(record, &counts, counts.read_bytes),
        .storage_write_bytes = bytes_of(record, &counts, task_counts_stored_bytes(&counts)),
        .has_status = record->has_status,
        .status = record->status,
        .end_is_exact = process_state_has_ended(record->state) && record->end_is_exact};
    /* What was read before execve() is another program's. */
    if (record->name_is_stale)
        return;
    update_name(process, record->name);
    if (record->command) {
        process->command_line = (const char *)(uintptr_t)(commands->length + 1);
        utf8_append(record->command, strlen(record->command), commands);
        str_append_bytes(commands, "", 1);
    }
}

/* Of processes that we collect, wait4() gives more. */
static void add_collected(
    struct gput_process *process, const struct gput_session *session, int64_t epoch_ns)
{
    if (!process->end_is_exact && session->main_ended_ns != 0) {
        process->end_ns = session->main_ended_ns + epoch_ns;
        process->end_is_exact = true;
    }
    struct gput_peak peak;
    session_fill_main_peak(session, &peak);
    process->has_status = true;
    process->status = session->main_status;
    if (!isnan(peak.bytes))
        process->peak_ram_bytes = peak.bytes;
    if (peak.bytes == peak.at_most_bytes)
        process->peak = GPUT_PROCESS_PEAK_FINAL;
}

/* Parents come first, so a binary search by number finds them. */
static ptrdiff_t place_of(
    struct process_record *const *records, size_t count, const struct process_record *wanted)
{
    size_t low = 0, high = count;
    while (wanted && low < high) {
        size_t middle = low + (high - low) / 2;
        if (records[middle] == wanted)
            return (ptrdiff_t)middle;
        if (records[middle]->number < wanted->number)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static void add_others(struct gput_processes *list, const struct process_others *others)
{
    list->others.count = others->count;
    list->others.cpu_seconds = (double)others->cpu_ns * 1e-9;
    list->others.peak_ram_bytes = (double)others->peak_rss_bytes;
    list->others.peak_gpu_ram_bytes = others->peak_gpu_ram_bytes;
    list->others.read_bytes = (double)others->counts.read_call_bytes;
    list->others.write_bytes = (double)others->counts.write_call_bytes;
    list->others.storage_read_bytes = (double)others->counts.read_bytes;
    list->others.storage_write_bytes = (double)task_counts_stored_bytes(&others->counts);
}

/* Where GPU RAM may have been used unseen, 0 is no peak. */
static void drop_unknown_gpu_ram(const struct gput_session *session, struct gput_processes *list)
{
    double *others = &list->others.peak_gpu_ram_bytes;
    *others = session_gpus_peak_bytes(session, *others);
    for (size_t i = 0; i < list->count; i++)
        list->processes[i].peak_gpu_ram_bytes =
            session_gpus_peak_bytes(session, list->processes[i].peak_gpu_ram_bytes);
}

static int fill_list(struct gput_session *session, struct gput_processes *list)
{
    struct str commands = {0};
    size_t count;
    struct process_record **records = process_log_list(&session->log, &count);
    list->processes = records ? calloc(count + 1, sizeof *list->processes) : NULL;
    if (!list->processes) {
        free(records);
        return GPUT_ERROR_MEMORY;
    }
    int64_t epoch_ns = wall_clock_ns() - clock_monotonic_ns();
    for (size_t i = 0; i < count; i++) {
        take(&list->processes[i], records[i], epoch_ns, &commands);
        list->processes[i].parent_index = place_of(records, count, records[i]->parent);
        if (records[i]->is_main && session->has_main_usage)
            add_collected(&list->processes[i], session, epoch_ns);
    }
    free(records);
    list->count = count;
    list->start_ns = session->settings.start_ns + epoch_ns;
    char *texts = str_steal(&commands);
    list->storage = texts;
    for (size_t i = 0; texts && i < count; i++) {
        struct gput_process *process = &list->processes[i];
        if (process->command_line)
            process->command_line = texts + (uintptr_t)process->command_line - 1;
    }
    return texts ? GPUT_OK : GPUT_ERROR_MEMORY;
}

static int list_processes(struct gput_session *session, struct gput_processes **processes)
{
    struct gput_processes *list = calloc(1, sizeof *list);
    if (!list)
        return GPUT_ERROR_MEMORY;
    process_log_refresh(&session->log);
    process_log_read_counts(&session->log);
    int code = fill_list(session, list);
    add_others(list, &session->log.ended.others);
    drop_unknown_gpu_ram(session, list);
    list->has_command_lines = session->settings.options.command_lines;
    list->ram_unit = session->settings.options.ram_unit;
    list->gpu_ram_unit = session->settings.options.gpu_ram_unit;
    if (code == GPUT_OK)
        *processes = list;
    else
        gput_processes_free(list);
    return code;
}

int gput_session_processes(
    struct gput_session *session, struct gput_processes **processes, struct gput_error *error)
{
    *processes = NULL;
    if (!session->settings.options.processes)
        return error_set(error, GPUT_ERROR_STATE,
            "The processes of this session were not asked for: set the option `processes`.");
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Nothing was tracked yet.");
    TRY(session_check_owner(session, error));
    pthread_mutex_lock(&session->lock);
    int code = list_processes(session, processes);
    pthread_mutex_unlock(&session->lock);
    return code == GPUT_OK ? code : error_memory(error);
}

void gput_processes_free(struct gput_processes *processes)
{
    if (!processes)
        return;
    free(processes->processes);
    free(processes->storage);
    free(processes);
}

/* ---- the table ---- */

static const struct tracking_column columns[] = {
    {"pid", TRACKING_INTEGER},
    {"parent_pid", TRACKING_INTEGER},
    {"name", TRACKING_TEXT},
    {"command_line", TRACKING_TEXT},
    {"start_timestamp", TRACKING_REAL},
    {"end_timestamp", TRACKING_REAL},
    {"end_timestamp_source", TRACKING_TEXT},
    {"at_least", TRACKING_TEXT},
    {"cpu_seconds", TRACKING_REAL},
    {"peak_ram", TRACKING_REAL},
    {"peak_ram_source", TRACKING_TEXT},
    {"peak_gpu_ram", TRACKING_REAL},
    {"read_bytes", TRACKING_REAL},
    {"write_bytes", TRACKING_REAL},
    {"storage_read_bytes", TRACKING_REAL},
    {"storage_write_bytes", TRACKING_REAL},
    {"exit_code", TRACKING_INTEGER},
    {"exit_signal", TRACKING_INTEGER},
};
#define COLUMNS (sizeof columns / sizeof columns[0])

static struct tracking_value integer_or_null(bool is_known, int64_t value)
{
    return is_known ? tracking_integer(value) : (struct tracking_value){.kind = TRACKING_NULL};
}

static int write_row(struct gput_session *session, unsigned table,
    const struct gput_process *process, struct gput_error *error)
{
    const struct gput_static_data *data = &session->settings.static_data;
    bool exited = process->has_status && WIFEXITED(process->status);
    bool killed = process->has_status && WIFSIGNALED(process->status);
    const struct tracking_value values[COLUMNS] = {
        tracking_integer(process->pid),
        integer_or_null(process->parent > 0, process->parent),
        tracking_text(process->name[0] ? process->name : NULL),
        tracking_text(process->command_line),
        tracking_real((double)process->start_ns * 1e-9),
        tracking_real(process->end_ns ? (double)process->end_ns * 1e-9 : NAN),
        tracking_text(gput_process_end_name(process)),
        tracking_text(gput_process_at_least(process)),
        tracking_real(process->cpu_seconds),
        tracking_real(process->peak_ram_bytes * gput_ram_unit_factor(data->ram_unit)),
        tracking_text(gput_process_peak_name(process->peak)),
        tracking_real(process->peak_gpu_ram_bytes * gput_ram_unit_factor(data->gpu_ram_unit)),
        tracking_real(process->read_bytes),
        tracking_real(process->write_bytes),
        tracking_real(process->storage_read_bytes),
        tracking_real(process->storage_write_bytes),
        integer_or_null(exited, exited ? WEXITSTATUS(process->status) : 0),
        integer_or_null(killed, killed ? WTERMSIG(process->status) : 0),
    };
    return tracking_file_write_table_row(
        session->tracking_file, table, values, clock_monotonic_ns(), error);
}

int session_write_processes(struct gput_session *session, struct gput_error *error)
{
    struct gput_processes *list;
    unsigned table;
    if (!session->settings.options.processes || !session->tracking_file ||
        !tracking_file_has_tables(session->tracking_file))
        return GPUT_OK;
    TRY(tracking_file_add_table(
        session->tracking_file, "process_data", columns, COLUMNS, &table, error));
    if (list_processes(session, &list) != GPUT_OK)
        return error_memory(error);
    int code = GPUT_OK;
    for (size_t i = 0; i < list->count && code == GPUT_OK; i++)
        code = write_row(session, table, &list->processes[i], error);
    gput_processes_free(list);
    return code;
}
