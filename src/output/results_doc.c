/*
 * One table of lines (results_lines.c) makes the document: a new figure in the report is one row.
 */
#include "output/results_doc.h"

#include "output/results_lines.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- From the table to a document ---- */

static void add_number(struct doc *parent, const struct results_line *line, double value)
{
    bool is_gpu = line->kind == GPU_RAM || line->kind == GPU_PERCENT;
    double shown = line->documented && !is_gpu && isnan(value) ? 0.0 : value;
    struct doc *number = doc_add_double(parent, line->key, shown);
    if (number)
        number->keeps_small = !line->documented;
}

static void add_whole(struct doc *parent, const struct results_line *line, double value)
{
    if (fabs(value) < 0x1p53)
        doc_add_int(parent, line->key, (int64_t)value);
    else if (line->documented && isnan(value))
        doc_add_int(parent, line->key, 0);
    else
        doc_add_double(parent, line->key, value);
}

/* In the unit that the report has for its kind. */
static double passed_limit(
    const struct gput_results *results, const struct gput_limit_passed *limit)
{
    const struct gput_static_data *data = &results->static_data;
    if (strcmp(limit->kind_name, "ram") == 0)
        return limit->value * gput_ram_unit_factor(data->ram_unit);
    if (strcmp(limit->kind_name, "gpu_ram") == 0)
        return limit->value * gput_ram_unit_factor(data->gpu_ram_unit);
    return limit->value;
}

static void add_later_limits(
    struct doc *parent, const char *key, const struct gput_results *results)
{
    struct doc *limits = doc_add_array(parent, key);
    for (uint32_t i = 0; i < results->n_later_limits && i < GPUT_LIMIT_KINDS - 1; i++) {
        const struct gput_limit_passed *limit = &results->later_limits[i];
        struct doc *item = doc_add_object(limits, NULL);
        doc_label(item, "Limit");
        doc_add_string(item, "kind", limit->kind_name);
        doc_add_double(item, "value", passed_limit(results, limit));
        doc_add_double(item, "at_seconds", limit->at_seconds);
        doc_add_bool(item, "enforced", limit->enforced);
    }
}

/* Why figures of GPUs are missing that the older report has. */
static bool is_missing_gpu_figure(const struct gput_source *source)
{
    return source->state == GPUT_SOURCE_UNAVAILABLE &&
           (strcmp(source->name, "gpu") == 0 || strcmp(source->name, "process_gpu_ram") == 0);
}

/* Without any GPU they are 0. */
static bool lacks_gpu_figures(const struct gput_results *results)
{
    if (!isnan(results->max[GPUT_SYSTEM_GPU_RAM]) && !isnan(results->max[GPUT_COMBINED_GPU_RAM]))
        return false;
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        if (is_missing_gpu_figure(&results->sources[i]))
            return true;
    }
    return false;
}

static void add_sources(
    struct doc *parent, const char *key, const struct gput_results *results, bool only_missing)
{
    struct doc *sources = doc_add_object(parent, key);
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        if (only_missing && !is_missing_gpu_figure(&results->sources[i]))
            continue;
        struct doc *source = doc_add_object(sources, results->sources[i].name);
        doc_add_string(source, "state", gput_source_state_name(results->sources[i].state));
        doc_add_string(source, "reason", results->sources[i].reason);
    }
}

static void add_gpu(
    struct doc *parent, size_t index, const struct gput_gpu *gpu, enum gput_ram_unit unit)
{
    char label[32];
    double factor = gput_ram_unit_factor(unit);
    struct doc *item = doc_add_object(parent, NULL);
    snprintf(label, sizeof label, "GPU %zu", index);
    doc_label(item, label);
    doc_add_string(item, "uuid", gpu->uuid);
    doc_add_string(item, "name", gpu->name);
    doc_add_string(item, "vendor", gpu->vendor);
    doc_add_string(item, "pci_address", gpu->pci_address);
    doc_add_bool(item, "selected", gpu->selected);
    doc_add_string(item, "unit", gput_ram_unit_name(unit));
    doc_add_double(item, "ram_capacity", gpu->ram_capacity_bytes * factor);
    doc_add_double(item, "max_ram", gpu->max_ram_bytes * factor);
    doc_add_double(item, "max_main_ram", gpu->max_main_ram_bytes * factor);
    doc_add_double(item, "max_descendants_ram", gpu->max_descendants_ram_bytes * factor);
    doc_add_double(item, "max_combined_ram", gpu->max_combined_ram_bytes * factor);
    doc_add_double(item, "max_combined_ram_at_most", gpu->max_combined_ram_at_most_bytes * factor);
    doc_add_double(item, "max_utilization_percent", gpu->max_utilization_percent);
    doc_add_double(item, "mean_utilization_percent", gpu->mean_utilization_percent);
    doc_add_double(item, "max_main_sm_percent", gpu->max_main_sm_percent);
    doc_add_double(item, "mean_main_sm_percent", gpu->mean_main_sm_percent);
    doc_add_double(item, "max_descendants_sm_percent", gpu->max_descendants_sm_percent);
    doc_add_double(item, "mean_descendants_sm_percent", gpu->mean_descendants_sm_percent);
    doc_add_double(item, "max_power_watts", gpu->max_power_watts);
    doc_add_double(item, "mean_power_watts", gpu->mean_power_watts);
    if (gpu->missing[0])
        doc_add_string(item, "missing", gpu->missing);
}

static void add_gpus(struct doc *parent, const char *key, const struct gput_results *results)
{
    struct doc *gpus = doc_add_array(parent, key);
    for (uint32_t i = 0; i < results->n_gpus; i++)
        add_gpu(gpus, i, &results->gpus[i], results->static_data.gpu_ram_unit);
}

static double double_at(const struct gput_results *results, size_t offset)
{
    double value;
    memcpy(&value, (const char *)results + offset, sizeof value);
    return value;
}

static int64_t count_at(const struct gput_results *results, const struct results_line *line)
{
    uint64_t wide = 0;
    uint32_t narrow;
    if (line->kind == COUNT_64) {
        memcpy(&wide, (const char *)results + line->offset, sizeof wide);
        return wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
    }
    memcpy(&narrow, (const char *)results + line->offset, sizeof narrow);
    return narrow;
}

/* A line that is no section. */
static void add_value(
    struct doc *parent, const struct results_line *line, const struct gput_results *results)
{
    const struct gput_static_data *data = &results->static_data;
    const char *at = (const char *)results + line->offset;
    double ram = gput_ram_unit_factor(data->ram_unit);
    double gpu_ram = gput_ram_unit_factor(data->gpu_ram_unit);

    switch (line->kind) {
    case RAM_UNIT:
        doc_add_string(parent, line->key, gput_ram_unit_name(data->ram_unit));
        break;
    case GPU_RAM_UNIT:
        doc_add_string(parent, line->key, gput_ram_unit_name(data->gpu_ram_unit));
        break;
    case TIME_UNIT:
        doc_add_string(parent, line->key, gput_time_unit_name(data->time_unit));
        break;
    case RAM:
        add_number(parent, line, double_at(results, line->offset) * ram);
        break;
    case GPU_RAM:
        add_number(parent, line, double_at(results, line->offset) * gpu_ram);
        break;
    case ENERGY_UNIT:
        doc_add_string(parent, line->key, gput_energy_unit_name(results->energy.unit));
        break;
    case ENERGY:
        add_number(parent, line,
            double_at(results, line->offset) / gput_energy_unit_joules(results->energy.unit));
        break;
    case TIME:
        add_number(parent, line,
            double_at(results, line->offset) / gput_time_unit_seconds(data->time_unit));
        break;
    case NUMBER:
    case GPU_PERCENT:
        add_number(parent, line, double_at(results, line->offset));
        break;
    case WHOLE:
        add_whole(parent, line, double_at(results, line->offset));
        break;
    case COUNT_32:
    case COUNT_64:
        doc_add_int(parent, line->key, count_at(results, line));
        break;
    case FLAG:
        doc_add_bool(parent, line->key, *(const bool *)at);
        break;
    case TEXT:
        if (*at)
            doc_add_string(parent, line->key, at);
        else
            doc_add_null(parent, line->key);
        break;
    case CAPTURED_PERCENT:
        add_number(parent, line, results->accounting.captured_percent);
        break;
    case PASSED_LIMIT:
        add_number(parent, line, passed_limit(results, &results->limit));
        break;
    case LATER_LIMITS:
        add_later_limits(parent, line->key, results);
        break;
    case GPUS:
        add_gpus(parent, line->key, results);
        break;
    case SOURCES:
        add_sources(parent, line->key, results, false);
        break;
    case SECTION:
        break;
    }
}

struct doc *results_doc(const struct gput_results *results, bool documented)
{
    struct doc *root = doc_create_object();
    struct doc *parents[RESULTS_LINE_LEVELS + 1] = {root};
    int skipped =
        RESULTS_LINE_LEVELS; /* lines deeper than this belong to a section that does not apply */

    for (size_t i = 0; i < results_line_count; i++) {
        const struct results_line *line = &results_lines[i];
        if (line->level > skipped)
            continue;
        bool applies = !line->applies || line->applies(results);
        skipped = applies && (line->documented || !documented) ? RESULTS_LINE_LEVELS : line->level;
        if (skipped < RESULTS_LINE_LEVELS)
            continue;
        struct doc *parent = parents[line->level];
        if (line->kind == SECTION)
            parents[line->level + 1] = doc_add_object(parent, line->key);
        else
            add_value(parent, line, results);
    }
    if (documented && lacks_gpu_figures(results))
        add_sources(root, "sources", results, true);
    if (!doc_failed(root))
        return root;
    doc_destroy(root);
    return NULL;
}
