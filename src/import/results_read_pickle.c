#include "import/results_read_pickle.h"

#include "import/pickle_array.h"
#include "import/pickle_reader.h"

#include "base/text.h"
#include "model/results_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A pickle of protocol 2 and later begins with this byte. */
#define PICKLE_START '\x80'

#define MODULE "gpu_tracker.tracker"

enum usage_class {
    RESOURCE_USAGE,
    MAX_RAM,
    RSS_VALUES,
    MAX_GPU_RAM,
    CPU_UTILIZATION,
    PERCENTAGES,
    GPU_UTILIZATION,
    COMPUTE_TIME,
};

static const struct pickle_class classes[] = {
    {MODULE, "ResourceUsage", RESOURCE_USAGE},
    {MODULE, "MaxRAM", MAX_RAM},
    {MODULE, "RSSValues", RSS_VALUES},
    {MODULE, "MaxGPURAM", MAX_GPU_RAM},
    {MODULE, "CPUUtilization", CPU_UTILIZATION},
    {MODULE, "ProcessingUnitPercentages", PERCENTAGES},
    {MODULE, "GPUUtilization", GPU_UTILIZATION},
    {MODULE, "ComputeTime", COMPUTE_TIME},
    {NULL, NULL, 0},
};

/* Versions before 4 write "descendents". */
static const struct group {
    const char *key, *older_key;
    enum gput_measurement_id ram, private_ram, shared_ram, gpu_ram, cpu_sum, cpu_hardware, threads;
} groups[] = {
    {"main", "main", GPUT_MAIN_RAM, GPUT_MAIN_PRIVATE_RAM, GPUT_MAIN_SHARED_RAM, GPUT_MAIN_GPU_RAM,
        GPUT_CPU_MAIN_SUM, GPUT_CPU_MAIN_HARDWARE, GPUT_MAIN_THREADS},
    {"descendants", "descendents", GPUT_DESCENDANTS_RAM, GPUT_DESCENDANTS_PRIVATE_RAM,
        GPUT_DESCENDANTS_SHARED_RAM, GPUT_DESCENDANTS_GPU_RAM, GPUT_CPU_DESCENDANTS_SUM,
        GPUT_CPU_DESCENDANTS_HARDWARE, GPUT_DESCENDANTS_THREADS},
    {"combined", "combined", GPUT_COMBINED_RAM, GPUT_COMBINED_PRIVATE_RAM, GPUT_COMBINED_SHARED_RAM,
        GPUT_COMBINED_GPU_RAM, GPUT_CPU_COMBINED_SUM, GPUT_CPU_COMBINED_HARDWARE,
        GPUT_COMBINED_THREADS},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct reader {
    const char *name;
    struct gput_results *results;
    struct gput_error *error;
};

static int refuse(const struct reader *reader, const char *what)
{
    return error_set(reader->error, GPUT_ERROR_FORMAT,
        "Pickle file %s does not hold the resource usage of a session: %s.", reader->name, what);
}

/* ---- Values ---- */

static double number_at(const struct pickle_value *state, const char *key)
{
    const struct pickle_value *value = pickle_get(state, key);
    int64_t integer;
    if (value && value->kind == PICKLE_FLOAT)
        return isfinite(value->number) ? value->number : NAN;
    return pickle_integer(value, &integer) ? (double)integer : NAN;
}

static uint32_t count_at(const struct pickle_value *state, const char *key)
{
    double number = number_at(state, key);
    return number >= 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int get_state(const struct reader *reader, const struct pickle_value *parent,
    const char *key, enum usage_class class, const struct pickle_value **state)
{
    const struct pickle_value *value = pickle_get(parent, key);
    *state = NULL;
    if (!pickle_is_object(value, class))
        return refuse(reader, "a part of it is missing");
    *state = value->object.state;
    return GPUT_OK;
}

static const struct pickle_value *state_of_group(
    const struct pickle_value *parent, const struct group *group, enum usage_class class)
{
    const struct pickle_value *value = pickle_get(parent, group->key);
    if (!value)
        value = pickle_get(parent, group->older_key);
    return pickle_is_object(value, class) ? value->object.state : NULL;
}

static double number_of_group(
    const struct pickle_value *parent, const struct group *group, const char *suffix)
{
    char key[64];
    snprintf(key, sizeof key, "%s%s", group->key, suffix);
    double number = number_at(parent, key);
    if (!isnan(number))
        return number;
    snprintf(key, sizeof key, "%s%s", group->older_key, suffix);
    return number_at(parent, key);
}

static const char *unit_at(const struct pickle_value *state)
{
    const struct pickle_value *unit = pickle_get(state, "unit");
    return unit && unit->kind == PICKLE_TEXT ? unit->text.bytes : "";
}

/* Sizes are whole bytes; a product with the unit's factor is so but for its last digits. */
static double bytes_of(double size, enum gput_ram_unit unit)
{
    return round(size / gput_ram_unit_factor(unit));
}

/* ---- Sections ---- */

static int read_ram(const struct reader *reader, const struct pickle_value *usage)
{
    const struct pickle_value *state;
    struct gput_results *results = reader->results;
    TRY(get_state(reader, usage, "max_ram", MAX_RAM, &state));
    TRY(gput_ram_unit_parse(unit_at(state), "RAM", &results->static_data.ram_unit, reader->error));
    enum gput_ram_unit unit = results->static_data.ram_unit;
    results->static_data.ram_system_capacity_bytes =
        bytes_of(number_at(state, "system_capacity"), unit);
    results->max[GPUT_SYSTEM_RAM] = bytes_of(number_at(state, "system"), unit);
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        const struct pickle_value *rss = state_of_group(state, &groups[i], RSS_VALUES);
        results->max[groups[i].ram] = bytes_of(number_at(rss, "total_rss"), unit);
        results->max[groups[i].private_ram] = bytes_of(number_at(rss, "private_rss"), unit);
        results->max[groups[i].shared_ram] = bytes_of(number_at(rss, "shared_rss"), unit);
    }
    return GPUT_OK;
}

static int read_gpu_ram(const struct reader *reader, const struct pickle_value *usage)
{
    const struct pickle_value *state;
    struct gput_results *results = reader->results;
    TRY(get_state(reader, usage, "max_gpu_ram", MAX_GPU_RAM, &state));
    TRY(gput_ram_unit_parse(
        unit_at(state), "GPU RAM", &results->static_data.gpu_ram_unit, reader->error));
    enum gput_ram_unit unit = results->static_data.gpu_ram_unit;
    results->static_data.gpu_ram_system_capacity_bytes =
        bytes_of(number_at(state, "system_capacity"), unit);
    results->max[GPUT_SYSTEM_GPU_RAM] = bytes_of(number_at(state, "system"), unit);
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        results->max[groups[i].gpu_ram] = bytes_of(number_of_group(state, &groups[i], ""), unit);
    return GPUT_OK;
}

static void read_percentages(struct gput_results *results, const struct pickle_value *state,
    enum gput_measurement_id sum, enum gput_measurement_id hardware)
{
    results->max[sum] = number_at(state, "max_sum_percent");
    results->max[hardware] = number_at(state, "max_hardware_percent");
    results->mean[sum] = number_at(state, "mean_sum_percent");
    results->mean[hardware] = number_at(state, "mean_hardware_percent");
}

static int read_cpu(const struct reader *reader, const struct pickle_value *usage)
{
    const struct pickle_value *state, *system;
    struct gput_results *results = reader->results;
    TRY(get_state(reader, usage, "cpu_utilization", CPU_UTILIZATION, &state));
    TRY(get_state(reader, state, "system", PERCENTAGES, &system));
    results->static_data.system_core_count = count_at(state, "system_core_count");
    results->static_data.n_expected_cores = count_at(state, "n_expected_cores");
    read_percentages(results, system, GPUT_CPU_SYSTEM_SUM, GPUT_CPU_SYSTEM_HARDWARE);
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        const struct group *group = &groups[i];
        read_percentages(results, state_of_group(state, group, PERCENTAGES), group->cpu_sum,
            group->cpu_hardware);
        results->max[group->threads] = number_of_group(state, group, "_n_threads");
    }
    return GPUT_OK;
}

static int read_gpus(const struct reader *reader, const struct pickle_value *usage)
{
    const struct pickle_value *state, *percentages;
    struct gput_results *results = reader->results;
    TRY(get_state(reader, usage, "gpu_utilization", GPU_UTILIZATION, &state));
    TRY(get_state(reader, state, "gpu_percentages", PERCENTAGES, &percentages));
    results->static_data.system_gpu_count = count_at(state, "system_gpu_count");
    results->static_data.n_expected_gpus = count_at(state, "n_expected_gpus");
    read_percentages(results, percentages, GPUT_GPU_SUM_UTILIZATION, GPUT_GPU_HARDWARE_UTILIZATION);
    return GPUT_OK;
}

static int read_time(const struct reader *reader, const struct pickle_value *usage)
{
    const struct pickle_value *state;
    struct gput_results *results = reader->results;
    TRY(get_state(reader, usage, "compute_time", COMPUTE_TIME, &state));
    TRY(gput_time_unit_parse(unit_at(state), &results->static_data.time_unit, reader->error));
    results->elapsed_seconds =
        number_at(state, "time") * gput_time_unit_seconds(results->static_data.time_unit);
    return GPUT_OK;
}

/* ---- What the file does not have ---- */

static struct gput_peak unknown_peak(void)
{
    return (struct gput_peak){NAN, NAN, "not in this file"};
}

static void begin_results(struct gput_results *results)
{
    memset(results, 0, sizeof *results);
    results_forget(results);
    results->peaks.main = results->peaks.descendants = unknown_peak();
    results->peaks.combined = results->peaks.control_group = unknown_peak();
    text_fit(results->accounting.processes_missed_reason,
        sizeof results->accounting.processes_missed_reason, "not in this file");
    results->n_sources = 1;
    results->sources[0] = (struct gput_source){RESULTS_OLDER_FILE, GPUT_SOURCE_SAMPLED,
        "kept by the Python package gpu_tracker, which counts MiB of GPU RAM as MB; other figures "
        "than its own are not known"};
}

bool results_is_pickle(const char *bytes, size_t length)
{
    return length > 0 && bytes[0] == PICKLE_START;
}

int results_read_pickle(const char *bytes, size_t length, const char *name,
    struct gput_results *results, struct gput_error *error)
{
    const struct reader reader = {name, results, error};
    struct pickle *pickle;
    begin_results(results);
    TRY(pickle_read(bytes, length, name, classes, &pickle, error));
    const struct pickle_value *root = pickle_root(pickle);
    int code = pickle_is_object(root, RESOURCE_USAGE)
                   ? GPUT_OK
                   : refuse(&reader, "it is not a ResourceUsage object");
    const struct pickle_value *usage = code == GPUT_OK ? root->object.state : NULL;
    int (*const sections[])(const struct reader *, const struct pickle_value *) = {
        read_ram, read_gpu_ram, read_cpu, read_gpus, read_time};
    for (size_t i = 0; code == GPUT_OK && i < COUNT_OF(sections); i++)
        code = sections[i](&reader, usage);
    pickle_destroy(pickle);
    return code;
}
