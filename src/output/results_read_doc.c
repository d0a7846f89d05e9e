#include "output/results_doc.h"

#include "output/results_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A figure that the document lacks, or has as null, is not known. */
static double number_of(const struct doc *value)
{
    if (value && value->kind == DOC_INT)
        return (double)value->integer;
    return value && value->kind == DOC_DOUBLE ? value->number : NAN;
}

static const char *text_of(const struct doc *value)
{
    return value && value->kind == DOC_STRING ? value->string : "";
}

static double member(const struct doc *object, const char *key)
{
    return number_of(object ? doc_get(object, key) : NULL);
}

/* ---- Units ---- */

static int read_units(const struct doc *doc, struct gput_results *results, struct gput_error *error)
{
    struct gput_static_data *data = &results->static_data;
    const struct doc *ram = doc_get(doc, "max_ram"), *gpu_ram = doc_get(doc, "max_gpu_ram");
    const struct doc *time = doc_get(doc, "compute_time"), *energy = doc_get(doc, "energy");
    TRY(gput_ram_unit_parse(text_of(doc_get(ram, "unit")), "RAM", &data->ram_unit, error));
    TRY(gput_time_unit_parse(text_of(doc_get(time, "unit")), &data->time_unit, error));
    data->gpu_ram_unit = data->ram_unit;
    if (gpu_ram && gpu_ram->kind == DOC_OBJECT)
        TRY(gput_ram_unit_parse(
            text_of(doc_get(gpu_ram, "unit")), "GPU RAM", &data->gpu_ram_unit, error));
    if (energy && energy->kind == DOC_OBJECT)
        TRY(gput_energy_unit_parse(text_of(doc_get(energy, "unit")), &results->energy.unit, error));
    return GPUT_OK;
}

/* From the unit of a line to the base unit; 0: the line is no double. */
static double factor_of(const struct results_line *line, const struct gput_results *results)
{
    switch (line->kind) {
    case RAM:
        return 1 / gput_ram_unit_factor(results->static_data.ram_unit);
    case GPU_RAM:
        return 1 / gput_ram_unit_factor(results->static_data.gpu_ram_unit);
    case ENERGY:
        return gput_energy_unit_joules(results->energy.unit);
    case TIME:
        return gput_time_unit_seconds(results->static_data.time_unit);
    case NUMBER:
    case WHOLE:
    case GPU_PERCENT:
        return 1;
    default:
        return 0;
    }
}

/* ---- Lists ---- */

static void read_sources(const struct doc *sources, struct gput_results *results)
{
    for (const struct doc *source = sources ? sources->first : NULL; source;
         source = source->next) {
        const char *word = source->kind == DOC_OBJECT ? text_of(doc_get(source, "state")) : "";
        for (int state = GPUT_SOURCE_EXACT; state <= GPUT_SOURCE_UNAVAILABLE; state++) {
            if (source->key && strcmp(word, gput_source_state_name(state)) == 0)
                results_add_source(results, source->key, (enum gput_source_state)state,
                    text_of(doc_get(source, "reason")));
        }
    }
}

static double bytes_of(const struct doc *object, const char *key, double factor)
{
    return round(member(object, key) * factor);
}

/* `factor`: from the report's unit of GPU RAM to bytes. */
static void read_gpu(const struct doc *doc, double factor, struct gput_gpu *gpu)
{
    const struct doc *selected = doc_get(doc, "selected");
    *gpu = (struct gput_gpu){
        .selected = !selected || selected->boolean,
        .ram_capacity_bytes = bytes_of(doc, "ram_capacity", factor),
        .max_ram_bytes = bytes_of(doc, "max_ram", factor),
        .max_main_ram_bytes = bytes_of(doc, "max_main_ram", factor),
        .max_descendants_ram_bytes = bytes_of(doc, "max_descendants_ram", factor),
        .max_combined_ram_bytes = bytes_of(doc, "max_combined_ram", factor),
        .max_combined_ram_at_most_bytes = bytes_of(doc, "max_combined_ram_at_most", factor),
        .max_utilization_percent = member(doc, "max_utilization_percent"),
        .mean_utilization_percent = member(doc, "mean_utilization_percent"),
        .max_main_sm_percent = member(doc, "max_main_sm_percent"),
        .mean_main_sm_percent = member(doc, "mean_main_sm_percent"),
        .max_descendants_sm_percent = member(doc, "max_descendants_sm_percent"),
        .mean_descendants_sm_percent = member(doc, "mean_descendants_sm_percent"),
        .max_power_watts = member(doc, "max_power_watts"),
        .mean_power_watts = member(doc, "mean_power_watts"),
        .now = {NAN, NAN, NAN, NAN, NAN},
    };
    snprintf(gpu->uuid, sizeof gpu->uuid, "%s", text_of(doc_get(doc, "uuid")));
    snprintf(gpu->name, sizeof gpu->name, "%s", text_of(doc_get(doc, "name")));
    snprintf(gpu->vendor, sizeof gpu->vendor, "%s", text_of(doc_get(doc, "vendor")));
    snprintf(gpu->pci_address, sizeof gpu->pci_address, "%s", text_of(doc_get(doc, "pci_address")));
    snprintf(gpu->missing, sizeof gpu->missing, "%s", text_of(doc_get(doc, "missing")));
}

static int read_gpus(const struct doc *gpus, struct gput_results *results, struct gput_error *error)
{
    if (!gpus || gpus->kind != DOC_ARRAY)
        return GPUT_OK;
    if (results_reserve_gpus(results, gpus->count) != GPUT_OK)
        return error_memory(error);
    double factor = 1 / gput_ram_unit_factor(results->static_data.gpu_ram_unit);
    for (const struct doc *gpu = gpus->first; gpu; gpu = gpu->next) {
        if (gpu->kind == DOC_OBJECT)
            read_gpu(gpu, factor, &results->gpus[results->n_gpus++]);
    }
    return GPUT_OK;
}

/* ---- Lines ---- */

static void read_line(
    const struct doc *value, const struct results_line *line, struct gput_results *results)
{
    char *at = (char *)results + line->offset;
    double number = number_of(value), factor = factor_of(line, results);
    double known = isnan(number) || number < 0 ? 0 : number;
    bool is_bytes = line->kind == RAM || line->kind == GPU_RAM;
    if (factor != 0) {
        number = is_bytes ? round(number * factor) : number * factor;
        memcpy(at, &number, sizeof number);
    } else if (line->kind == COUNT_64) {
        uint64_t count = known < 0x1p63 ? (uint64_t)known : 0;
        memcpy(at, &count, sizeof count);
    } else if (line->kind == COUNT_32) {
        uint32_t count = known <= UINT32_MAX ? (uint32_t)known : 0;
        memcpy(at, &count, sizeof count);
    } else if (line->kind == CAPTURED_PERCENT) {
        results->accounting.captured_percent = number;
    } else if (line->kind == TEXT) {
        snprintf(at, line->size, "%s", text_of(value));
    } else if (line->kind == FLAG) {
        *(bool *)at = value && value->kind == DOC_BOOL && value->boolean;
    }
}

static void read_lines(const struct doc *root, struct gput_results *results)
{
    const struct doc *parents[RESULTS_LINE_LEVELS + 1] = {root};
    for (size_t i = 0; i < results_line_count; i++) {
        const struct results_line *line = &results_lines[i];
        const struct doc *parent = parents[line->level];
        bool is_object = parent && parent->kind == DOC_OBJECT;
        const struct doc *value = is_object ? doc_get(parent, line->key) : NULL;
        if (line->kind == SECTION)
            parents[line->level + 1] = value;
        else
            read_line(value, line, results);
    }
}

/* What no line has is not known. */
static void forget_all(struct gput_results *results)
{
    double *const lists[] = {results->max, results->mean, results->now.values};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (int k = 0; k < GPUT_MEASUREMENT_COUNT; k++)
            lists[i][k] = NAN;
    }
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        results->now.watts[i] = NAN;
    results->now.system_cpu_seconds = results->now.main_cpu_seconds = NAN;
    results->now.descendants_cpu_seconds = NAN;
    results->accounting.storage_dirtied_bytes = NAN;
    results->peaks.control_group.at_most_bytes = NAN;
}

bool results_doc_is_report(const struct doc *doc)
{
    const struct doc *ram = doc->kind == DOC_OBJECT ? doc_get(doc, "max_ram") : NULL;
    const struct doc *time = ram ? doc_get(doc, "compute_time") : NULL;
    return time && ram->kind == DOC_OBJECT && time->kind == DOC_OBJECT;
}

int results_read_doc(const struct doc *doc, struct gput_results *results, struct gput_error *error)
{
    TRY(read_units(doc, results, error));
    forget_all(results);
    read_lines(doc, results);
    read_sources(doc_get(doc, "sources"), results);
    return read_gpus(doc_get(doc, "gpus"), results, error);
}
