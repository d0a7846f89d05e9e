#include "analysis/analyze/recorded_part.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/order.h"
#include "base/sized.h"
#include "base/table.h"
#include "files/tracking/tracking_reader.h"
#include "model/measurement_list.h"

#include <gputracker/recorded.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 256

#define PART_ROWS 131072

static const struct gput_recorded_options usual = {.size = sizeof usual};

void gput_recorded_options_init(struct gput_recorded_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

/* ---- Parts ---- */

int recorded_pass_full(
    const struct gput_recorded_options *options, struct gput_table *table, struct gput_error *error)
{
    bool is_full = table && gput_table_row_count(table) >= PART_ROWS;
    return is_full ? recorded_pass_rest(options, table, error) : GPUT_OK;
}

int recorded_pass_rest(
    const struct gput_recorded_options *options, struct gput_table *table, struct gput_error *error)
{
    struct gput_tables *part;
    if (!options->receive || !table)
        return GPUT_OK;
    TRY(table_take_rows(table, &part, error));
    return options->receive(options->user, part, error);
}

/* ---- Spans ---- */

/* Separate intervals of time, in order; owned. */
struct spans {
    struct gput_recorded_span *items;
    size_t count;
};

static int compare_spans(const void *left, const void *right)
{
    const struct gput_recorded_span *a = left, *b = right;
    return ORDER(a->start, b->start);
}

/* Sorts the spans that were asked for, and joins those that overlap. */
static int join_spans(
    const struct gput_recorded_options *options, struct spans *spans, struct gput_error *error)
{
    struct gput_recorded_span *items = malloc((options->n_spans + 1) * sizeof *items);
    if (!items)
        return error_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < options->n_spans; i++)
        if (options->spans[i].start <= options->spans[i].end) /* false for NaN */
            items[count++] = options->spans[i];
    if (count > 0)
        qsort(items, count, sizeof *items, compare_spans);
    *spans = (struct spans){.items = items};
    for (size_t i = 0; i < count; i++) {
        struct gput_recorded_span *last = spans->count > 0 ? &items[spans->count - 1] : NULL;
        if (last && items[i].start <= last->end)
            last->end = fmax(last->end, items[i].end);
        else
            items[spans->count++] = items[i];
    }
    return GPUT_OK;
}

/* ---- Static data ---- */

/* The type of a value of the session, and the number that it is. */
static enum gput_column_type cell_type(const char *text, int64_t *integer, double *number)
{
    const char *end = text + strlen(text);
    if (*text && number_parse_int64(text, end, integer) == end)
        return GPUT_COLUMN_INT;
    if (*text && number_parse_double(text, end, number) == end)
        return GPUT_COLUMN_DOUBLE;
    return GPUT_COLUMN_TEXT;
}

/* ---- Samples ---- */

/* A file being read. */
struct reading {
    const struct gput_recorded_options *options;
    struct tracking_reader *reader; /* owned, as are the spans and the tables */
    struct spans spans;
    struct gput_tables *tables;
    struct gput_table *table; /* of the samples, one of them */
    bool has[GPUT_MEASUREMENT_COUNT];
};

/* The unit of a measurement in the file, or in which it is joined. */
static const char *unit_of(
    const struct gput_measurement *measurement, const struct gput_static_data *data, bool for_joins)
{
    bool is_gpu = measurement->quantity == GPUT_QUANTITY_GPU_RAM;
    enum gput_ram_unit unit = is_gpu ? data->gpu_ram_unit : data->ram_unit;
    if (measurement->quantity == GPUT_QUANTITY_PERCENT)
        return "percent";
    if (!is_gpu && measurement->quantity != GPUT_QUANTITY_RAM)
        return NULL;
    return gput_ram_unit_name(for_joins ? GPUT_RAM_UNIT_BYTES : unit);
}

/* Adds the table of samples: the measurements that the file has; for joins all of them, in bytes.
 */
static void add_samples(struct reading *reading, struct gput_tables *tables)
{
    bool for_joins = reading->options->for_joins;
    const struct gput_static_data *data = tracking_reader_static_data(reading->reader);
    struct gput_table *table = reading->table = tables_add(tables, "samples");
    for (size_t i = 0; i < TRACKED_MEASUREMENTS; i++) {
        enum gput_measurement_id id = tracked_measurements[i];
        const struct gput_measurement *measurement = gput_measurement(id);
        const char *unit = unit_of(measurement, data, for_joins);
        reading->has[id] = for_joins || tracking_reader_has(reading->reader, id);
        if (!reading->has[id])
            continue;
        table_add_column(table, measurement->name,
            measurement->quantity == GPUT_QUANTITY_COUNT ? GPUT_COLUMN_INT : GPUT_COLUMN_DOUBLE);
        if (unit)
            table_set_unit(table, unit);
    }
    table_add_column(table, "timestamp", GPUT_COLUMN_DOUBLE);
    table_set_unit(table, "seconds since the epoch");
}

/* Puts the rows that lie in the spans, if there are some. */
static int read_rows(const struct reading *reading, struct gput_error *error)
{
    const struct spans *spans = &reading->spans;
    CLEANUP_FREE struct tracking_row *rows = malloc(BATCH * sizeof *rows);
    size_t count;
    if (!rows)
        return error_memory(error);
    for (;;) {
        TRY(tracking_reader_next(reading->reader, rows, BATCH, &count, error));
        if (count == 0)
            return recorded_pass_rest(reading->options, reading->table, error);
        for (const struct tracking_row *row = rows; row < rows + count; row++) {
            size_t after = 0;
            if (spans->items)
                PARTITION_POINT(after, spans->count, spans->items[after].start <= row->timestamp);
            if (spans->items && (after == 0 || row->timestamp > spans->items[after - 1].end))
                continue;
            /* Put the sample, counts as whole numbers. */
            struct gput_table *table = reading->table;
            const struct gput_static_data *data = tracking_reader_static_data(reading->reader);
            for (size_t i = 0; i < TRACKED_MEASUREMENTS; i++) {
                enum gput_measurement_id id = tracked_measurements[i];
                enum gput_quantity quantity = gput_measurement(id)->quantity;
                double value = row->values[id];
                if (!reading->has[id])
                    continue;
                if (reading->options->for_joins)
                    value = static_data_base_value(data, quantity, value);
                if (quantity != GPUT_QUANTITY_COUNT)
                    table_put_double(table, value);
                else if (fabs(value) < 0x1p53)
                    table_put_int(table, (int64_t)value);
                else
                    table_put_missing(table);
            }
            table_put_double(table, row->timestamp);
            TRY(recorded_pass_full(reading->options, reading->table, error));
        }
    }
}

static void reading_finish(struct reading *reading)
{
    if (reading->reader)
        tracking_reader_close(reading->reader);
    free(reading->spans.items);
    gput_tables_destroy(reading->tables);
}

int gput_recorded_samples(const char *path, const struct gput_recorded_options *given,
    struct gput_tables **tables, struct gput_error *error)
{
    struct gput_recorded_options options = usual;
    CLEANUP(reading_finish) struct reading reading = {.options = &options};
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(options.for_joins ? tracking_reader_salvage(path, &reading.reader, error)
                          : tracking_reader_open(path, &reading.reader, error));
    reading.tables = tables_create();
    if (!reading.tables)
        return error_memory(error);
    add_samples(&reading, reading.tables);
    /* Add what the file says of its session, each value by its type. */
    size_t count;
    const struct tracking_static_cell *cells = tracking_reader_static_cells(reading.reader, &count);
    struct gput_table *table = tables_add_record(reading.tables, "static_data");
    int64_t integer;
    double number;
    for (size_t i = 0; i < count; i++)
        table_add_column(table, cells[i].name, cell_type(cells[i].text, &integer, &number));
    for (size_t i = 0; i < count; i++) {
        enum gput_column_type type = cell_type(cells[i].text, &integer, &number);
        if (type == GPUT_COLUMN_INT)
            table_put_int(table, integer);
        else if (type == GPUT_COLUMN_DOUBLE)
            table_put_double(table, number);
        else
            table_put_text(table, cells[i].text[0] ? cells[i].text : NULL);
    }
    if (options.spans)
        TRY(join_spans(&options, &reading.spans, error));
    TRY(read_rows(&reading, error));
    const char *warning = tracking_reader_warning(reading.reader);
    if (warning && options.warn)
        options.warn(options.user, warning);
    return tables_finish_building(STEAL(reading.tables), tables, error);
}

int gput_recorded_tables(const char *path, struct gput_tables **tables, struct gput_error *error)
{
    CLEANUP(reading_finish) struct reading reading = {0};
    *tables = NULL;
    TRY(tracking_reader_open(path, &reading.reader, error));
    reading.tables = tables_create();
    if (!reading.tables)
        return error_memory(error);
    TRY(tracking_reader_tables(reading.reader, reading.tables, error));
    return tables_finish_building(STEAL(reading.tables), tables, error);
}
