#include "analysis/timeline/timeline_tables.h"

#include "base/json_string.h"
#include "base/names.h"
#include "base/str.h"
#include "base/table.h"
#include "base/table_cells.h"
#include "files/tracking/total_rates.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE 1024
#define NUMBER_OF_PROCESSES 1 /* of the thread that has their slices; samples have 0 */

/* A counter keeps its value until its next one: the rate of an interval stands at its begin. */
struct rates {
    struct adding *adding;
    const char *table, *format;   /* of the name of a counter, with that of a column */
    char *names[TOTAL_RATES_MAX]; /* owned */
    size_t columns[TOTAL_RATES_MAX];
    struct total_rates totals;
};

struct adding {
    struct timeline_inputs *inputs;
    const struct gput_static_data *data;
    uint32_t samples, processes; /* threads */
    double end;
    struct rates energy, io;
    struct names gpus; /* by uuid */
    struct str name, args;
};

static bool is_moment(double seconds)
{
    return fabs(seconds) < 9e9;
}

/* ---- Counters ---- */

/* Adds the value of a counter to the track of samples. */
static int add_counter(
    struct adding *adding, const char *name, double time, double value, struct gput_error *error)
{
    return timeline_add_counter(
        adding->inputs->timeline, adding->samples, name, time, value, error);
}

/* ---- Each GPU ---- */

/* Adds a row of a GPU as counters. */
static int add_gpu_row(
    struct adding *adding, const struct gput_table *part, size_t row, struct gput_error *error)
{
    const char *uuid = table_cells_text(part, row, table_cells_find(part, "uuid"));
    double time = table_cells_number(part, row, table_cells_find(part, "timestamp"));
    double factor = 1 / gput_ram_unit_factor(adding->data->gpu_ram_unit);
    uint32_t number = names_add(&adding->gpus, uuid, strlen(uuid));
    if (number == NAMES_NONE)
        return error_memory(error);
    for (size_t i = 0; is_moment(time) && i < gput_table_column_count(part); i++) {
        const char *column = gput_table_column_name(part, i);
        double value = table_cells_number(part, row, i);
        bool is_ram = strstr(column, "ram") != NULL;
        if (!isfinite(value) || strcmp(column, "timestamp") == 0 || strstr(column, "joules"))
            continue;
        str_clear(&adding->name);
        str_printf(
            &adding->name, "GPU %" PRIu32 ": %s%s", number, column, is_ram ? " (bytes)" : "");
        if (adding->name.failed)
            return error_memory(error);
        TRY(add_counter(
            adding, adding->name.data, time, is_ram ? round(value * factor) : value, error));
    }
    return GPUT_OK;
}

/* ---- Totals ---- */

/* At the end nothing is known of the time after it. */
static int take_rates(void *user, const struct total_row *begin, const struct total_row *end,
    const double *of_interval, struct gput_error *error)
{
    const struct rates *rates = user;
    for (size_t i = 0; i < rates->totals.count; i++) {
        double rate = end ? of_interval[i] : isnan(begin->values[i]) ? NAN : 0;
        if (isfinite(rate))
            TRY(add_counter(rates->adding, rates->names[i], begin->time, rate, error));
    }
    return GPUT_OK;
}

/* The columns of the table but for the time, once. */
static bool name_rates(struct rates *rates, const struct gput_table *part, size_t time)
{
    size_t *count = &rates->totals.count;
    bool are_named = *count > 0;
    for (size_t i = 0; !are_named && i < gput_table_column_count(part); i++) {
        struct str name = {0};
        if (i == time || *count == TOTAL_RATES_MAX)
            continue;
        str_printf(&name, rates->format, gput_table_column_name(part, i));
        rates->columns[*count] = i;
        rates->names[*count] = str_steal(&name);
        if (!rates->names[*count])
            return false;
        ++*count;
    }
    return true;
}

/* Adds the rates of totals that a part of a table holds. */
static int add_rates(struct rates *rates, const struct gput_table *part, struct gput_error *error)
{
    size_t time = table_cells_find(part, "timestamp");
    if (!name_rates(rates, part, time))
        return error_memory(error);
    return total_rates_add(&rates->totals, part, time, rates->columns, error);
}

static void finish_rates(struct rates *rates)
{
    for (size_t i = 0; i < rates->totals.count; i++)
        free(rates->names[i]);
}

/* ---- Processes ---- */

/* A cell as a member of `args`, sizes in bytes; nothing where it is missing. */
static void append_cell(
    struct adding *adding, const struct gput_table *part, size_t row, size_t column)
{
    const char *name = gput_table_column_name(part, column);
    const char *text = table_cells_text(part, row, column);
    double number = table_cells_number(part, row, column);
    struct str *args = &adding->args;
    double factor = strcmp(name, "peak_ram") == 0 ? 1 / gput_ram_unit_factor(adding->data->ram_unit)
                    : strcmp(name, "peak_gpu_ram") == 0
                        ? 1 / gput_ram_unit_factor(adding->data->gpu_ram_unit)
                        : 0;
    if (!isfinite(number) && !text[0])
        return;
    str_printf(args, "%s\"%s%s\": ", args->length > 1 ? ", " : "", name, factor ? "_bytes" : "");
    if (!isfinite(number)) {
        json_write_string(text, strlen(text), args);
        return;
    }
    number = factor ? round(number * factor) : number;
    if (number == floor(number) && fabs(number) < 0x1p53)
        str_printf(args, "%.0f", number);
    else
        str_append_double(args, number);
}

/* A slice from its start to its end; names and times are not among its arguments. */
static int add_process(
    struct adding *adding, const struct gput_table *part, size_t row, struct gput_error *error)
{
    size_t name = table_cells_find(part, "name");
    size_t begin = table_cells_find(part, "start_timestamp");
    size_t finish = table_cells_find(part, "end_timestamp");
    const char *text = table_cells_text(part, row, name);
    double start = table_cells_number(part, row, begin);
    double end = table_cells_number(part, row, finish);
    if (isnan(end))
        end = fmax(adding->end, start);
    if (!is_moment(start) || !is_moment(end) || end < start)
        return GPUT_OK;
    str_clear(&adding->name);
    json_write_string(text, strlen(text), &adding->name);
    str_clear(&adding->args);
    str_append(&adding->args, "{");
    for (size_t i = 0; i < gput_table_column_count(part); i++)
        if (i != name && i != begin && i != finish)
            append_cell(adding, part, row, i);
    str_append(&adding->args, "}");
    if (adding->name.failed || adding->args.failed)
        return error_memory(error);
    int64_t start_ns = timeline_ns_of_seconds(start);
    struct timeline_event slice = {.type = 'X',
        .thread = adding->processes,
        .start_ns = start_ns,
        .duration_ns = timeline_ns_of_seconds(end) - start_ns,
        .name = {adding->name.data + 1, adding->name.length - 2, 0},
        .args = {adding->args.data, adding->args.length, 0}};
    return timeline_add(adding->inputs->timeline, &slice, NULL, error);
}

/* ---- All ---- */

/* Adds the rows of those tables that a timeline shows. */
static int take_rows(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error)
{
    struct adding *adding = user;
    const char *name = gput_table_name(part);
    (void)tables;
    if (strcmp(name, adding->energy.table) == 0)
        return add_rates(&adding->energy, part, error);
    if (strcmp(name, adding->io.table) == 0)
        return add_rates(&adding->io, part, error);
    bool is_gpu = strcmp(name, "gpu_data") == 0, is_process = strcmp(name, "process_data") == 0;
    for (size_t row = 0; (is_gpu || is_process) && row < gput_table_row_count(part); row++)
        TRY(is_gpu ? add_gpu_row(adding, part, row, error) : add_process(adding, part, row, error));
    return GPUT_OK;
}

/* Adds what a tracking file has besides its samples. */
static int read_tables(
    struct adding *adding, struct tracking_reader *reader, struct gput_error *error)
{
    struct gput_error reason;
    struct gput_tables *building = tables_create();
    if (!building)
        return error_memory(error);
    tables_set_receiver(building, ROWS_AT_ONCE, take_rows, adding);
    int code = tracking_reader_tables(reader, building, &reason);
    gput_tables_destroy(building);
    if (code == GPUT_ERROR_FORMAT)
        read_report_warn(&adding->inputs->report, reason.message);
    else if (code != GPUT_OK && code != GPUT_ERROR_INVALID) /* invalid: such files have none */
        return error_copy(error, &reason);
    TRY(total_rates_end(&adding->energy.totals, error));
    return total_rates_end(&adding->io.totals, error);
}

int timeline_add_tables(struct timeline_inputs *inputs, uint32_t process, double end,
    struct tracking_reader *reader, struct gput_error *error)
{
    struct timeline_tracks *tracks = &inputs->timeline->tracks;
    struct adding adding = {.inputs = inputs,
        .data = tracking_reader_static_data(reader),
        .samples = timeline_thread(tracks, process, 0, 0),
        .processes = timeline_thread(tracks, process, 0, NUMBER_OF_PROCESSES),
        .end = end,
        .energy = {.adding = &adding, .table = "energy_data", .format = "power_%s (watts)"},
        .io = {.adding = &adding, .table = "io_data", .format = "%s per second"}};
    adding.energy.totals = total_rates_of(0, MIN_ENERGY_SECONDS, take_rates, &adding.energy);
    adding.io.totals = total_rates_of(0, MIN_IO_SECONDS, take_rates, &adding.io);
    bool is_ready = adding.samples != TRACK_NONE && adding.processes != TRACK_NONE &&
                    timeline_thread_rename(tracks, adding.processes, "processes");
    int code = is_ready ? read_tables(&adding, reader, error) : error_memory(error);
    finish_rates(&adding.energy);
    finish_rates(&adding.io);
    names_finish(&adding.gpus);
    str_finish(&adding.name);
    str_finish(&adding.args);
    return code;
}
