#include "model/results.h"

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double static_data_unit_factor(const struct gput_static_data *data, enum gput_quantity quantity)
{
    switch (quantity) {
    case GPUT_QUANTITY_RAM:
        return gput_ram_unit_factor(data->ram_unit);
    case GPUT_QUANTITY_GPU_RAM:
        return gput_ram_unit_factor(data->gpu_ram_unit);
    default:
        return 1;
    }
}

double ram_in_bytes(double value, enum gput_ram_unit unit)
{
    double bytes = value / gput_ram_unit_factor(unit), whole = nearbyint(bytes);
    return fabs(bytes - whole) <= 4 * DBL_EPSILON * fabs(bytes) ? whole : bytes;
}

double static_data_base_value(
    const struct gput_static_data *data, enum gput_quantity quantity, double value)
{
    if (quantity == GPUT_QUANTITY_RAM)
        return ram_in_bytes(value, data->ram_unit);
    return quantity == GPUT_QUANTITY_GPU_RAM ? ram_in_bytes(value, data->gpu_ram_unit) : value;
}

int results_reserve_gpus(struct gput_results *results, size_t count)
{
    if (count <= results->gpu_capacity)
        return GPUT_OK;
    if (!ARRAY_RESIZE(results->gpus, count))
        return GPUT_ERROR_MEMORY;
    results->gpu_capacity = (uint32_t)count;
    return GPUT_OK;
}

/* Sources are two thirds of results, and most of them are not used. */
#define AT_SOURCES offsetof(struct gput_results, sources)
#define AFTER_SOURCES (AT_SOURCES + sizeof((struct gput_results *)0)->sources)

void results_clear(struct gput_results *results)
{
    memset(results, 0, AT_SOURCES);
    memset((char *)results + AFTER_SOURCES, 0,
        offsetof(struct gput_results, gpu_capacity) - AFTER_SOURCES);
}

int results_copy(struct gput_results *to, const struct gput_results *from)
{
    TRY(results_reserve_gpus(to, from->n_gpus));
    memcpy(to, from, AT_SOURCES + from->n_sources * sizeof from->sources[0]);
    memcpy((char *)to + AFTER_SOURCES, (const char *)from + AFTER_SOURCES,
        offsetof(struct gput_results, gpu_capacity) - AFTER_SOURCES);
    if (from->n_gpus > 0)
        memcpy(to->gpus, from->gpus, from->n_gpus * sizeof *from->gpus);
    return GPUT_OK;
}

void identity_forget(struct gput_identity *identity)
{
    memset(identity, 0, sizeof *identity);
#define NO_TEXT(member, size, path, meaning)
#define NO_NUMBER(member, path, meaning) identity->member = NAN;
    IDENTITY(NO_TEXT, NO_NUMBER)
#undef NO_TEXT
#undef NO_NUMBER
}

bool results_are_own(const struct gput_results *results)
{
    return results->n_sources == 0 || strcmp(results->sources[0].name, RESULTS_OLDER_FILE) != 0;
}

double results_ram_of_limit(const struct gput_results *results, double ram_bytes)
{
    double limit = results->static_data.allowed_ram_bytes;
    double charged = results->peaks.limit_group.bytes;
    bool is_of_group =
        results->allowed.memory_max_bytes <= limit && !(results->allowed.limit_ram_bytes <= limit);
    if (!is_of_group)
        return ram_bytes;
    if (!isnan(charged))
        return fmin(ram_bytes, charged);
    return ram_bytes < NEAR_LIMIT * limit ? ram_bytes : NAN;
}

bool results_ram_is_not_of_limit(const struct gput_results *results, double ram_bytes)
{
    double near = NEAR_LIMIT * results->static_data.allowed_ram_bytes;
    return ram_bytes >= near && !(results_ram_of_limit(results, ram_bytes) >= near);
}

void results_finish(struct gput_results *results)
{
    free(results->gpus);
    results->gpus = NULL;
    results->gpu_capacity = results->n_gpus = 0;
}

const struct gput_source *results_find_source(const struct gput_results *results, const char *name)
{
    for (uint32_t i = 0; i < results->n_sources; i++) {
        if (strcmp(results->sources[i].name, name) == 0)
            return &results->sources[i];
    }
    return NULL;
}

bool results_source_is(
    const struct gput_results *results, const char *name, enum gput_source_state state)
{
    const struct gput_source *source = results_find_source(results, name);
    return source && source->state == state;
}

bool results_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *format, ...)
{
    if (results->n_sources == GPUT_MAX_SOURCES)
        return false;
    struct gput_source *source = &results->sources[results->n_sources++];
    source->state = state;
    text_fit(source->name, sizeof source->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(source->reason, sizeof source->reason, format, arguments);
    va_end(arguments);
    return true;
}

void gput_results_destroy(struct gput_results *results)
{
    if (results)
        results_finish(results);
    free(results);
}

double gput_results_seconds(const struct gput_results *results)
{
    return results->elapsed_seconds;
}

/* Values that a later version of the library added are missing here: NaN. */
static double at(const double *values, size_t index, size_t count)
{
    return index < count ? values[index] : NAN;
}

double gput_results_max(const struct gput_results *results, enum gput_measurement_id measurement)
{
    return at(results->max, measurement, GPUT_MEASUREMENT_COUNT);
}

double gput_results_mean(const struct gput_results *results, enum gput_measurement_id measurement)
{
    return at(results->mean, measurement, GPUT_MEASUREMENT_COUNT);
}

double gput_results_now(const struct gput_results *results, enum gput_measurement_id measurement)
{
    return at(results->now.values, measurement, GPUT_MEASUREMENT_COUNT);
}

double gput_results_energy(const struct gput_results *results, enum gput_energy_figure figure)
{
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&results->energy, joules);
    return at(joules, figure, GPUT_ENERGY_FIGURE_COUNT);
}

bool gput_results_was_ended(const struct gput_results *results)
{
    return results->limit.enforced;
}

enum gput_ram_unit gput_results_ram_unit(const struct gput_results *results)
{
    return results->static_data.ram_unit;
}

enum gput_ram_unit gput_results_gpu_ram_unit(const struct gput_results *results)
{
    return results->static_data.gpu_ram_unit;
}

enum gput_time_unit gput_results_time_unit(const struct gput_results *results)
{
    return results->static_data.time_unit;
}

void gput_results_set_units(struct gput_results *results, enum gput_ram_unit ram,
    enum gput_ram_unit gpu_ram, enum gput_time_unit time)
{
    results->static_data.ram_unit = ram;
    results->static_data.gpu_ram_unit = gpu_ram;
    results->static_data.time_unit = time;
}

size_t gput_results_source_count(const struct gput_results *results)
{
    return results->n_sources;
}

const char *gput_results_source_name(const struct gput_results *results, size_t index)
{
    return index < results->n_sources ? results->sources[index].name : NULL;
}

enum gput_source_state gput_results_source_state(const struct gput_results *results, size_t index)
{
    return index < results->n_sources ? results->sources[index].state : GPUT_SOURCE_UNAVAILABLE;
}

const char *gput_results_source_reason(const struct gput_results *results, size_t index)
{
    return index < results->n_sources ? results->sources[index].reason : NULL;
}

int gput_results_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *reason, struct gput_error *error)
{
    if (results_add_source(results, name, state, "%s", reason))
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_STATE,
        "There is no space for the source \"%.31s\": results hold at most %d", name,
        GPUT_MAX_SOURCES);
}

const char *gput_source_state_name(enum gput_source_state state)
{
    static const char *const names[] = {
        [GPUT_SOURCE_EXACT] = "exact",
        [GPUT_SOURCE_SAMPLED] = "sampled",
        [GPUT_SOURCE_UNAVAILABLE] = "unavailable",
    };
    return names[state];
}
