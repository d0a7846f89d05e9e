/*
 * The sink that writes the tracking file: a row for each tick, and in formats that have tables
 * (SQLite) also rows for each GPU, for joules, and in the end for each process.
 */
#include "base/clock.h"
#include "formats/tracking/tracking_file.h"
#include "session/sink.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

struct tracking_sink {
    struct sink sink;
    struct tracking_file *file; /* NULL: it could not be created */
    bool has_gpu_table, has_energy_table, energy_table_failed;
    unsigned gpu_table, energy_table;
    bool warned;
};

static bool is_wanted(const struct gput_session_options *options)
{
    return options->tracking_file != NULL;
}

/* ---- GPUs ---- */

static const struct tracking_column gpu_columns[] = {
    {"timestamp", TRACKING_REAL},
    {"uuid", TRACKING_TEXT},
    {"ram_used", TRACKING_REAL},
    {"utilization_percent", TRACKING_REAL},
    {"main_ram", TRACKING_REAL},
    {"descendants_ram", TRACKING_REAL},
    {"combined_ram", TRACKING_REAL},
    {"main_sm_percent", TRACKING_REAL},
    {"descendants_sm_percent", TRACKING_REAL},
    {"power_watts", TRACKING_REAL},
};
#define GPU_COLUMNS (sizeof gpu_columns / sizeof gpu_columns[0])

/* Once, if the format has tables and there are GPUs. */
static int add_gpu_table(
    struct tracking_sink *tracking, const struct gpu_set *gpus, struct gput_error *error)
{
    if (tracking->has_gpu_table || !tracking_file_has_tables(tracking->file) ||
        gpu_set_missing(gpus))
        return GPUT_OK;
    TRY(tracking_file_add_table(
        tracking->file, "gpu_data", gpu_columns, GPU_COLUMNS, &tracking->gpu_table, error));
    tracking->has_gpu_table = true;
    return GPUT_OK;
}

static int write_gpu(struct tracking_sink *tracking, const struct snapshot *snapshot,
    const char *uuid, const struct gpu_device_sample *device, struct gput_error *error)
{
    double factor = gput_ram_unit_factor(tracking->sink.settings->options.gpu_ram_unit);
    const struct tracking_value values[GPU_COLUMNS] = {
        tracking_real(tracking_timestamp(&snapshot->sample)),
        tracking_text(uuid),
        tracking_real(device->ram_used_bytes * factor),
        tracking_real(device->utilization_percent),
        tracking_real(device->main_ram_bytes * factor),
        tracking_real(device->descendants_ram_bytes * factor),
        tracking_real(device->combined_ram_bytes * factor),
        tracking_real(device->main_sm_percent),
        tracking_real(device->descendants_sm_percent),
        tracking_real(device->power_watts),
    };
    return tracking_file_write_table_row(
        tracking->file, tracking->gpu_table, values, snapshot->taken_ns, error);
}

static int write_gpus(
    struct tracking_sink *tracking, const struct snapshot *snapshot, struct gput_error *error)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(snapshot->gpus, &count);
    if (count)
        TRY(add_gpu_table(tracking, snapshot->gpus, error)); /* for a GPU that appeared late */
    if (!tracking->has_gpu_table)
        return GPUT_OK;
    for (size_t i = 0; i < snapshot->gpu.n_devices && i < count; i++)
        TRY(write_gpu(tracking, snapshot, devices[i].uuid, &snapshot->gpu.devices[i], error));
    return GPUT_OK;
}

/* ---- energy ---- */

/* Joules since the start of the session, so that those of any interval are a difference. */
#define ENERGY_COLUMNS (1 + GPUT_ENERGY_FIGURE_COUNT)

static int add_energy_table(struct tracking_sink *tracking)
{
    struct tracking_column columns[ENERGY_COLUMNS] = {{"timestamp", TRACKING_REAL}};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        columns[1 + i] = (struct tracking_column){
            gput_energy_figure_name((enum gput_energy_figure)i), TRACKING_REAL};
    return tracking_file_add_table(
        tracking->file, "energy_data", columns, ENERGY_COLUMNS, &tracking->energy_table, NULL);
}

static void write_energy(struct tracking_sink *tracking, const struct snapshot *snapshot)
{
    if (!tracking_file_has_tables(tracking->file) || tracking->energy_table_failed)
        return;
    if (!tracking->has_energy_table) {
        tracking->energy_table_failed = add_energy_table(tracking) != GPUT_OK;
        if (tracking->energy_table_failed)
            return;
        tracking->has_energy_table = true;
    }
    double figures[ENERGY_COLUMNS] = {(double)snapshot->sample.time_ns * 1e-9};
    energy_meter_figures(snapshot->energy, figures + 1);
    struct tracking_value values[ENERGY_COLUMNS];
    for (size_t i = 0; i < ENERGY_COLUMNS; i++)
        values[i] = tracking_real(figures[i]);
    tracking_file_write_table_row(
        tracking->file, tracking->energy_table, values, snapshot->taken_ns, NULL);
}

/* ---- processes ---- */

static const struct tracking_column process_columns[] = {
    {"pid", TRACKING_INTEGER},
    {"parent", TRACKING_INTEGER},
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
#define PROCESS_COLUMNS (sizeof process_columns / sizeof process_columns[0])

static struct tracking_value integer_or_null(bool is_known, int64_t value)
{
    return is_known ? tracking_integer(value) : (struct tracking_value){.kind = TRACKING_NULL};
}

static int write_process(struct tracking_sink *tracking, unsigned table,
    const struct gput_process *process, struct gput_error *error)
{
    const struct gput_session_options *options = &tracking->sink.settings->options;
    bool exited = process->has_status && WIFEXITED(process->status);
    bool killed = process->has_status && WIFSIGNALED(process->status);
    const struct tracking_value values[PROCESS_COLUMNS] = {
        tracking_integer(process->pid),
        integer_or_null(process->parent > 0, process->parent),
        tracking_text(process->name[0] ? process->name : NULL),
        tracking_text(process->command_line),
        tracking_real((double)process->start_ns * 1e-9),
        tracking_real(process->end_ns ? (double)process->end_ns * 1e-9 : NAN),
        tracking_text(gput_process_end_name(process)),
        tracking_text(gput_process_at_least(process)),
        tracking_real(process->cpu_seconds),
        tracking_real(process->peak_ram_bytes * gput_ram_unit_factor(options->ram_unit)),
        tracking_text(gput_process_peak_name(process->peak)),
        tracking_real(process->peak_gpu_ram_bytes * gput_ram_unit_factor(options->gpu_ram_unit)),
        tracking_real(process->read_bytes),
        tracking_real(process->write_bytes),
        tracking_real(process->storage_read_bytes),
        tracking_real(process->storage_write_bytes),
        integer_or_null(exited, exited ? WEXITSTATUS(process->status) : 0),
        integer_or_null(killed, killed ? WTERMSIG(process->status) : 0),
    };
    return tracking_file_write_table_row(
        tracking->file, table, values, clock_monotonic_ns(), error);
}

static int write_processes(struct tracking_sink *tracking, const struct gput_processes *processes,
    struct gput_error *error)
{
    unsigned table;
    TRY(tracking_file_add_table(
        tracking->file, "process_data", process_columns, PROCESS_COLUMNS, &table, error));
    for (size_t i = 0; i < processes->count; i++)
        TRY(write_process(tracking, table, &processes->processes[i], error));
    return GPUT_OK;
}

/* ---- the sink ---- */

static int open_file(struct sink *sink, struct gput_error *error)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    const struct session_settings *settings = sink->settings;
    TRY(tracking_file_create(settings->options.tracking_file, &settings->static_data,
        settings->options.overwrite, &tracking->file, error));
    sink->wants_processes = settings->options.processes && tracking_file_has_tables(tracking->file);
    return add_gpu_table(tracking, settings->gpus, error);
}

static void write_row(struct tracking_sink *tracking, const struct snapshot *snapshot)
{
    struct gput_error error;
    int code =
        tracking_file_write_row(tracking->file, &snapshot->sample, snapshot->taken_ns, &error);
    if (code == GPUT_OK)
        code = write_gpus(tracking, snapshot, &error);
    tracking->sink.rows_lost = tracking_file_rows_lost(tracking->file);
    if (code == GPUT_OK || tracking->warned)
        return;
    tracking->warned = true;
    session_warn(tracking->sink.settings,
        "%s. Rows of the tracking file are being lost; tracking goes on.", error.message);
}

static void write_sample(struct sink *sink, const struct snapshot *snapshot)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    if (!snapshot->is_baseline)
        write_row(tracking, snapshot);
    if (snapshot->has_new_energy)
        write_energy(tracking, snapshot);
}

/* One that was never used would block the next try. */
static void close_file(struct sink *sink, const struct sink_end *end)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    struct gput_error error;
    if (!tracking->file)
        return;
    if (sink->wants_processes && end->processes &&
        write_processes(tracking, end->processes, &error) != GPUT_OK)
        session_warn(sink->settings, "The table of processes is not whole: %s", error.message);
    int code = tracking_file_finish(tracking->file, &sink->rows_lost, &error);
    tracking->file = NULL;
    if (end->is_unused)
        unlink(sink->settings->options.tracking_file);
    else if (code != GPUT_OK && !tracking->warned)
        session_warn(sink->settings, "%s", error.message);
}

const struct sink_class sink_tracking = {
    .size = sizeof(struct tracking_sink),
    .is_wanted = is_wanted,
    .open = open_file,
    .sample = write_sample,
    .close = close_file,
};
