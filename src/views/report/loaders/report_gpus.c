#include "views/report/loaders/report_gpus.h"

#include "base/array.h"
#include "base/table_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct figure {
    const char *column, *label, *group, *unit;
    double step;
} figures[REPORT_GPU_FIGURES] = {
    {"ram_used", "RAM in use", "gpu_ram", "bytes", REPORT_STEP_WHOLE},
    {"main_ram", "RAM of main", "gpu_ram", "bytes", REPORT_STEP_WHOLE},
    {"descendants_ram", "RAM of descendants", "gpu_ram", "bytes", REPORT_STEP_WHOLE},
    {"combined_ram", "RAM of the session", "gpu_ram", "bytes", REPORT_STEP_WHOLE},
    {"utilization_percent", "utilization", "gpu", "percent", REPORT_STEP_FRACTION},
    {"main_sm_percent", "processors, main", "gpu", "percent", REPORT_STEP_FRACTION},
    {"descendants_sm_percent", "processors, descendants", "gpu", "percent", REPORT_STEP_FRACTION},
    {"power_watts", "power", "power", "watts", REPORT_STEP_FRACTION},
};
#define POWER (REPORT_GPU_FIGURES - 1)

void report_gpus_init(struct report_gpus *gpus, struct report_session *session)
{
    *gpus = (struct report_gpus){.session = session, .moment = NAN};
    report_column_init(&gpus->power_time, &session->payload->spool, REPORT_STEP_TIME);
    report_column_init(&gpus->power, &session->payload->spool, REPORT_STEP_FRACTION);
}

static void init_gpu(struct report_gpu *gpu, struct report_spool *spool)
{
    report_column_init(&gpu->time, spool, REPORT_STEP_TIME);
    for (int i = 0; i < REPORT_GPU_FIGURES; i++)
        report_column_init(&gpu->values[i], spool, figures[i].step);
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
    double factor = 1 / gput_ram_unit_factor(gpus->session->static_data.gpu_ram_unit);
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
            bool is_ram = figures[i].step == REPORT_STEP_WHOLE;
            double value = table_cells_number(part, row, columns[i]);
            TRY(report_column_add(&gpu->values[i], is_ram ? value * factor : value, error));
        }
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
        };
        if (!isnan(gpu->values[i].max))
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
