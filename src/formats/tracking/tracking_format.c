#include "formats/tracking/tracking_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static const struct tracking_format *const formats[] = {&tracking_csv, &tracking_sqlite};

int tracking_format_of(
    const char *path, const struct tracking_format **format, struct gput_error *error)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        size_t extension = strlen(formats[i]->extension);
        if (length >= extension && strcmp(path + length - extension, formats[i]->extension) == 0) {
            *format = formats[i];
            return GPUT_OK;
        }
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "Invalid file name: \"%s\". Valid file extensions are \".csv\" and \".sqlite\".", path);
}

int tracking_lock(int fd, const char *path, struct gput_error *error)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_EXISTS,
        "Another tracker is writing to %s. Please name another file, or end that tracker first.",
        path);
}

struct tracking_column tracking_column_at(size_t index)
{
    if (index == TRACKING_TIMESTAMP)
        return (struct tracking_column){"timestamp", TRACKING_REAL};
    const struct gput_measurement *measurement = gput_measurement((enum gput_measurement_id)index);
    bool whole = measurement->quantity == GPUT_QUANTITY_COUNT;
    return (struct tracking_column){measurement->name, whole ? TRACKING_INTEGER : TRACKING_REAL};
}

int tracking_column_find(const char *name, size_t length)
{
    for (int i = 0; i < TRACKING_COLUMNS; i++) {
        const char *candidate = tracking_column_at((size_t)i).name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
            return i;
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
        return tracking_integer(data->system_gpu_count);
    default:
        return tracking_integer(data->n_expected_gpus);
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
    for (size_t i = 0; i < GPUT_TRACKING_FILE_COLUMNS; i++) {
        enum gput_quantity quantity = gput_measurement((enum gput_measurement_id)i)->quantity;
        file->factors[i] =
            quantity == GPUT_QUANTITY_RAM       ? gput_ram_unit_factor(static_data->ram_unit)
            : quantity == GPUT_QUANTITY_GPU_RAM ? gput_ram_unit_factor(static_data->gpu_ram_unit)
                                                : 1.0;
    }
    return file->path != NULL;
}
