#include "timeline/timeline_tables.h"

#include "base/json_string.h"
#include "base/names.h"
#include "base/str.h"
#include "base/table.h"
#include "base/table_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE 1024
#define MAX_TOTALS 16
#define NUMBER_OF_PROCESSES 1 /* of the thread that has their slices; samples have 0 */

/* Totals since the start of the session, at one moment. */
struct totals {
    double time; /* NaN: none */
    double values[MAX_TOTALS];
};

/* Totals as rates. A counter keeps its value until its next one: the rate of an interval stands at
 * its begin. Intervals are not shorter than `min_seconds`, for a few milliseconds would have wild
 * rates. */
struct rates {
    const char *table, *format; /* of the name of a counter, with that of a column */
    double min_seconds;
    bool is_first;                   /* no interval was added */
    struct totals begin, end, after; /* `after`: at the end, less than an interval later */
    char *names[MAX_TOTALS];         /* owned */
    size_t columns[MAX_TOTALS];
    size_t count;
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

static int add_counter(
    struct adding *adding, const char *name, double time, double value, struct gput_error *error)
{
    return timeline_add_counter(
        adding->inputs->timeline, adding->samples, name, time, value, error);
}

/* ---- Each GPU ---- */

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

/* The first row has no totals of a source whose baseline it is: those after it count from there. */
static double amount_of(const struct rates *rates, const struct totals *end, size_t index)
{
    double before = rates->begin.values[index], after = end->values[index];
    if (rates->is_first && isnan(before) && after > 0)
        before = 0;
    return after < before ? 0 : after - before;
}

static int add_interval(
    struct adding *adding, struct rates *rates, const struct totals *end, struct gput_error *error)
{
    double seconds = end->time - rates->begin.time;
    for (size_t i = 0; seconds > 0 && i < rates->count; i++) {
        double rate = amount_of(rates, end, i) / seconds;
        if (isfinite(rate))
            TRY(add_counter(adding, rates->names[i], rates->begin.time, rate, error));
    }
    rates->begin = *end;
    rates->is_first = false;
    return GPUT_OK;
}

/* What is left: nothing is known of the time after it. */
static int end_rates(struct adding *adding, struct rates *rates, struct gput_error *error)
{
    struct totals last = isnan(rates->after.time) ? rates->end : rates->after;
    rates->end.time = rates->after.time = NAN;
    if (isnan(last.time))
        return GPUT_OK;
    TRY(add_interval(adding, rates, &last, error));
    for (size_t i = 0; i < rates->count; i++)
        if (!isnan(last.values[i]))
            TRY(add_counter(adding, rates->names[i], last.time, 0, error));
    return GPUT_OK;
}

static int add_totals(
    struct adding *adding, struct rates *rates, const struct totals *row, struct gput_error *error)
{
    bool has_end = !isnan(rates->end.time);
    double before = has_end ? rates->end.time : rates->begin.time;
    if (isnan(before) || row->time < before) { /* the first, or a clock was set back */
        TRY(end_rates(adding, rates, error));
        rates->begin = *row;
        return GPUT_OK;
    }
    if (row->time - before < rates->min_seconds) {
        rates->after = *row;
        return GPUT_OK;
    }
    if (has_end)
        TRY(add_interval(adding, rates, &rates->end, error));
    rates->end = *row;
    rates->after.time = NAN;
    return GPUT_OK;
}

/* The columns of the table but for the time, once. */
static bool name_rates(struct rates *rates, const struct gput_table *part, size_t time)
{
    bool are_named = rates->count > 0;
    for (size_t i = 0; !are_named && i < gput_table_column_count(part); i++) {
        struct str name = {0};
        if (i == time || rates->count == MAX_TOTALS)
            continue;
        str_printf(&name, rates->format, gput_table_column_name(part, i));
        rates->columns[rates->count] = i;
        rates->names[rates->count] = str_steal(&name);
        if (!rates->names[rates->count])
            return false;
        rates->count++;
    }
    return true;
}

static int add_rates(struct adding *adding, struct rates *rates, const struct gput_table *part,
    struct gput_error *error)
{
    size_t time = table_cells_find(part, "timestamp");
    if (!name_rates(rates, part, time))
        return error_memory(error);
    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        struct totals totals = {.time = table_cells_number(part, row, time)};
        for (size_t i = 0; i < rates->count; i++)
            totals.values[i] = table_cells_number(part, row, rates->columns[i]);
        if (is_moment(totals.time))
            TRY(add_totals(adding, rates, &totals, error));
    }
    return GPUT_OK;
}

static void finish_rates(struct rates *rates)
{
    for (size_t i = 0; i < rates->count; i++)
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

static int take_rows(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error)
{
    struct adding *adding = user;
    const char *name = gput_table_name(part);
    (void)tables;
    if (strcmp(name, adding->energy.table) == 0)
        return add_rates(adding, &adding->energy, part, error);
    if (strcmp(name, adding->io.table) == 0)
        return add_rates(adding, &adding->io, part, error);
    bool is_gpu = strcmp(name, "gpu_data") == 0, is_process = strcmp(name, "process_data") == 0;
    for (size_t row = 0; (is_gpu || is_process) && row < gput_table_row_count(part); row++)
        TRY(is_gpu ? add_gpu_row(adding, part, row, error) : add_process(adding, part, row, error));
    return GPUT_OK;
}

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
    TRY(end_rates(adding, &adding->energy, error));
    return end_rates(adding, &adding->io, error);
}

int timeline_add_tables(struct timeline_inputs *inputs, uint32_t process, double end,
    struct tracking_reader *reader, struct gput_error *error)
{
    struct timeline_tracks *tracks = &inputs->timeline->tracks;
    const struct rates no_rates = {
        .is_first = true, .begin.time = NAN, .end.time = NAN, .after.time = NAN};
    struct adding adding = {.inputs = inputs,
        .data = tracking_reader_static_data(reader),
        .samples = timeline_thread(tracks, process, 0, 0),
        .processes = timeline_thread(tracks, process, 0, NUMBER_OF_PROCESSES),
        .end = end,
        .energy = no_rates,
        .io = no_rates};
    adding.energy.table = "energy_data";
    adding.energy.format = "power_%s (watts)";
    adding.energy.min_seconds = 0.05;
    adding.io.table = "io_data";
    adding.io.format = "%s per second";
    adding.io.min_seconds = 0.2;
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
