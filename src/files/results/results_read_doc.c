#include "files/results/results_read_doc.h"

#include "base/number.h"
#include "base/text.h"
#include "model/results_lines.h"
#include "model/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Units ---- */

static int read_units(const struct doc *doc, struct gput_results *results, struct gput_error *error)
{
    struct gput_static_data *data = &results->static_data;
    const struct doc *ram = doc_get(doc, "max_ram"), *gpu_ram = doc_get(doc, "max_gpu_ram");
    const struct doc *time = doc_get(doc, "compute_time"), *energy = doc_get(doc, "energy");
    TRY(ram_unit_parse(doc_get_string(ram, "unit"), "RAM", &data->ram_unit, error));
    TRY(time_unit_parse(doc_get_string(time, "unit"), &data->time_unit, error));
    data->gpu_ram_unit = data->ram_unit;
    if (gpu_ram && gpu_ram->kind == DOC_OBJECT)
        TRY(ram_unit_parse(doc_get_string(gpu_ram, "unit"), "GPU RAM", &data->gpu_ram_unit, error));
    if (energy && energy->kind == DOC_OBJECT)
        TRY(energy_unit_parse(doc_get_string(energy, "unit"), &results->energy.unit, error));
    return GPUT_OK;
}

/* ---- Values ---- */

/* To a column of an item; what is not there is not known, and counts are 0 then. */
static void read_value(const struct doc *value, const struct results_column *column,
    enum results_shown shown, const struct gput_results *results, void *item)
{
    double number = doc_number(value);
    const char *text = doc_string(value);
    if (column->kind == RESULTS_TEXT)
        results_column_set_text(column, item, text ? text : "", text ? strlen(text) : 0);
    else if (column->kind == RESULTS_DOUBLE)
        results_column_set_number(column, item, results_from_shown(results, shown, number));
    else
        results_column_set_number(column, item, isnan(number) || number < 0 ? 0 : number);
}

/* ---- Lists ---- */

static int read_sources(
    const struct doc *sources, struct gput_results *results, struct gput_error *error)
{
    for (const struct doc *source = sources ? sources->first : NULL; source;
         source = source->next) {
        const char *word = doc_get_string(source, "state");
        for (int state = GPUT_SOURCE_EXACT; state <= GPUT_SOURCE_UNAVAILABLE; state++) {
            if (source->key && strcmp(word, gput_source_state_name(state)) == 0 &&
                !results_add_source(results, source->key, (enum gput_source_state)state, "%s",
                    doc_get_string(source, "reason")))
                return error_set(error, GPUT_ERROR_FORMAT,
                    "\"sources\" has more than %d members, which no report has", GPUT_MAX_SOURCES);
        }
    }
    return GPUT_OK;
}

static void read_gpu(
    const struct doc *doc, const struct gput_results *results, struct gput_gpu *gpu)
{
    const struct results_list *list = results_gpu_list();
    memset(gpu, 0, sizeof *gpu);
    for (const struct results_column *column = list->columns;
         column < list->columns + list->n_columns; column++) {
        const struct doc *value = column->path ? doc_get(doc, column->path) : NULL;
        if (column->kind == RESULTS_FLAG)
            results_column_set_number(
                column, gpu, !value || (value->kind == DOC_BOOL && value->boolean));
        else
            read_value(value, column, column->shown, results, gpu);
    }
}

static int read_gpus(const struct doc *gpus, struct gput_results *results, struct gput_error *error)
{
    if (!gpus || gpus->kind != DOC_ARRAY)
        return GPUT_OK;
    if (results_reserve_gpus(results, gpus->count) != GPUT_OK)
        return error_memory(error);
    for (const struct doc *gpu = gpus->first; gpu; gpu = gpu->next) {
        if (gpu->kind == DOC_OBJECT)
            read_gpu(gpu, results, &results->gpus[results->n_gpus++]);
    }
    return GPUT_OK;
}

static void read_limit(
    const struct doc *doc, const struct gput_results *results, struct gput_limit_passed *limit)
{
    const struct doc *enforced = doc_get(doc, "enforced");
    const char *kind = doc_get_string(doc, "kind");
    snprintf(limit->kind_name, sizeof limit->kind_name, "%s", kind);
    limit->value =
        results_from_shown(results, results_limit_shown(kind), doc_get_number(doc, "value"));
    limit->at_seconds = doc_get_number(doc, "at_seconds");
    limit->enforced = enforced && enforced->kind == DOC_BOOL && enforced->boolean;
}

static void read_limits(const struct doc *root, struct gput_results *results)
{
    const struct doc *first = doc_get(root, "limit_passed");
    const struct doc *later = doc_get(root, "limits_passed_later");
    if (first && first->kind == DOC_OBJECT)
        read_limit(first, results, &results->limit);
    if (!later || later->kind != DOC_ARRAY)
        return;
    for (const struct doc *item = later->first; item; item = item->next) {
        if (item->kind == DOC_OBJECT && results->n_later_limits < GPUT_LIMIT_KIND_COUNT - 1)
            read_limit(item, results, &results->later_limits[results->n_later_limits++]);
    }
}

/* ---- Lines ---- */

struct reading {
    const struct doc *root;
    struct gput_results *results;
};

static void read_line(void *user, const struct results_line *line)
{
    const struct reading *reading = user;
    const struct doc *object = doc_get(reading->root, line->section->key);
    char part[64];
    snprintf(part, sizeof part, "%.*s", (int)line->part_length, line->part ? line->part : "");
    if (line->part)
        object = doc_get(object, part);
    read_value(
        doc_get(object, line->key), line->column, line->shown, reading->results, reading->results);
}

static void read_lines(const struct doc *root, struct gput_results *results)
{
    struct reading reading = {root, results};
    for (size_t i = 0; i < results_section_count; i++)
        results_lines_visit(&results_sections[i], read_line, &reading);
}

/* Time in calls in which a rank waits for others, or moves data to them. */
static void read_mpi_seconds(const struct doc *blocks, struct gput_results *results)
{
    static const char *const kinds[] = {"mpi:collective/", "mpi:point-to-point/", "mpi:wait/"};
    bool is_list = blocks && blocks->kind == DOC_ARRAY;
    for (const struct doc *block = is_list ? blocks->first : NULL; block; block = block->next) {
        const struct doc *name = doc_get(block, "name");
        const struct doc *time = doc_get(block, "compute_time");
        if (!name || name->kind != DOC_STRING || !text_begins_with(name->string, "mpi:"))
            continue;
        number_add_known(&results->mpi_seconds, 0); /* there are such regions */
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            if (text_begins_with(name->string, kinds[i]))
                number_add_known(&results->mpi_seconds, doc_number(doc_get(time, "total")));
        }
    }
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
    results_forget(results); /* what no line has */
    read_lines(doc, results);
    read_limits(doc, results);
    const struct doc *regions = doc_get(doc, "regions");
    read_mpi_seconds(regions ? doc_get(regions, "code_blocks") : NULL, results);
    TRY(read_sources(doc_get(doc, "sources"), results, error));
    if (!results_are_own(results)) {
        /* Set missing what reports of the older gpu_tracker's pickles lack. */
        static const char reason[] = "not in this file";
        const struct gput_peak unknown = {NAN, NAN, "not in this file"};
        results->peaks.main = results->peaks.descendants = results->peaks.combined = unknown;
        results->peaks.control_group = results->peaks.limit_group = unknown;
        text_fit(results->accounting.processes_missed_reason,
            sizeof results->accounting.processes_missed_reason, reason);
        text_fit(results->accounting.oom_killed_reason,
            sizeof results->accounting.oom_killed_reason, reason);
    }
    return read_gpus(doc_get(doc, "gpus"), results, error);
}
