/*
 * The columns of the results (model/results_columns.h) make the document: a new figure in the
 * report is one row there.
 */
#include "views/output/results_doc.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "base/number.h"
#include "model/results_lines.h"
#include "model/wall_causes.h"
#include "views/output/analysis_render.h"
#include "views/output/doc_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the document is made of, and for whom. */
struct view {
    const struct gput_results *results;
    bool fits[RESULTS_UNITS]; /* figures of that unit are texts, in units that fit */
};

/* Sets for which units the session's own was not chosen. */
static struct view view_of(
    const struct gput_results *results, const struct gput_results_render_options *options)
{
    struct view view = {.results = results};
    if (!options || !options->fits_units)
        return view;
    const struct gput_static_data *data = &results->static_data;
    view.fits[NO_UNIT] = true;
    view.fits[RAM_UNIT] = !options->keeps_ram_unit && data->ram_unit == GPUT_RAM_UNIT_GIGABYTES;
    view.fits[GPU_RAM_UNIT] =
        !options->keeps_gpu_ram_unit && data->gpu_ram_unit == GPUT_RAM_UNIT_GIGABYTES;
    view.fits[TIME_UNIT] = !options->keeps_time_unit && data->time_unit == GPUT_TIME_UNIT_HOURS;
    view.fits[ENERGY_UNIT] =
        !options->keeps_energy_unit && results->energy.unit == GPUT_ENERGY_UNIT_JOULES;
    return view;
}

/* The name of a unit as the session chose it; NULL: a section has several. */
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

/* The unit that a session may choose for such a figure. */
static enum results_unit unit_of(enum results_shown shown)
{
    switch (shown) {
    case SHOWN_RAM:
        return RAM_UNIT;
    case SHOWN_GPU_RAM:
        return GPU_RAM_UNIT;
    case SHOWN_TIME:
        return TIME_UNIT;
    case SHOWN_ENERGY:
    case SHOWN_ENERGY_TOTAL:
        return ENERGY_UNIT;
    default:
        return NO_UNIT;
    }
}

/* ---- Lines ---- */

/* Labels what has its unit in its value: "CPU time: 2 s", not "CPU seconds: 2 s". What a thread
 * waited for is called as in the summary, and pressure by what the kernel's words mean. */
static void label_without_unit(struct doc *line)
{
#define NAMED(ID, name, word, meaning) {#name, word},
    static const char *const ends[][2] = {{"_some_seconds", ", some tasks waited"},
        {"_full_seconds", ", all tasks waited"}, {"_seconds", " time"}};
    static const char *const causes[][2] = {WALL_CAUSES(NAMED)};
#undef NAMED
    char key[64];
    const char *end = "";
    if (!line)
        return;
    snprintf(key, sizeof key, "%s", strcmp(line->key, "seconds") == 0 ? "total" : line->key);
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !*end; i++) {
        size_t length = strlen(key), ended = strlen(ends[i][0]);
        if (length <= ended || strcmp(key + length - ended, ends[i][0]) != 0)
            continue;
        key[length - ended] = '\0';
        end = ends[i][1];
    }
    for (size_t i = 0; i < sizeof causes / sizeof *causes && *end; i++) {
        if (strcmp(key, causes[i][0]) != 0)
            continue;
        snprintf(key, sizeof key, "%s", causes[i][1]);
        end = "";
    }
    CLEANUP_STR struct str label = {0};
    doc_text_label(key, &label);
    str_append(&label, end);
    doc_label(line, str_text(&label));
    line->failed |= label.failed;
}

/* Adds a figure of that base unit ("bytes") as text: in a unit that fits, or in the session's where
 * that was chosen. */
static void add_text(const struct view *view, struct doc *parent, const char *key,
    enum results_shown shown, const char *base_unit, double value)
{
    char text[HUMAN_SIZE], number[NUMBER_TEXT_SIZE];
    enum results_unit unit = unit_of(shown);
    struct doc *line;
    if (!isfinite(value)) {
        line = doc_add_null(parent, key);
    } else if (view->fits[unit]) {
        line = doc_add_string(parent, key, human_of_unit(base_unit, value, text));
    } else {
        size_t length =
            number_format_rounded(results_to_shown(view->results, shown, value), 3, number);
        CLEANUP_STR struct str with_unit = {0};
        str_printf(&with_unit, "%.*s %s", (int)length, number, unit_name(view->results, unit));
        line = doc_add_string(parent, key, str_text(&with_unit));
    }
    if (strcmp(base_unit, "seconds") == 0)
        label_without_unit(line);
}

/* Whether a figure is a text with its unit: one of a unit that fits, or of a chosen unit that the
 * section does not name. */
static bool is_text(const struct view *view, enum results_shown shown, const char *base_unit,
    enum results_unit of_section)
{
    enum results_unit unit = unit_of(shown);
    return base_unit && view->fits[NO_UNIT] && (view->fits[unit] || unit != of_section);
}

/* Makes the label of a line that says more than its key: "Short lived, at least". */
static void extend_label(struct doc *line, const char *more)
{
    CLEANUP_STR struct str label = {0};
    if (!line)
        return;
    if (line->label)
        str_append(&label, line->label);
    else
        doc_text_label(line->key, &label);
    str_append(&label, more);
    doc_label(line, str_text(&label));
    line->failed |= label.failed;
}

/* Adds a number in the unit of its section. A figure that the older report has is there, and 0,
 * where it is unknown; RAM and GPUs are null, and all is where another tracker read it. */
static void add_number(
    const struct view *view, struct doc *parent, const struct results_line *line, double value)
{
    const struct gput_results *results = view->results;
    const char *base_unit = line->column->description.unit;
    bool is_null = line->shown == SHOWN_RAM || line->shown == SHOWN_GPU_RAM ||
                   line->shown == SHOWN_GPU_PERCENT || !isnan(results->tracker.node_seconds);
    if (isnan(value) && line->section->is_in_older && !is_null)
        value = 0;
    if (is_text(view, line->shown, base_unit, line->section->unit)) {
        add_text(view, parent, line->key, line->shown, base_unit, value);
        return;
    }
    value = results_to_shown(results, line->shown, value);
    struct doc *number = doc_add_double(parent, line->key, value);
    if (number)
        number->keeps_small = !line->section->is_in_older;
}

/* Adds a figure by the kind of its column. */
static void add_line(const struct view *view, struct doc *parent, const struct results_line *line)
{
    const struct gput_results *results = view->results;
    const struct results_column *column = line->column;
    double value = results_column_number(column, results);
    if (column->kind == RESULTS_TEXT) {
        const char *text = results_column_text(column, results);
        if (*text)
            doc_add_string(parent, line->key, text);
        else
            doc_add_null(parent, line->key);
    } else if (column->kind != RESULTS_DOUBLE) {
        doc_add_int(parent, line->key, value < 0x1p63 ? (int64_t)value : INT64_MAX);
    } else if (view->fits[NO_UNIT] && column->description.unit) {
        add_number(view, parent, line, value);
    } else if (line->shown == SHOWN_WHOLE || line->shown == SHOWN_WHOLE_AT_LEAST ||
               line->shown == SHOWN_GPU_COUNT) {
        /* Add a whole number. In the sections that older reports have, an unknown one is 0. */
        if (fabs(value) < 0x1p53)
            doc_add_int(parent, line->key, (int64_t)value);
        else if (line->section->is_in_older && line->shown != SHOWN_GPU_COUNT && isnan(value))
            doc_add_int(parent, line->key, 0);
        else
            doc_add_double(parent, line->key, value);
    } else {
        add_number(view, parent, line, value);
    }
    struct doc *added = parent && !isnan(value) ? parent->last : NULL;
    if (line->shown == SHOWN_AT_LEAST || line->shown == SHOWN_WHOLE_AT_LEAST)
        extend_label(added, ", at least");
    if (line->shown == SHOWN_ENERGY_TOTAL) {
        char parts[ENERGY_PARTS_SIZE], of_parts[ENERGY_PARTS_SIZE + 8];
        energy_total_words(&results->energy, parts);
        snprintf(of_parts, sizeof of_parts, " of %s", parts);
        extend_label(added, of_parts);
    }
}

/* ---- Sections of lines ---- */

struct section_doc {
    const struct view *view;
    struct doc *object;
};

/* Adds a line to its section, or to the part of the section that it names, such as "main". */
static void visit_line(void *user, const struct results_line *line)
{
    struct section_doc *section = user;
    char key[64];
    if (!line->part) {
        add_line(section->view, section->object, line);
        return;
    }
    snprintf(key, sizeof key, "%.*s", (int)line->part_length, line->part);
    struct doc *part = section->object ? section->object->first : NULL;
    while (part && (part->kind != DOC_OBJECT || strcmp(part->key, key) != 0))
        part = part->next;
    if (!part) {
        part = doc_add_object(section->object, key);
        if (section->view->fits[NO_UNIT])
            label_without_unit(part);
    }
    add_line(section->view, part, line);
}

/* ---- Lists ---- */

/* Adds a GPU by the columns that have a place in reports. Its "missing" is there only if it says
 * something. */
static void add_gpu(const struct view *view, struct doc *parent, size_t index)
{
    const struct gput_results *results = view->results;
    char label[32];
    bool has_unit = false;
    const struct gput_gpu *gpu = &results->gpus[index];
    const struct results_list *list = results_gpu_list();
    struct doc *item = doc_add_object(parent, NULL);
    snprintf(label, sizeof label, "GPU %zu", index);
    doc_label(item, label);
    for (const struct results_column *column = list->columns;
         column < list->columns + list->n_columns; column++) {
        double value = results_column_number(column, gpu);
        const char *base_unit = column->description.unit;
        if (column->shown == SHOWN_GPU_RAM && !has_unit && !view->fits[GPU_RAM_UNIT]) {
            doc_add_string(item, "unit", unit_name(results, GPU_RAM_UNIT));
            has_unit = true;
        }
        if (!column->path || (strcmp(column->path, "missing") == 0 && !gpu->missing[0]))
            continue;
        if (column->kind == RESULTS_FLAG)
            doc_add_bool(item, column->path, value != 0);
        else if (column->kind == RESULTS_TEXT)
            doc_add_string(item, column->path, results_column_text(column, gpu));
        else if (is_text(view, column->shown, base_unit, GPU_RAM_UNIT))
            add_text(view, item, column->path, column->shown, base_unit, value);
        else
            doc_add_double(item, column->path, results_to_shown(results, column->shown, value));
    }
}

/* Adds what is known of a limit that was passed. */
static void fill_limit(
    const struct view *view, struct doc *item, const struct gput_limit_passed *limit)
{
    enum results_shown shown = results_limit_shown(limit->kind_name);
    doc_add_string(item, "kind", limit->kind_name);
    if (view->fits[NO_UNIT]) {
        const char *base_unit = unit_of(shown) == NO_UNIT ? "seconds" : "bytes";
        add_text(view, item, "value", shown, base_unit, limit->value);
        add_text(view, item, "at_seconds", SHOWN_NUMBER, "seconds", limit->at_seconds);
    } else {
        doc_add_double(item, "value", results_to_shown(view->results, shown, limit->value));
        doc_add_double(item, "at_seconds", limit->at_seconds);
    }
    doc_add_bool(item, "enforced", limit->enforced);
}

/* Adds the limits that were passed. Of the first one text also shows what rounds to 0. */
static void add_limits(const struct view *view, struct doc *root)
{
    const struct gput_results *results = view->results;
    if (results->limit.kind_name[0] == '\0')
        return;
    struct doc *first = doc_add_object(root, "limit_passed");
    fill_limit(view, first, &results->limit);
    for (struct doc *value = first ? first->first : NULL; value; value = value->next)
        value->keeps_small = value->kind == DOC_DOUBLE;
    if (results->n_later_limits == 0)
        return;
    struct doc *limits = doc_add_array(root, "limits_passed_later");
    for (uint32_t i = 0; i < results->n_later_limits; i++) {
        struct doc *item = doc_add_object(limits, NULL);
        doc_label(item, "Limit");
        fill_limit(view, item, &results->later_limits[i]);
    }
}

/* ---- Sources ---- */

/* Whether a source says why figures of GPUs are missing that the older report has. */
static bool is_missing_gpu_figure(const struct gput_source *source)
{
    return source->state == GPUT_SOURCE_UNAVAILABLE &&
           (strcmp(source->name, "gpu") == 0 || strcmp(source->name, "process_gpu_ram") == 0);
}

/* Adds where figures come from. The older report has only why figures of GPUs are missing, if they
 * are: on a machine without a GPU they are 0. */
static void add_sources(struct doc *root, const struct gput_results *results, bool only_missing)
{
    uint32_t count = results->n_sources < GPUT_MAX_SOURCES ? results->n_sources : GPUT_MAX_SOURCES;
    bool is_shown = !only_missing;
    bool lacks_figures =
        isnan(results->max[GPUT_SYSTEM_GPU_RAM]) || isnan(results->max[GPUT_COMBINED_GPU_RAM]);
    for (uint32_t i = 0; i < count; i++)
        is_shown |= lacks_figures && is_missing_gpu_figure(&results->sources[i]);
    if (!is_shown)
        return;
    struct doc *sources = doc_add_object(root, "sources");
    for (uint32_t i = 0; i < count; i++) {
        if (only_missing && !is_missing_gpu_figure(&results->sources[i]))
            continue;
        struct doc *source = doc_add_object(sources, results->sources[i].name);
        doc_add_string(source, "state", gput_source_state_name(results->sources[i].state));
        doc_add_string(source, "reason", results->sources[i].reason);
    }
}

/* ---- The document ---- */

struct doc *results_doc(const struct gput_results *results, bool only_older,
    const struct gput_results_render_options *options)
{
    const struct view view = view_of(results, only_older ? NULL : options);
    struct doc *root = doc_create_object();
    for (size_t i = 0; i < RESULTS_SECTION_COUNT; i++) {
        const struct results_section *section = &results_sections[i];
        if ((only_older && !section->is_in_older) ||
            (section->applies && !section->applies(results)))
            continue;
        if (strcmp(section->key, "gpus") == 0) {
            struct doc *gpus = doc_add_array(root, "gpus");
            for (uint32_t gpu = 0; gpu < results->n_gpus; gpu++)
                add_gpu(&view, gpus, gpu);
            continue;
        }
        const char *unit = unit_name(results, section->unit);
        struct section_doc doc = {&view, doc_add_object(root, section->key)};
        if (unit && !view.fits[section->unit])
            doc_add_string(doc.object, "unit", unit);
        results_lines_visit(section, visit_line, &doc);
    }
    if (only_older) {
        /* Add where the older report, which is of the machine, differs from what the command may
         * use. */
        const struct gput_static_data *data = &results->static_data;
        double gpus = results->allowed.gpus;
        bool has_gpus = gpus < data->system_gpu_count;
        if (!(isnan(data->allowed_ram_bytes) && isnan(data->allowed_cores) && !has_gpus)) {
            struct doc *allowed = doc_add_object(root, "allowed");
            if (!isnan(data->allowed_ram_bytes))
                doc_add_double(
                    allowed, "ram", results_to_shown(results, SHOWN_RAM, data->allowed_ram_bytes));
            if (!isnan(data->allowed_cores))
                doc_add_double(allowed, "cores", data->allowed_cores);
            if (has_gpus)
                doc_add_int(allowed, "gpus", (int64_t)gpus);
        }
    } else
        add_limits(&view, root);
    add_sources(root, results, only_older);
    if (!doc_failed(root))
        return root;
    doc_destroy(root);
    return NULL;
}

/* ---- Code blocks of run --regions ---- */

/* A file of the marks has the others. */
#define MAX_SHOWN 10

static bool has_notes(const char *const *notes)
{
    return notes && notes[0];
}

static void add_notes(struct doc *object, const char *const *notes)
{
    struct doc *array = has_notes(notes) ? doc_add_array(object, "notes") : NULL;
    for (; array && *notes; notes++)
        doc_add_string(array, NULL, *notes);
}

struct doc_items regions_report_add(
    struct doc *root, const struct gput_results_render_options *options)
{
    struct doc_items blocks = {0};
    if (options->regions || has_notes(options->region_notes)) {
        struct doc *regions = doc_add_object(root, "regions");
        if (options->regions)
            blocks = analysis_block_items(options->regions, doc_add_array(regions, "code_blocks"));
        add_notes(regions, options->region_notes);
    }
    if (options->torch_trace || has_notes(options->torch_notes)) {
        struct doc *trace = doc_add_object(root, "torch_trace");
        if (options->torch_trace)
            doc_add_string(trace, "file", options->torch_trace);
        add_notes(trace, options->torch_notes);
    }
    return blocks;
}

static void write_notes(const char *const *notes, struct str *text)
{
    for (const char *const *note = notes; note && *note; note++)
        str_printf(text, "%s%s\n", note == notes ? "\n" : "", *note);
}

void regions_report_write(const struct gput_results_render_options *options, struct str *text)
{
    if (options->regions && options->regions->n_blocks > 0) {
        str_printf(text, "\nRegions: %zu, the longest first\n", options->regions->n_blocks);
        analysis_write_longest(options->regions, MAX_SHOWN, options->width, text);
    }
    write_notes(options->region_notes, text);
    write_notes(options->torch_notes, text);
}
