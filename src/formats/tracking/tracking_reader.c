#include "formats/tracking/tracking_reader.h"

#include "base/array.h"
#include "base/number.h"
#include "formats/tracking/tracking_format.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_reader(
    const char *path, bool salvage, struct tracking_reader **reader, struct gput_error *error)
{
    const struct tracking_format *format;
    *reader = NULL;
    TRY(tracking_format_of(path, &format, error));
    int code = format->open(path, salvage, reader, error);
    if (code != GPUT_OK) {
        tracking_reader_close(*reader);
        *reader = NULL;
    }
    return code;
}

int tracking_reader_open(
    const char *path, struct tracking_reader **reader, struct gput_error *error)
{
    return open_reader(path, false, reader, error);
}

int tracking_reader_salvage(
    const char *path, struct tracking_reader **reader, struct gput_error *error)
{
    return open_reader(path, true, reader, error);
}

void tracking_reader_close(struct tracking_reader *reader)
{
    if (!reader)
        return;
    reader->format->close(reader);
    for (size_t i = 0; i < reader->cell_count; i++) {
        free((char *)reader->cells[i].name);
        free((char *)reader->cells[i].text);
    }
    free(reader->cells);
    free(reader->path);
    str_finish(&reader->warning);
    free(reader);
}

const struct gput_static_data *tracking_reader_static_data(const struct tracking_reader *reader)
{
    return &reader->static_data;
}

const struct tracking_static_cell *tracking_reader_static_cells(
    const struct tracking_reader *reader, size_t *count)
{
    *count = reader->cell_count;
    return reader->cells;
}

uint64_t tracking_reader_rows_skipped(const struct tracking_reader *reader)
{
    return reader->salvage.rows_skipped;
}

bool tracking_reader_has(const struct tracking_reader *reader, enum gput_measurement_id id)
{
    return id < GPUT_TRACKING_FILE_COLUMNS && reader->has[id];
}

int tracking_reader_next(struct tracking_reader *reader, struct tracking_row *rows, size_t capacity,
    size_t *count, struct gput_error *error)
{
    struct gput_error damage;
    struct salvage *salvage = &reader->salvage;
    *count = 0;
    if (salvage->cut_short)
        return GPUT_OK;
    int code = reader->format->next(reader, rows, capacity, count, &damage);
    if (salvage_rest(salvage, code, &damage) != GPUT_OK)
        return error_copy(error, &damage);
    if (salvage_lost(salvage))
        salvage_describe(salvage, reader->rows, &reader->warning);
    return reader->warning.failed ? error_memory(error) : GPUT_OK;
}

int tracking_reader_tables(
    struct tracking_reader *reader, struct gput_tables *building, struct gput_error *error)
{
    if (!reader->format->read_tables)
        return error_set(error, GPUT_ERROR_INVALID,
            "%s has no further tables; a tracking file that ends in .sqlite has", reader->path);
    return reader->format->read_tables(reader, building, error);
}

void tracking_reader_progress(const struct tracking_reader *reader, uint64_t *done, uint64_t *total)
{
    reader->format->progress(reader, done, total);
}

const char *tracking_reader_warning(const struct tracking_reader *reader)
{
    return reader->warning.length ? reader->warning.data : NULL;
}

bool tracking_reader_init(struct tracking_reader *reader, const struct tracking_format *format,
    const char *path, bool salvage)
{
    reader->format = format;
    reader->salvage.wanted = salvage;
    reader->path = strdup(path);
    return reader->path != NULL;
}

int tracking_reader_invalid(
    struct tracking_reader *reader, struct gput_error *error, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(
        error, GPUT_ERROR_FORMAT, "Tracking file %s is invalid: %s", reader->path, text);
}

int tracking_reader_add_cell(struct tracking_reader *reader, const char *name, size_t name_length,
    const char *text, size_t text_length, struct gput_error *error)
{
    if (!ARRAY_EXTEND(reader->cells, reader->cell_count))
        return error_memory(error);
    struct tracking_static_cell cell = {strndup(name, name_length), strndup(text, text_length)};
    if (!cell.name || !cell.text) {
        free((char *)cell.name);
        free((char *)cell.text);
        return error_memory(error);
    }
    reader->cells[reader->cell_count++] = cell;
    return GPUT_OK;
}

static const char *cell_text(const struct tracking_reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->cell_count; i++) {
        if (strcmp(reader->cells[i].name, name) == 0)
            return reader->cells[i].text;
    }
    return NULL;
}

/* NaN when the file does not have it. */
static int cell_number(
    struct tracking_reader *reader, const char *name, double *value, struct gput_error *error)
{
    const char *text = cell_text(reader, name);
    *value = NAN;
    if (!text || !*text)
        return GPUT_OK;
    const char *end = text + strlen(text);
    if (number_parse_double(text, end, value) == end)
        return GPUT_OK;
    return tracking_reader_invalid(
        reader, error, "\"%.100s\" is not a number (static data, column %s).", text, name);
}

static int cell_count(
    struct tracking_reader *reader, const char *name, uint32_t *count, struct gput_error *error)
{
    double value;
    TRY(cell_number(reader, name, &value, error));
    *count = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
    return GPUT_OK;
}

static int parse_units(struct tracking_reader *reader, struct gput_error *error)
{
    struct gput_static_data *data = &reader->static_data;
    struct gput_error reason;
    const char *ram = cell_text(reader, "ram_unit");
    const char *gpu_ram = cell_text(reader, "gpu_ram_unit");
    const char *time = cell_text(reader, "time_unit");
    if (!ram || !gpu_ram || !time)
        return tracking_reader_invalid(reader, error, "its static data has no column %s.",
            !ram       ? "ram_unit"
            : !gpu_ram ? "gpu_ram_unit"
                       : "time_unit");
    if (gput_ram_unit_parse(ram, "RAM", &data->ram_unit, &reason) != GPUT_OK ||
        gput_ram_unit_parse(gpu_ram, "GPU RAM", &data->gpu_ram_unit, &reason) != GPUT_OK ||
        gput_time_unit_parse(time, &data->time_unit, &reason) != GPUT_OK)
        return tracking_reader_invalid(reader, error, "%s.", reason.message);
    return GPUT_OK;
}

int tracking_reader_parse_static_data(struct tracking_reader *reader, struct gput_error *error)
{
    struct gput_static_data *data = &reader->static_data;
    double ram, gpu_ram;
    TRY(parse_units(reader, error));
    TRY(cell_number(reader, "ram_system_capacity", &ram, error));
    TRY(cell_number(reader, "gpu_ram_system_capacity", &gpu_ram, error));
    TRY(cell_count(reader, "system_core_count", &data->system_core_count, error));
    TRY(cell_count(reader, "n_expected_cores", &data->n_expected_cores, error));
    TRY(cell_count(reader, "system_gpu_count", &data->system_gpu_count, error));
    TRY(cell_count(reader, "n_expected_gpus", &data->n_expected_gpus, error));
    data->ram_system_capacity_bytes = ram / gput_ram_unit_factor(data->ram_unit);
    data->gpu_ram_system_capacity_bytes = gpu_ram / gput_ram_unit_factor(data->gpu_ram_unit);
    data->allowed_ram_bytes = NAN;
    data->allowed_cores = NAN;
    return GPUT_OK;
}

int tracking_reader_check_columns(struct tracking_reader *reader, struct gput_error *error)
{
    if (!reader->has[TRACKING_TIMESTAMP])
        return tracking_reader_invalid(reader, error, "it has no column timestamp.");
    for (size_t i = 0; i < GPUT_TRACKING_FILE_COLUMNS; i++) {
        if (reader->has[i])
            return GPUT_OK;
    }
    return tracking_reader_invalid(reader, error, "none of its columns is a measurement.");
}
