#include "views/report/loaders/report_gpus.h"

#include "base/array.h"
#include "base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a column of the table is to its curve. */
enum kind {
    PLAIN,
    RAM,    /* in the unit of the session */
    MHZ,    /* megahertz, of hertz */
    SLOWED, /* a counter of seconds; the curve is the share of the time since the row before */
};

/* Those of the card are of GPUs that the session used. */
static const struct figure {
    const char *column, *label, *group, *unit;
    enum kind kind;
} figures[REPORT_GPU_FIGURES] = {
    {"ram_used", "RAM in use", "gpu_ram", "bytes", RAM},
    {"main_ram", "RAM of main", "gpu_ram", "bytes", RAM},
    {"descendants_ram", "RAM of descendants", "gpu_ram", "bytes", RAM},
    {"combined_ram", "RAM of the session", "gpu_ram", "bytes", RAM},
    {"utilization_percent", "utilization", "gpu", "percent", PLAIN},
    {"main_sm_percent", "processors, main", "gpu", "percent", PLAIN},
    {"descendants_sm_percent", "processors, descendants", "gpu", "percent", PLAIN},
    {"power_watts", "power", "power", "watts", PLAIN},
    {"sm_active_percent", "processors with work", "card_parts", "percent", PLAIN},
    {"sm_occupancy_percent", "occupancy", "card_parts", "percent", PLAIN},
    {"tensor_active_percent", "tensor cores", "card_parts", "percent", PLAIN},
    {"dram_bandwidth_percent", "memory bandwidth", "card_parts", "percent", PLAIN},
    {"fp16_active_percent", "16 bits", "card_parts", "percent", PLAIN},
    {"fp32_active_percent", "32 bits", "card_parts", "percent", PLAIN},
    {"fp64_active_percent", "64 bits", "card_parts", "percent", PLAIN},
    {"power_cap_seconds", "by the power limit", "card_slowed", "percent", SLOWED},
    {"thermal_seconds", "by heat", "card_slowed", "percent", SLOWED},
    {"hardware_thermal_seconds", "by heat, the chip itself", "card_slowed", "percent", SLOWED},
    {"power_brake_seconds", "by the power supply", "card_slowed", "percent", SLOWED},
    {"sync_boost_seconds", "to other cards' clocks", "card_slowed", "percent", SLOWED},
    {"graphics_clock_mhz", "clock", "card_clock", "hertz", MHZ},
    {"memory_clock_mhz", "clock of the memory", "card_clock", "hertz", MHZ},
    {"temperature_celsius", "chip", "card_temperature", "celsius", PLAIN},
    {"memory_temperature_celsius", "memory", "card_temperature", "celsius", PLAIN},
};
#define COMBINED_RAM 3
#define MAIN_PERCENT 5
#define POWER 7

void report_gpus_init(struct report_gpus *gpus, struct report_session *session)
{
    *gpus = (struct report_gpus){.session = session, .moment = NAN};
    report_column_init(&gpus->power_time, &session->payload->spool, REPORT_STEP_TIME);
    report_column_init(&gpus->power, &session->payload->spool, REPORT_STEP_FRACTION);
}

/* Percents and watts have fractions. */
static double step_of(const struct figure *figure)
{
    bool is_whole = strcmp(figure->unit, "percent") != 0 && strcmp(figure->unit, "watts") != 0;
    return is_whole ? REPORT_STEP_WHOLE : REPORT_STEP_FRACTION;
}

static void init_gpu(struct report_gpu *gpu, struct report_spool *spool)
{
    report_column_init(&gpu->time, spool, REPORT_STEP_TIME);
    gpu->before_s = NAN;
    for (int i = 0; i < REPORT_GPU_FIGURES; i++) {
        report_column_init(&gpu->values[i], spool, step_of(&figures[i]));
        gpu->counters_before[i] = NAN;
    }
}

/* What the curve has of the value of a row. A counter that was reset leaves a gap. */
static double value_of(
    struct report_gpu *gpu, int figure, double value, double time_s, double ram_factor)
{
    switch (figures[figure].kind) {
    case RAM:
        return value * ram_factor;
    case MHZ:
        return value * 1e6;
    case SLOWED: {
        double slowed_s = value - gpu->counters_before[figure], span_s = time_s - gpu->before_s;
        gpu->counters_before[figure] = value;
        return slowed_s >= 0 && span_s > 0 ? fmin(100, 100 * slowed_s / span_s) : NAN;
    }
    default:
        return value;
    }
}

/* The GPU of a row, made when it is its first; NULL without memory. */
static struct report_gpu *gpu_of(struct report_gpus *gpus, const char *uuid)
{
    uint32_t number = names_add(&gpus->uuids, uuid, strlen(uuid));
    if (number == NAMES_NONE)
        return NULL;
    if (number < gpus->count)
        return &gpus->gpus[number];
    if (!ARRAY_EXTEND(gpus->gpus, gpus->count))
        return NULL;
    init_gpu(&gpus->gpus[gpus->count], &gpus->session->payload->spool);
    return &gpus->gpus[gpus->count++];
}

/* The rows of a moment are whole: those of one GPU that is not known leave a gap. */
static int end_moment(struct report_gpus *gpus, struct gput_error *error)
{
    if (isnan(gpus->moment))
        return GPUT_OK;
    TRY(report_column_add(&gpus->power_time, gpus->moment, error));
    return report_column_add(&gpus->power, gpus->watts, error);
}

/* Adds up the power of all GPUs at a moment. */
static int add_power(
    struct report_gpus *gpus, double moment, double watts, struct gput_error *error)
{
    if (moment == gpus->moment) {
        gpus->watts += watts;
        return GPUT_OK;
    }
    TRY(end_moment(gpus, error));
    gpus->moment = moment;
    gpus->watts = watts;
    return GPUT_OK;
}

int report_gpus_add(
    struct report_gpus *gpus, const struct gput_table *part, struct gput_error *error)
{
    size_t uuid = table_cells_find(part, "uuid"), time = table_cells_find(part, "timestamp");
    double ram_factor = 1 / gput_ram_unit_factor(gpus->session->static_data.gpu_ram_unit);
    size_t columns[REPORT_GPU_FIGURES];
    for (int i = 0; i < REPORT_GPU_FIGURES; i++)
        columns[i] = table_cells_find(part, figures[i].column);
    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        double moment = table_cells_number(part, row, time);
        if (!(fabs(moment) < REPORT_LAST_SECOND))
            continue;
        struct report_gpu *gpu = gpu_of(gpus, table_cells_text(part, row, uuid));
        if (!gpu)
            return error_memory(error);
        double time_s = report_session_time(gpus->session, moment);
        TRY(report_column_add(&gpu->time, time_s, error));
        TRY(add_power(gpus, time_s, table_cells_number(part, row, columns[POWER]), error));
        for (int i = 0; i < REPORT_GPU_FIGURES; i++) {
            double value = table_cells_number(part, row, columns[i]);
            TRY(report_column_add(
                &gpu->values[i], value_of(gpu, i, value, time_s, ram_factor), error));
        }
        gpu->before_s = time_s;
    }
    return GPUT_OK;
}

/* The same GPU in the results, or NULL. */
static const struct gput_gpu *find_result(const struct report_gpus *gpus, const char *uuid)
{
    const struct gput_results *results = gpus->session->results;
    for (uint32_t i = 0; results && i < results->n_gpus; i++) {
        if (strcmp(results->gpus[i].uuid, uuid) == 0)
            return &results->gpus[i];
    }
    return NULL;
}

/* Whether the session had memory of a GPU, or worked on it. */
static bool is_used(const struct report_gpu *gpu)
{
    return gpu->values[COMBINED_RAM].max > 0 || gpu->values[MAIN_PERCENT].max > 0 ||
           gpu->values[MAIN_PERCENT + 1].max > 0;
}

/* Adds the curves of a GPU. */
static int add_gpu(struct report_gpus *gpus, uint32_t number, struct gput_error *error)
{
    struct report_gpu *gpu = &gpus->gpus[number];
    const struct gput_gpu *result = find_result(gpus, names_text(&gpus->uuids, number));
    unsigned time;
    TRY(report_session_add_time(gpus->session, &gpu->time, &time, error));
    for (int i = 0; i < REPORT_GPU_FIGURES; i++) {
        char id[64], label[64], scope[32];
        snprintf(scope, sizeof scope, "gpu%u", number);
        snprintf(id, sizeof id, "gpu%u_%s", number, figures[i].column);
        snprintf(label, sizeof label, "GPU %u: %s", number, figures[i].label);
        const struct report_series series = {
            .id = id,
            .label = label,
            .group = figures[i].group,
            .scope = scope,
            .unit = figures[i].unit,
            .limit = i == 0 && result ? result->ram_capacity_bytes : NAN,
            .time = time,
            .of_interval = figures[i].kind == SLOWED,
        };
        bool is_of_card = strncmp(figures[i].group, "card_", 5) == 0;
        if (!isnan(gpu->values[i].max) && (is_used(gpu) || !is_of_card))
            TRY(report_session_add_series(gpus->session, &series, &gpu->values[i], error));
    }
    return GPUT_OK;
}

bool report_gpus_have_power(const struct report_gpus *gpus)
{
    return !isnan(gpus->power.max);
}

int report_gpus_end(struct report_gpus *gpus, struct gput_error *error)
{
    struct doc *list = gpus->count ? doc_add_array(gpus->session->doc, "gpus") : NULL;
    for (uint32_t i = 0; i < gpus->count; i++) {
        const struct gput_gpu *result = find_result(gpus, names_text(&gpus->uuids, i));
        struct doc *object = doc_add_object(list, NULL);
        doc_add_string(object, "uuid", names_text(&gpus->uuids, i));
        if (result)
            doc_add_string(object, "name", result->name);
        TRY(add_gpu(gpus, i, error));
    }

    /* What each GPU says of a moment, added up: the energy of the session has means of longer
     * times, which are lower than the highest of one GPU. */
    struct report_series series = {.id = "power_gpu",
        .label = "GPUs, single readings",
        .group = "power",
        .scope = "gpu",
        .unit = "watts",
        .limit = NAN};
    TRY(end_moment(gpus, error));
    if (!report_gpus_have_power(gpus))
        return GPUT_OK;
    TRY(report_session_add_time(gpus->session, &gpus->power_time, &series.time, error));
    return report_session_add_series(gpus->session, &series, &gpus->power, error);
}

void report_gpus_finish(struct report_gpus *gpus)
{
    for (uint32_t i = 0; i < gpus->count; i++) {
        report_column_finish(&gpus->gpus[i].time);
        for (int j = 0; j < REPORT_GPU_FIGURES; j++)
            report_column_finish(&gpus->gpus[i].values[j]);
    }
    report_column_finish(&gpus->power_time);
    report_column_finish(&gpus->power);
    free(gpus->gpus);
    names_finish(&gpus->uuids);
}
