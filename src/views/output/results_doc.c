/*
 * The columns of the results (model/results_columns.h) make the document: a new figure in the
 * report is one row there.
 */
#include "views/output/results_doc.h"

#include "base/str.h"
#include "model/results_lines.h"
#include "views/output/doc_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Lines ---- */

/* A figure that another tracker reads is there, and not 0. */
static bool is_zero_when_missing(
    const struct results_line *line, const struct gput_results *results)
{
    bool is_null = line->shown == SHOWN_RAM || line->shown == SHOWN_GPU_RAM ||
                   line->shown == SHOWN_GPU_PERCENT;
    return line->section->is_in_older && !is_null && isnan(results->tracker.node_seconds);
}

/* "Short lived, at least" */
static void extend_label(struct doc *line, const char *more)
{
    struct str label = {0};
    if (!line)
        return;
    doc_text_label(line->key, &label);
    str_append(&label, more);
    doc_label(line, str_text(&label));
    line->failed |= label.failed;
    str_finish(&label);
}

/* What texts for people say of a figure in its label. */
static void label_line(
    struct doc *line, enum results_shown shown, const struct gput_results *results)
{
    char parts[ENERGY_PARTS_SIZE], of_parts[ENERGY_PARTS_SIZE + 8];
    if (shown == SHOWN_AT_LEAST || shown == SHOWN_WHOLE_AT_LEAST)
        extend_label(line, ", at least");
    if (shown == SHOWN_ENERGY_TOTAL) {
        energy_total_words(&results->energy, parts);
        snprintf(of_parts, sizeof of_parts, " of %s", parts);
        extend_label(line, of_parts);
    }
}

static void add_number(struct doc *parent, const struct results_line *line, double value,
    const struct gput_results *results)
{
    bool is_in_older = line->section->is_in_older;
    double shown = is_zero_when_missing(line, results) && isnan(value) ? 0.0 : value;
    struct doc *number = doc_add_double(parent, line->key, shown);
    if (number)
        number->keeps_small = !is_in_older;
}

static void add_whole(struct doc *parent, const struct results_line *line, double value)
{
    if (fabs(value) < 0x1p53)
        doc_add_int(parent, line->key, (int64_t)value);
    else if (line->section->is_in_older && line->shown != SHOWN_GPU_COUNT && isnan(value))
        doc_add_int(parent, line->key, 0);
    else
        doc_add_double(parent, line->key, value);
}

static void add_text(struct doc *parent, const char *key, const char *text)
{
    if (*text)
        doc_add_string(parent, key, text);
    else
        doc_add_null(parent, key);
}

/* A count, which is whole and known. */
static void add_count(struct doc *parent, const char *key, double value)
{
    doc_add_int(parent, key, value < 0x1p63 ? (int64_t)value : INT64_MAX);
}

static void add_line(
    struct doc *parent, const struct results_line *line, const struct gput_results *results)
{
    const struct results_column *column = line->column;
    double value = results_column_number(column, results);
    if (column->kind == RESULTS_TEXT)
        add_text(parent, line->key, results_column_text(column, results));
    else if (column->kind != RESULTS_DOUBLE)
        add_count(parent, line->key, value);
    else if (line->shown == SHOWN_WHOLE || line->shown == SHOWN_WHOLE_AT_LEAST ||
             line->shown == SHOWN_GPU_COUNT)
        add_whole(parent, line, value);
    else
        add_number(parent, line, results_to_shown(results, line->shown, value), results);
    if (!isnan(value))
        label_line(parent ? parent->last : NULL, line->shown, results);
}

/* ---- Sections of lines ---- */

struct section_doc {
    const struct gput_results *results;
    struct doc *object;
};

static struct doc *part_of(struct section_doc *section, const struct results_line *line)
{
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)line->part_length, line->part);
    for (struct doc *part = section->object ? section->object->first : NULL; part;
         part = part->next) {
        if (part->kind == DOC_OBJECT && strcmp(part->key, key) == 0)
            return part;
    }
    return doc_add_object(section->object, key);
}

static void visit_line(void *user, const struct results_line *line)
{
    struct section_doc *section = user;
    add_line(line->part ? part_of(section, line) : section->object, line, section->results);
}

static const char *unit_name(const struct gput_results *results, enum results_unit unit)
{
    switch (unit) {
    case RAM_UNIT:
        return gput_ram_unit_name(results->static_data.ram_unit);
    case GPU_RAM_UNIT:
        return gput_ram_unit_name(results->static_data.gpu_ram_unit);
    case TIME_UNIT:
        return gput_time_unit_name(results->static_data.time_unit);
    case ENERGY_UNIT:
        return gput_energy_unit_name(results->energy.unit);
    default:
        return NULL;
    }
}

static void add_section(
    struct doc *root, const struct results_section *section, const struct gput_results *results)
{
    const char *unit = unit_name(results, section->unit);
    struct section_doc doc = {results, doc_add_object(root, section->key)};
    if (unit)
        doc_add_string(doc.object, "unit", unit);
    results_lines_visit(section, visit_line, &doc);
}

/* ---- Lists ---- */

static void add_gpu_column(struct doc *item, const struct results_column *column,
    const struct gput_results *results, const struct gput_gpu *gpu)
{
    double value = results_column_number(column, gpu);
    if (column->kind == RESULTS_FLAG)
        doc_add_bool(item, column->path, value != 0);
    else if (column->kind == RESULTS_TEXT)
        doc_add_string(item, column->path, results_column_text(column, gpu));
    else
        doc_add_double(item, column->path, results_to_shown(results, column->shown, value));
}

/* A GPU lacks nothing as a rule. */
static bool is_shown(const struct results_column *column, const struct gput_gpu *gpu)
{
    return column->path && (strcmp(column->path, "missing") != 0 || gpu->missing[0]);
}

static void add_gpu(struct doc *parent, size_t index, const struct gput_results *results)
{
    char label[32];
    bool has_unit = false;
    const struct gput_gpu *gpu = &results->gpus[index];
    const struct results_list *list = results_gpu_list();
    struct doc *item = doc_add_object(parent, NULL);
    snprintf(label, sizeof label, "GPU %zu", index);
    doc_label(item, label);
    for (const struct results_column *column = list->columns;
         column < list->columns + list->n_columns; column++) {
        if (column->shown == SHOWN_GPU_RAM && !has_unit) {
            doc_add_string(item, "unit", unit_name(results, GPU_RAM_UNIT));
            has_unit = true;
        }
        if (is_shown(column, gpu))
            add_gpu_column(item, column, results, gpu);
    }
}

static void add_gpus(struct doc *root, const struct gput_results *results)
{
    struct doc *gpus = doc_add_array(root, "gpus");
    for (uint32_t i = 0; i < results->n_gpus; i++)
        add_gpu(gpus, i, results);
}

static void fill_limit(
    struct doc *item, const struct gput_results *results, const struct gput_limit_passed *limit)
{
    doc_add_string(item, "kind", limit->kind_name);
    doc_add_double(item, "value",
        results_to_shown(results, results_limit_shown(limit->kind_name), limit->value));
    doc_add_double(item, "at_seconds", limit->at_seconds);
    doc_add_bool(item, "enforced", limit->enforced);
}

/* That of the first one shows also what rounds to 0. */
static void keep_small(struct doc *item)
{
    for (struct doc *value = item ? item->first : NULL; value; value = value->next)
        value->keeps_small = value->kind == DOC_DOUBLE;
}

static void add_limits(struct doc *root, const struct gput_results *results)
{
    if (results->limit.kind_name[0] == '\0')
        return;
    struct doc *first = doc_add_object(root, "limit_passed");
    fill_limit(first, results, &results->limit);
    keep_small(first);
    if (results->n_later_limits == 0)
        return;
    struct doc *limits = doc_add_array(root, "limits_passed_later");
    for (uint32_t i = 0; i < results->n_later_limits; i++) {
        struct doc *item = doc_add_object(limits, NULL);
        doc_label(item, "Limit");
        fill_limit(item, results, &results->later_limits[i]);
    }
}

/* ---- Sources ---- */

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

static void add_sources(struct doc *root, const struct gput_results *results, bool only_missing)
{
    struct doc *sources = doc_add_object(root, "sources");
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        if (only_missing && !is_missing_gpu_figure(&results->sources[i]))
            continue;
        struct doc *source = doc_add_object(sources, results->sources[i].name);
        doc_add_string(source, "state", gput_source_state_name(results->sources[i].state));
        doc_add_string(source, "reason", results->sources[i].reason);
    }
}

/* Where the older report, which is of the machine, differs from what the command may use. */
static void add_allowed(struct doc *root, const struct gput_results *results)
{
    const struct gput_static_data *data = &results->static_data;
    double gpus = results->allowed.gpus;
    bool has_gpus = gpus < data->system_gpu_count;
    if (isnan(data->allowed_ram_bytes) && isnan(data->allowed_cores) && !has_gpus)
        return;
    struct doc *allowed = doc_add_object(root, "allowed");
    if (!isnan(data->allowed_ram_bytes))
        doc_add_double(
            allowed, "ram", results_to_shown(results, SHOWN_RAM, data->allowed_ram_bytes));
    if (!isnan(data->allowed_cores))
        doc_add_double(allowed, "cores", data->allowed_cores);
    if (has_gpus)
        doc_add_int(allowed, "gpus", (int64_t)gpus);
}

/* ---- The document ---- */

static void add_sections(struct doc *root, const struct gput_results *results, bool only_older)
{
    for (size_t i = 0; i < results_section_count; i++) {
        const struct results_section *section = &results_sections[i];
        if ((only_older && !section->is_in_older) ||
            (section->applies && !section->applies(results)))
            continue;
        if (strcmp(section->key, "gpus") == 0)
            add_gpus(root, results);
        else
            add_section(root, section, results);
    }
}

struct doc *results_doc(const struct gput_results *results, bool only_older)
{
    struct doc *root = doc_create_object();
    add_sections(root, results, only_older);
    if (only_older)
        add_allowed(root, results);
    else
        add_limits(root, results);
    if (!only_older || lacks_gpu_figures(results))
        add_sources(root, results, only_older);
    if (!doc_failed(root))
        return root;
    doc_destroy(root);
    return NULL;
}
