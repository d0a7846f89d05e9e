/*
 * The sink that writes the tracking file: a row for each tick, and rows for each GPU. In formats
 * that have tables (SQLite) also rows for joules and bytes, and in the end for each process.
 */
#include "base/file_target.h"
#include "base/wall_clock.h"
#include "files/tracking/tracking_file.h"
#include "files/tracking/tracking_identity.h"
#include "files/tracking/tracking_sidecar.h"
#include "model/measurement_list.h"
#include "model/process_columns.h"
#include "model/processes.h"
#include "session/sinks/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Output of the writer's thread. */
struct tracking_output {
    struct tracking_file *file;
    char *path;                                /* owned */
    enum gput_ram_unit ram_unit, gpu_ram_unit; /* of the file */
    bool has_gpu_table, has_parts;             /* of the chip, which the session asks for */
    unsigned gpu_table;
    struct totals_table {
        bool is_there;
        unsigned table;
    } energy, io;
    bool warned, identity_failed, gpu_failed;
};

struct tracking_sink {
    struct sink sink;
    struct tracking_file *file; /* the writer's, once rows come */
    bool has_tables, has_gpu_rows, has_bytes;
    double start;                  /* the timestamp of the baseline: where totals were 0 */
    int64_t start_ns;              /* the same on the monotonic clock */
    int64_t time_ns, taken_ns;     /* of the sample before, on both clocks; 0: there was none */
    struct gput_identity identity; /* as it was written last */
    bool has_identity;
};

#define GPU_USE_COLUMNS 11
#define GPU_COLUMNS (GPU_USE_COLUMNS + CARD_FIGURE_COUNT)
/* Joules since the start of the session, so that those of any interval are a difference. */
#define ENERGY_COLUMNS (1 + GPUT_ENERGY_FIGURE_COUNT)

/* Bytes since then, likewise. What was counted soon after the start is in the next row: between
 * those two would be the rate of a moment. */
#define IO_COLUMNS 5
#define MIN_FIRST_IO_NS (NS_PER_SECOND / 5)

enum row_kind { SAMPLE_ROW, GPU_ROW, ENERGY_ROW, IO_ROW, IDENTITY_ROW };

struct tracking_row_item {
    enum row_kind kind;
    union {
        struct gput_sample sample;
        struct {
            char uuid[sizeof((struct gpu_device *)0)->uuid];
            double values[GPU_USE_COLUMNS]; /* that of the uuid is not used */
            double card[CARD_FIGURE_COUNT];
        } gpu;
        double energy[ENERGY_COLUMNS];
        double io[IO_COLUMNS];
        struct gput_results *whose; /* owned */
    };
};

/* ---- GPUs ---- */

#define UUID_COLUMN 1
static const struct tracking_column gpu_columns[GPU_USE_COLUMNS] = {
    {"timestamp", TRACKING_REAL},
    [UUID_COLUMN] = {"uuid", TRACKING_TEXT},
    {"ram_used", TRACKING_REAL},
    {"utilization_percent", TRACKING_REAL},
    {"main_ram", TRACKING_REAL},
    {"descendants_ram", TRACKING_REAL},
    {"combined_ram", TRACKING_REAL},
    {"main_sm_percent", TRACKING_REAL},
    {"descendants_sm_percent", TRACKING_REAL},
    {"power_watts", TRACKING_REAL},
    {"energy_joules", TRACKING_REAL},
};

/* Limits and states change too seldom for a row of each sample: reports have them. */
static bool is_sampled(const struct tracking_output *output, int figure)
{
    enum card_kind kind = card_figures[figure].kind;
    return kind != CARD_LIMIT && kind != CARD_STATE && (kind != CARD_PART || output->has_parts);
}

/* The columns of use, then those of the card. Returns how many there are. */
static size_t list_gpu_columns(
    const struct tracking_output *output, struct tracking_column columns[GPU_COLUMNS])
{
    size_t count = GPU_USE_COLUMNS;
    memcpy(columns, gpu_columns, sizeof gpu_columns);
    for (int i = 0; i < CARD_FIGURE_COUNT; i++)
        if (is_sampled(output, i))
            columns[count++] = (struct tracking_column){card_figures[i].name,
                card_figure_is_text((enum card_figure)i) ? TRACKING_TEXT : TRACKING_REAL};
    return count;
}

/* Once, if there are GPUs. */
static int add_gpu_table(struct tracking_output *output, struct gput_error *error)
{
    struct tracking_column columns[GPU_COLUMNS];
    if (output->has_gpu_table)
        return GPUT_OK;
    size_t count = list_gpu_columns(output, columns);
    TRY(tracking_file_add_table(
        output->file, TRACKING_GPU_TABLE, columns, count, &output->gpu_table, error));
    output->has_gpu_table = true;
    return GPUT_OK;
}

/* Makes the table with the first row, as a GPU may appear late. Warns of the first failure;
 * without the table there are no rows of GPUs. */
static bool has_gpu_table(struct sink_writer *writer, struct tracking_output *output)
{
    struct gput_error error;
    if (output->gpu_failed || add_gpu_table(output, &error) == GPUT_OK)
        return !output->gpu_failed;
    sink_writer_warn(writer, "%s. The figures of each GPU are not saved.", error.message);
    output->gpu_failed = true;
    return false;
}

/* Writes a row of one GPU. */
static int write_gpu(struct tracking_output *output, const struct tracking_row_item *item,
    int64_t now_ns, struct gput_error *error)
{
    struct tracking_value values[GPU_COLUMNS];
    char reasons[CARD_REASONS_SIZE];
    size_t count = GPU_USE_COLUMNS;
    for (size_t i = 0; i < GPU_USE_COLUMNS; i++)
        values[i] =
            i == UUID_COLUMN ? tracking_text(item->gpu.uuid) : tracking_real(item->gpu.values[i]);
    for (int i = 0; i < CARD_FIGURE_COUNT; i++) {
        double value = item->gpu.card[i];
        if (!is_sampled(output, i))
            continue;
        values[count++] = !card_figure_is_text((enum card_figure)i) ? tracking_real(value)
                          : isnan(value)                            ? tracking_text(NULL)
                                         : tracking_text(card_reasons_text(value, reasons));
    }
    return tracking_file_write_table_row(output->file, output->gpu_table, values, now_ns, error);
}

/* Puts a row for each GPU. */
static void put_gpus(struct sink *sink, const struct snapshot *snapshot)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(snapshot->gpus, &count);
    for (size_t i = 0; i < snapshot->gpu.n_devices && i < count; i++) {
        /* `joules`: since the start. */
        double joules = devices[i].mig ? NAN : energy_meter_gpu_joules(snapshot->energy, i);
        const struct gpu_device_sample *device = &snapshot->gpu.devices[i];
        double factor = gput_ram_unit_factor(sink->settings->options.gpu_ram_unit);
        struct tracking_row_item item = {.kind = GPU_ROW,
            .gpu.values = {tracking_timestamp(&snapshot->sample), [UUID_COLUMN] = NAN,
                device->ram_used_bytes * factor, device->utilization_percent,
                device->main_ram_bytes * factor, device->descendants_ram_bytes * factor,
                device->combined_ram_bytes * factor, device->main_sm_percent,
                device->descendants_sm_percent, device->power_watts, joules}};
        memcpy(item.gpu.uuid, devices[i].uuid, sizeof item.gpu.uuid);
        memcpy(item.gpu.card, gpu_set_card(snapshot->gpus, i)->values, sizeof item.gpu.card);
        sink_put(sink, &item);
    }
}

/* ---- totals since the start: energy, and bytes read and written ---- */

#define MAX_TOTALS_COLUMNS ENERGY_COLUMNS
_Static_assert(IO_COLUMNS <= MAX_TOTALS_COLUMNS, "a row of bytes has more columns");

/* Adds a row to such a table, which is made at its first row. A full disk may have space for the
 * next one. A failure is that of the whole batch of rows, so samples may be lost as well. */
static int write_totals(struct tracking_output *output, struct totals_table *table,
    const char *name, const struct tracking_column *columns, size_t count, const double *numbers,
    int64_t now_ns, struct gput_error *error)
{
    struct tracking_value values[MAX_TOTALS_COLUMNS];
    if (!table->is_there)
        TRY(tracking_file_add_table(output->file, name, columns, count, &table->table, error));
    table->is_there = true;
    for (size_t i = 0; i < count; i++)
        values[i] = tracking_real(numbers[i]);
    return tracking_file_write_table_row(output->file, table->table, values, now_ns, error);
}

/* Writes a row of the table energy_data. */
static int write_energy(struct tracking_output *output, const struct tracking_row_item *item,
    int64_t now_ns, struct gput_error *error)
{
    struct tracking_column columns[ENERGY_COLUMNS] = {{"timestamp", TRACKING_REAL}};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        columns[1 + i] = (struct tracking_column){
            gput_energy_figure_name((enum gput_energy_figure)i), TRACKING_REAL};
    return write_totals(output, &output->energy, "energy_data", columns, ENERGY_COLUMNS,
        item->energy, now_ns, error);
}

/* Writes a row of the table io_data. */
static int write_io(struct tracking_output *output, const struct tracking_row_item *item,
    int64_t now_ns, struct gput_error *error)
{
    static const struct tracking_column columns[IO_COLUMNS] = {{"timestamp", TRACKING_REAL},
        {"read_bytes", TRACKING_REAL}, {"write_bytes", TRACKING_REAL},
        {"storage_read_bytes", TRACKING_REAL}, {"storage_write_bytes", TRACKING_REAL}};
    return write_totals(
        output, &output->io, "io_data", columns, IO_COLUMNS, item->io, now_ns, error);
}

/* Hands the joules of a snapshot to the writer's thread. */
static void put_energy(struct sink *sink, const struct snapshot *snapshot)
{
    struct tracking_row_item item = {.kind = ENERGY_ROW};
    item.energy[0] = (double)snapshot->sample.time_ns * 1e-9;
    energy_meter_figures(snapshot->energy, item.energy + 1);
    sink_put(sink, &item);
}

/* Hands the bytes read and written since the start to the writer's thread. The first row is that
 * of the start. */
static void put_bytes(
    struct sink *sink, const struct snapshot *snapshot, const struct task_counts *bytes)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    struct tracking_row_item item = {.kind = IO_ROW};
    if (!tracking->has_bytes && !snapshot->is_last &&
        snapshot->taken_ns - tracking->start_ns < MIN_FIRST_IO_NS)
        return;
    double time = tracking_timestamp(&snapshot->sample);
    if (!tracking->has_bytes && tracking->start > 0 && tracking->start < time) {
        item.io[0] = tracking->start;
        sink_put(sink, &item);
    }
    tracking->has_bytes = true;
    const double now[IO_COLUMNS] = {time, (double)bytes->read_call_bytes,
        (double)bytes->write_call_bytes, (double)bytes->read_bytes,
        (double)task_counts_stored_bytes(bytes)};
    memcpy(item.io, now, sizeof now);
    sink_put(sink, &item);
}

/* ---- processes ---- */

/* A column of the list of processes as one of the file: RAM is in its unit, and all that has a unit
 * is a real number. */
struct file_column {
    struct tracking_column column;
    double factor;
};

/* Returns the column of the file for a column of processes, with RAM in the unit of the file. */
static struct file_column file_column_of(
    const struct tracking_output *output, const struct column *column)
{
    enum gput_quantity quantity;
    const char *in_unit = process_column_in_unit(column, &quantity);
    struct file_column made = {{column->name, TRACKING_TEXT}, 1};
    if (column->type != GPUT_COLUMN_TEXT)
        made.column.kind = column->unit ? TRACKING_REAL : TRACKING_INTEGER;
    if (!in_unit)
        return made;
    made.column.name = in_unit;
    made.factor = gput_ram_unit_factor(
        quantity == GPUT_QUANTITY_RAM ? output->ram_unit : output->gpu_ram_unit);
    return made;
}

/* Returns the value of a process for a column of the file. */
static struct tracking_value value_of(
    const struct file_column *to, const struct column *column, const struct gput_process *process)
{
    if (to->column.kind == TRACKING_TEXT)
        return tracking_text(column_text(column, process));
    double number = column_number(column, process);
    if (to->column.kind == TRACKING_REAL)
        return tracking_real(number * to->factor);
    return isnan(number) ? (struct tracking_value){.kind = TRACKING_NULL}
                         : tracking_integer((int64_t)number);
}

/* Writes the table process_data. */
static int write_processes(struct tracking_output *output, const struct gput_processes *processes,
    struct gput_error *error)
{
    struct file_column columns[PROCESS_COLUMNS];
    struct tracking_column named[PROCESS_COLUMNS];
    struct tracking_value values[PROCESS_COLUMNS];
    unsigned table;
    for (size_t i = 0; i < PROCESS_COLUMNS; i++) {
        columns[i] = file_column_of(output, &process_columns[i]);
        named[i] = columns[i].column;
    }
    TRY(tracking_file_add_table(
        output->file, "process_data", named, PROCESS_COLUMNS, &table, error));
    for (size_t row = 0; row < processes->count; row++) {
        for (size_t i = 0; i < PROCESS_COLUMNS; i++)
            values[i] = value_of(&columns[i], &process_columns[i], &processes->processes[row]);
        TRY(tracking_file_write_table_row(
            output->file, table, values, clock_monotonic_ns(), error));
    }
    return GPUT_OK;
}

/* ---- whose samples these are ---- */

/* Writes the manifest of the session. Warns of the first failure. */
static void write_identity(struct sink_writer *writer, struct tracking_output *output,
    const struct gput_results *results, bool has_ended)
{
    struct gput_error error;
    if (!results || tracking_identity_write(output->file, results, has_ended, &error) == GPUT_OK)
        return;
    if (!output->identity_failed)
        sink_writer_warn(writer, "%s", error.message);
    output->identity_failed = true;
}

/* Writes the identity at the start, and again when ranks of descendants become known. */
static void put_identity(struct sink *sink, const struct gput_results *results)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    struct tracking_row_item item = {.kind = IDENTITY_ROW};
    if (tracking->has_identity &&
        memcmp(&tracking->identity, &results->identity, sizeof results->identity) == 0)
        return;
    item.whose = calloc(1, sizeof *item.whose);
    if (!item.whose || results_copy(item.whose, results) != GPUT_OK || !sink_put(sink, &item)) {
        gput_results_destroy(item.whose);
        return;
    }
    tracking->has_identity = true;
    tracking->identity = results->identity;
}

/* ---- the writer's thread ---- */

/* Counts lost rows, and warns of the first failure. */
static void note_failure(struct sink_writer *writer, struct tracking_output *output, int code,
    const struct gput_error *error)
{
    sink_writer_set_rows_lost(writer, tracking_file_rows_lost(output->file));
    if (code != GPUT_OK && !output->warned)
        sink_writer_warn(writer, "%s. Rows of the tracking file are being lost; tracking goes on.",
            error->message);
    output->warned |= code != GPUT_OK;
}

/* Rows that waited for a slow disk are one batch: what counts is when they are written. */
static void write_row(struct sink_writer *writer, void *user, void *bytes)
{
    struct tracking_output *output = user;
    const struct tracking_row_item *item = bytes;
    struct gput_error error;
    int code = GPUT_OK;
    int64_t now_ns = clock_monotonic_ns();
    if (item->kind == SAMPLE_ROW)
        code = tracking_file_write_row(output->file, &item->sample, now_ns, &error);
    else if (item->kind == GPU_ROW)
        code = has_gpu_table(writer, output) ? write_gpu(output, item, now_ns, &error) : GPUT_OK;
    else if (item->kind == ENERGY_ROW)
        code = write_energy(output, item, now_ns, &error);
    else if (item->kind == IDENTITY_ROW)
        write_identity(writer, output, item->whose, false);
    else
        code = write_io(output, item, now_ns, &error);
    if (item->kind == IDENTITY_ROW)
        gput_results_destroy(item->whose);
    note_failure(writer, output, code, &error);
}

static void flush_rows(struct sink_writer *writer, void *user)
{
    struct tracking_output *output = user;
    struct gput_error error;
    note_failure(writer, output, tracking_file_flush(output->file, &error), &error);
}

/* The command may have removed its folder, or moved it. */
static void restore_file(struct sink_writer *writer, struct tracking_output *output)
{
    struct gput_error error;
    enum file_fate fate;
    char *wanted = output->path;
    int code = tracking_file_flush(output->file, &error);
    if (code == GPUT_OK)
        code = tracking_file_restore(output->file, &fate, &error);
    if (code != GPUT_OK) {
        sink_writer_warn(writer,
            "%s was removed while the command ran, and its rows are lost: it could not be written "
            "again (%.200s).",
            wanted, error.message);
    } else if (fate == FILE_EMPTIED) {
        sink_writer_warn(writer,
            "%s was emptied or overwritten while the command ran: %" PRIu64
            " of its rows are lost.",
            wanted, tracking_file_rows_lost(output->file));
    } else if (fate != FILE_IN_PLACE) {
        sink_writer_warn(writer, "%s was %s while the command ran: %s %s.", wanted,
            fate == FILE_MOVED ? "moved" : "removed",
            fate == FILE_MOVED ? "its rows are in" : "all of its rows were written again, to",
            tracking_file_path(output->file));
    }
}

/* A file that was never used would block the next try. */
static void end_file(struct sink_writer *writer, void *user, const struct sink_end *end)
{
    struct tracking_output *output = user;
    struct gput_error error;
    uint64_t rows_lost;
    if (!end->is_unused)
        restore_file(writer, output);
    write_identity(writer, output, end->results, true);
    if (end->processes && tracking_file_has_tables(output->file) &&
        write_processes(output, end->processes, &error) != GPUT_OK)
        sink_writer_warn(writer, "The table of processes is incomplete: %s", error.message);
    int code = tracking_file_finish(output->file, &rows_lost, &error);
    sink_writer_set_rows_lost(writer, rows_lost);
    if (end->is_unused) {
        unlink(output->path);
        tracking_sidecar_remove(output->path);
    } else if (code != GPUT_OK && !output->warned) {
        sink_writer_warn(writer, "%s", error.message);
    }
    free(output->path);
    free(output);
}

static const struct sink_writer_job job = {
    .item_size = sizeof(struct tracking_row_item),
    .max_items = 4096,
    .timeout_seconds = SINK_TIMEOUT_SECONDS,
    .write = write_row,
    .flush = flush_rows,
    .end = end_file,
};

/* ---- the sink ---- */

/* The writer has the output from the moment on at which there is a file. */
static int open_output(struct sink *sink, struct tracking_output *output, struct gput_error *error)
{
    const struct session_settings *settings = sink->settings;
    *output = (struct tracking_output){.path = strdup(sink->option),
        .ram_unit = settings->options.ram_unit,
        .gpu_ram_unit = settings->options.gpu_ram_unit,
        .has_parts = settings->options.gpu_parts};
    if (!output->path)
        return error_memory(error);
    return tracking_file_create(
        sink->option, &settings->static_data, settings->options.overwrite, &output->file, error);
}

/* Creates the tracking file and gives it to the writer's thread. */
static int open_file(struct sink *sink, struct gput_error *error)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    struct tracking_output *output = malloc(sizeof *output);
    if (!output)
        return error_memory(error);
    int code = open_output(sink, output, error);
    if (code != GPUT_OK) {
        free(output->path);
        free(output);
        return code;
    }
    sink_writer_set_output(sink->writer, output);
    tracking_file_gather_rows(output->file);
    tracking->file = output->file;
    tracking->has_tables = tracking_file_has_tables(output->file);
    tracking->has_gpu_rows = !file_is_written_directly(sink->option);
    sink->wants_processes = sink->settings->options.processes && tracking->has_tables;
    sink->wants_bytes = tracking->has_tables;
    if (!tracking->has_tables || gpu_set_missing(sink->settings->gpus))
        return GPUT_OK;
    return add_gpu_table(output, error);
}

/* Values of an interval count for the time in which the machine was awake. A row without them
 * ends the time in which it was not: readers that multiply by intervals would count that, too. */
static void put_suspended(struct sink *sink, const struct snapshot *snapshot)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    struct tracking_row_item item = {.kind = SAMPLE_ROW, .sample = snapshot->sample};
    int64_t awake_ns = snapshot->taken_ns - tracking->taken_ns;
    int64_t passed_ns = snapshot->sample.time_ns - tracking->time_ns;
    bool is_first = tracking->time_ns == 0;
    tracking->time_ns = snapshot->sample.time_ns;
    tracking->taken_ns = snapshot->taken_ns;
    if (is_first || passed_ns - awake_ns < WALL_CLOCK_SUSPENDED_NS)
        return;
    item.sample.time_ns -= awake_ns;
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        if (measurement_curves[i].is_of_interval)
            item.sample.values[i] = NAN;
    }
    sink_put(sink, &item);
}

/* Hands a sample, with the GPUs and joules of its tick, to the writer's thread. */
static void put_sample(struct sink *sink, const struct snapshot *snapshot)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    struct tracking_row_item item = {.kind = SAMPLE_ROW, .sample = snapshot->sample};
    put_suspended(sink, snapshot);
    if (snapshot->is_baseline) {
        tracking->start = tracking_timestamp(&snapshot->sample);
        tracking->start_ns = snapshot->taken_ns;
    } else if (sink_put(sink, &item) && tracking->has_gpu_rows) {
        put_gpus(sink, snapshot);
    }
    if (snapshot->has_new_energy && tracking->has_tables)
        put_energy(sink, snapshot);
}

/* The meaning of hardware percent depends on what is tracked. */
static int begin_file(struct sink *sink, struct gput_error *error)
{
    struct tracking_sink *tracking = (struct tracking_sink *)sink;
    return tracking_file_set_static_data(tracking->file, &sink->settings->static_data, error);
}

static void add_rows_lost(const struct sink *sink, struct gput_results *results)
{
    results->tracker.rows_lost = sink->items_lost + sink_writer_rows_lost(sink->writer);
}

const struct sink_class sink_tracking = {
    .name = "tracking file",
    .size = sizeof(struct tracking_sink),
    .option = offsetof(struct gput_session_options, tracking_file),
    .job = &job,
    .open = open_file,
    .begin = begin_file,
    .sample = put_sample,
    .results = put_identity,
    .bytes = put_bytes,
    .add_source = add_rows_lost,
};
