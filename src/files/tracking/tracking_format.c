#include "files/tracking/tracking_format.h"

#include "base/array.h"
#include "base/number.h"
#include "model/units.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

int tracking_lock(int fd, const char *path, struct gput_error *error)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_EXISTS,
        "Another tracker is writing to %s. Please name another file, or end that tracker first.",
        path);
}

const int tracking_columns[TRACKING_COLUMNS] = {
#define COLUMN(ID) GPUT_##ID,
#define TIMESTAMP() TRACKING_TIMESTAMP,
    TRACKING_FILE_COLUMNS(COLUMN, TIMESTAMP)
#undef COLUMN
#undef TIMESTAMP
};

struct tracking_column tracking_column_of(int place)
{
    if (place == TRACKING_TIMESTAMP)
        return (struct tracking_column){"timestamp", TRACKING_REAL};
    const struct gput_measurement *measurement = gput_measurement((enum gput_measurement_id)place);
    bool whole = measurement->quantity == GPUT_QUANTITY_COUNT;
    return (struct tracking_column){measurement->name, whole ? TRACKING_INTEGER : TRACKING_REAL};
}

#define MIN_RAM 0
#define MIN_GPU_RAM 0
#define MIN_COUNT 0
#define MIN_PERCENT (-DBL_MAX) /* CPU times of an older tracker could decrease by a rounding */

const double tracking_min_values[TRACKING_VALUES] = {
#define MINIMUM(ID, name, QUANTITY, ...) [GPUT_##ID] = MIN_##QUANTITY,
    MEASUREMENTS(MINIMUM)
#undef MINIMUM
        [TRACKING_TIMESTAMP] = -DBL_MAX,
};

int tracking_column_find(const char *name, size_t length)
{
    for (int i = 0; i < TRACKING_COLUMNS; i++) {
        const char *candidate = tracking_column_of(tracking_columns[i]).name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
            return tracking_columns[i];
    }
    return -1;
}

enum {
    RAM_UNIT,
    GPU_RAM_UNIT,
    TIME_UNIT,
    RAM_CAPACITY,
    GPU_RAM_CAPACITY,
    CORE_COUNT,
    EXPECTED_CORES,
    GPU_COUNT,
    EXPECTED_GPUS,
};

const struct tracking_column tracking_static_columns[TRACKING_STATIC_COLUMNS] = {
    [RAM_UNIT] = {"ram_unit", TRACKING_TEXT},
    [GPU_RAM_UNIT] = {"gpu_ram_unit", TRACKING_TEXT},
    [TIME_UNIT] = {"time_unit", TRACKING_TEXT},
    [RAM_CAPACITY] = {"ram_system_capacity", TRACKING_REAL},
    [GPU_RAM_CAPACITY] = {"gpu_ram_system_capacity", TRACKING_REAL},
    [CORE_COUNT] = {"system_core_count", TRACKING_INTEGER},
    [EXPECTED_CORES] = {"n_expected_cores", TRACKING_INTEGER},
    [GPU_COUNT] = {"system_gpu_count", TRACKING_INTEGER},
    [EXPECTED_GPUS] = {"n_expected_gpus", TRACKING_INTEGER},
};

/* Returns a count, which may be unknown. */
static struct tracking_value tracking_whole(double value)
{
    return isnan(value) ? tracking_real(value) : tracking_integer((int64_t)value);
}

struct tracking_value tracking_static_value(const struct gput_static_data *data, size_t column)
{
    double ram = gput_ram_unit_factor(data->ram_unit);
    double gpu_ram = gput_ram_unit_factor(data->gpu_ram_unit);
    switch (column) {
    case RAM_UNIT:
        return tracking_text(gput_ram_unit_name(data->ram_unit));
    case GPU_RAM_UNIT:
        return tracking_text(gput_ram_unit_name(data->gpu_ram_unit));
    case TIME_UNIT:
        return tracking_text(gput_time_unit_name(data->time_unit));
    case RAM_CAPACITY:
        return tracking_real(data->ram_system_capacity_bytes * ram);
    case GPU_RAM_CAPACITY:
        return tracking_real(data->gpu_ram_system_capacity_bytes * gpu_ram);
    case CORE_COUNT:
        return tracking_integer(data->system_core_count);
    case EXPECTED_CORES:
        return tracking_integer(data->n_expected_cores);
    case GPU_COUNT:
        return tracking_whole(data->system_gpu_count);
    default:
        return tracking_whole(data->n_expected_gpus);
    }
}

double tracking_timestamp(const struct gput_sample *sample)
{
    return (double)(sample->time_ns / 1000) / 1e6;
}

bool tracking_file_init(struct tracking_file *file, const struct tracking_format *format,
    const char *path, const struct gput_static_data *static_data)
{
    file->format = format;
    file->path = strdup(path);
    file->static_data = *static_data;
    for (size_t i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        enum gput_quantity quantity = gput_measurement((enum gput_measurement_id)i)->quantity;
        file->factors[i] = static_data_unit_factor(static_data, quantity);
    }
    return file->path != NULL;
}

/* ---- reading ---- */

bool tracking_reader_init(struct tracking_reader *reader, const struct tracking_format *format,
    const char *path, bool salvage)
{
    reader->format = format;
    reader->salvage.wanted = salvage;
    reader->path = strdup(path);
    return reader->path != NULL;
}

int tracking_reader_bad_cell(struct tracking_reader *reader, const char *what,
    unsigned long long number, int place, const char *text, size_t length, struct gput_error *error)
{
    double value;
    const char *end = text + length;
    bool is_number = number_parse_double(text, end, &value) == end;
    return tracking_reader_invalid(reader, error, "%s %llu: \"%.*s\" is not %s (column %s).", what,
        number, (int)(length < 60 ? length : 60), text, is_number ? "a possible value" : "a number",
        tracking_column_of(place).name);
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

/* Returns the text of a cell of the static data; NULL where the file does not have it. */
static const char *cell_text(const struct tracking_reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->cell_count; i++) {
        if (strcmp(reader->cells[i].name, name) == 0)
            return reader->cells[i].text;
    }
    return NULL;
}

/* Reads a number of the static data; NaN where the file does not have it. */
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

/* Reads a count of the static data; NaN also for what no machine has. */
static int cell_count(
    struct tracking_reader *reader, const char *name, double *count, struct gput_error *error)
{
    TRY(cell_number(reader, name, count, error));
    if (!(*count >= 0 && *count <= UINT32_MAX))
        *count = NAN;
    return GPUT_OK;
}

/* Reads the units. They are never empty, but what is read of a page that a damaged database has
 * lost is. */
static int parse_units(struct tracking_reader *reader, struct gput_error *error)
{
    struct gput_static_data *data = &reader->static_data;
    const char *units[TIME_UNIT + 1];
    struct gput_error reason;
    for (size_t i = RAM_UNIT; i <= TIME_UNIT; i++) {
        const char *name = tracking_static_columns[i].name;
        units[i] = cell_text(reader, name);
        if (!units[i])
            return tracking_reader_invalid(
                reader, error, "its static data has no column %s.", name);
        if (!units[i][0])
            return tracking_reader_invalid(
                reader, error, "its static data is damaged or truncated: there is no %s.", name);
    }
    if (ram_unit_parse(units[RAM_UNIT], "RAM", &data->ram_unit, &reason) != GPUT_OK ||
        ram_unit_parse(units[GPU_RAM_UNIT], "GPU RAM", &data->gpu_ram_unit, &reason) != GPUT_OK ||
        time_unit_parse(units[TIME_UNIT], &data->time_unit, &reason) != GPUT_OK)
        return tracking_reader_invalid(reader, error, "%s.", reason.message);
    return GPUT_OK;
}

int tracking_reader_parse_static_data(struct tracking_reader *reader, struct gput_error *error)
{
    struct gput_static_data *data = &reader->static_data;
    double ram, gpu_ram, cores, expected_cores;
    TRY(parse_units(reader, error));
    TRY(cell_number(reader, "ram_system_capacity", &ram, error));
    TRY(cell_number(reader, "gpu_ram_system_capacity", &gpu_ram, error));
    TRY(cell_count(reader, "system_core_count", &cores, error));
    TRY(cell_count(reader, "n_expected_cores", &expected_cores, error));
    TRY(cell_count(reader, "system_gpu_count", &data->system_gpu_count, error));
    TRY(cell_count(reader, "n_expected_gpus", &data->n_expected_gpus, error));
    data->ram_system_capacity_bytes = ram_in_bytes(ram, data->ram_unit);
    data->gpu_ram_system_capacity_bytes = ram_in_bytes(gpu_ram, data->gpu_ram_unit);
    data->system_core_count = isnan(cores) ? 0 : (uint32_t)cores;
    data->n_expected_cores = isnan(expected_cores) ? 0 : (uint32_t)expected_cores;
    data->allowed_ram_bytes = NAN;
    data->allowed_cores = NAN;
    return GPUT_OK;
}

int tracking_reader_check_columns(struct tracking_reader *reader, struct gput_error *error)
{
    if (!reader->has[TRACKING_TIMESTAMP])
        return tracking_reader_invalid(reader, error, "it has no column timestamp.");
    for (size_t i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        if (reader->has[i])
            return GPUT_OK;
    }
    return tracking_reader_invalid(reader, error, "none of its columns is a measurement.");
}
