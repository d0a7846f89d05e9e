/*
 * The report of a session: the formats in which it can be written, and its values.
 */
#include "base/cleanup.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/sized.h"
#include "base/table.h"
#include "base/utf8.h"
#include "model/results.h"
#include "model/results_columns.h"
#include "model/results_lines.h"
#include "views/output/doc_text.h"
#include "views/output/processes_report.h"
#include "views/output/prometheus.h"
#include "views/output/results_doc.h"
#include "views/output/results_summary.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- Results so far ---- */

/* Appends a part where it fits; all that follows one that does not is left out, too. */
__attribute__((format(printf, 4, 5))) static bool append_part(
    struct str *line, size_t width, bool is_whole, const char *format, ...)
{
    struct str part = {0};
    va_list arguments;
    va_start(arguments, format);
    str_print_list(&part, format, arguments);
    va_end(arguments);
    /* The last column would begin another line. */
    bool fits = is_whole &&
                (width <= 1 || utf8_width(str_text(line)) + utf8_width(str_text(&part)) < width);
    if (fits)
        str_append(line, str_text(&part));
    line->failed |= part.failed;
    str_finish(&part);
    return fits;
}

/* Writes "12.3 s  1.9 cores  RAM 412 MB, peak 500 MB  GPU RAM 11.2 GB, busy 85 %". */
static void write_progress(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    CLEANUP_STR struct str whole = {0};
    struct str *line = &whole;
    size_t width = options->width;
    char now[HUMAN_SIZE];
    const double *values = results->now.values;
    double cpu_percent = values[GPUT_CPU_COMBINED_SUM];
    bool fits = true;
    if (results->elapsed_seconds < 59.95)
        fits = append_part(line, width, fits, "%.1f s", results->elapsed_seconds);
    else
        fits = append_part(line, width, fits, "%s", human_seconds(results->elapsed_seconds, now));
    if (!isnan(cpu_percent))
        fits = append_part(line, width, fits, "  %.1f cores", cpu_percent / 100);
    if (!isnan(values[GPUT_COMBINED_RAM])) {
        fits =
            append_part(line, width, fits, "  RAM %s", human_bytes(values[GPUT_COMBINED_RAM], now));
        fits = append_part(
            line, width, fits, ", peak %s", human_bytes(results->max[GPUT_COMBINED_RAM], now));
    }
    if (results->n_gpus && !isnan(values[GPUT_COMBINED_GPU_RAM]))
        fits = append_part(
            line, width, fits, "  GPU RAM %s", human_bytes(values[GPUT_COMBINED_GPU_RAM], now));
    if (results->n_gpus && !isnan(values[GPUT_GPU_HARDWARE_UTILIZATION]))
        append_part(
            line, width, fits, "  GPUs busy %.0f %%", values[GPUT_GPU_HARDWARE_UTILIZATION]);
    text->failed |= line->failed;
    str_append(text, str_text(line));
}

/* ---- Formats of workflow managers ---- */

/* The mean use of the CPU, 100 being one core; NaN: not known. */
static double mean_cpu_percent(const struct gput_results *results)
{
    double cpu_seconds = results->accounting.kernel_cpu_seconds;
    return results->elapsed_seconds > 0 ? 100 * cpu_seconds / results->elapsed_seconds : NAN;
}

/* The peak of all processes together: at least. */
static double peak_ram_bytes(const struct gput_results *results)
{
    double peak = results->peaks.combined.bytes;
    return isnan(peak) ? results->max[GPUT_COMBINED_RAM] : peak;
}

/* Writes Nextflow's .command.trace: a key a line, percents in tenths, memory in KiB, time in ms. */
static void write_nextflow(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    const struct gput_accounting *accounting = &results->accounting;
    double ram_bytes = peak_ram_bytes(results);
    const struct {
        const char *key;
        double value;
    } lines[] = {
        {"realtime", 1000 * results->elapsed_seconds},
        {"%cpu", 10 * mean_cpu_percent(results)},
        {"rchar", accounting->read_bytes},
        {"wchar", accounting->write_bytes},
        {"read_bytes", accounting->storage_read_bytes},
        {"write_bytes", accounting->storage_write_bytes},
        {"%mem", 1000 * ram_bytes / results->static_data.ram_system_capacity_bytes},
        {"rss", ram_bytes / 1024},
        {"peak_rss", ram_bytes / 1024},
        {"vol_ctxt", accounting->voluntary_context_switches},
        {"inv_ctxt", accounting->involuntary_context_switches},
    };
    (void)options;
    str_append(text, "nextflow.trace/v2\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (isfinite(lines[i].value))
            str_printf(text, "%s=%.0f\n", lines[i].key, lines[i].value);
    }
}

/* Appends a cell after a tab: two digits, as Snakemake has them. */
static void append_cell(struct str *text, double value)
{
    if (isfinite(value))
        str_printf(text, "\t%.2f", value);
    else
        str_append(text, "\tNA");
}

/* Writes the table of Snakemake's `benchmark:`, two lines with tabs; bytes are in MiB. */
static void write_snakemake(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    const double mebibyte = 1 << 20;
    double seconds = results->elapsed_seconds, whole = floor(seconds);
    (void)options;
    str_append(text, "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_"
                     "time\n");
    str_printf(text, "%.4f\t%.0f:%02.0f:%02.0f", seconds, floor(whole / 3600),
        floor(fmod(whole, 3600) / 60), fmod(whole, 60));
    append_cell(text, peak_ram_bytes(results) / mebibyte);
    append_cell(text, NAN);
    append_cell(text, results->max[GPUT_COMBINED_PRIVATE_RAM] / mebibyte);
    append_cell(text, results->max[GPUT_COMBINED_RAM] / mebibyte);
    append_cell(text, results->accounting.storage_read_bytes / mebibyte);
    append_cell(text, results->accounting.storage_write_bytes / mebibyte);
    append_cell(text, mean_cpu_percent(results));
    append_cell(text, results->accounting.kernel_cpu_seconds);
    str_append_char(text, '\n');
}

/* ---- Formats ---- */

/* Writes the report as text, of the older sections alone or of all, and the processes. */
static void write_as_text(const struct gput_results *results,
    const struct gput_results_render_options *options, bool only_older, struct str *text)
{
    struct doc *doc = results_doc(results, only_older, options);
    text->failed |= !doc;
    if (doc)
        doc_text_write(doc, text);
    if (options->processes)
        processes_report_write_tree(options->processes, only_older ? NULL : options, text);
    regions_report_write(options, text);
    doc_destroy(doc);
}

static void write_text(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    write_as_text(results, options, true, text);
}

static void write_full(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    write_as_text(results, options, false, text);
}

/* All of the report, with the processes in it, but for the `blocks` of its regions. */
static struct doc *whole_doc(const struct gput_results *results,
    const struct gput_results_render_options *options, struct doc_items *blocks)
{
    struct doc *doc = results_doc(results, false, NULL);
    if (doc && options->processes)
        processes_report_add(doc, options->processes);
    if (doc)
        *blocks = regions_report_add(doc, options);
    return doc;
}

/* Makes all that is null below a value 0. */
static void set_zeroes(struct doc *value)
{
    if (value->kind == DOC_NULL) {
        value->kind = DOC_DOUBLE;
        value->number = 0;
    }
    for (struct doc *child = value->first; child; child = child->next)
        set_zeroes(child);
}

/* Writes JSON, whose sections that the older report has may have to be without null. */
static void write_json(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    struct doc_items blocks = {0};
    struct doc *doc = whole_doc(results, options, &blocks);
    for (struct doc *section = doc && options->has_older_zeroes ? doc->first : NULL; section;
         section = section->next)
        for (size_t i = 0; i < RESULTS_SECTION_COUNT; i++)
            if (results_sections[i].is_in_older &&
                strcmp(results_sections[i].key, section->key) == 0)
                set_zeroes(section);
    doc_finish_json_with(doc, &blocks, text);
    str_append_char(text, '\n');
}

static void write_prometheus(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    prometheus_write(results, options->labels, GPUT_FORMAT_PROMETHEUS, text);
}

static void write_openmetrics(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    prometheus_write(results, options->labels, GPUT_FORMAT_OPENMETRICS, text);
}

static const struct report_format {
    enum gput_format format;
    const char *name; /* for messages */
    void (*write)(const struct gput_results *results,
        const struct gput_results_render_options *options, struct str *text);
} formats[] = {
    {GPUT_FORMAT_TEXT, "text", write_text},
    {GPUT_FORMAT_FULL, "full", write_full},
    {GPUT_FORMAT_SUMMARY, "summary", results_summary_write},
    {GPUT_FORMAT_LINE, "line", write_progress},
    {GPUT_FORMAT_JSON, "JSON", write_json},
    {GPUT_FORMAT_PROMETHEUS, "Prometheus", write_prometheus},
    {GPUT_FORMAT_OPENMETRICS, "OpenMetrics", write_openmetrics},
    {GPUT_FORMAT_NEXTFLOW_TRACE, "Nextflow's trace", write_nextflow},
    {GPUT_FORMAT_SNAKEMAKE_BENCHMARK, "Snakemake's benchmark", write_snakemake},
};

static const struct gput_results_render_options usual = {.size = sizeof usual};

void gput_results_render_options_init(struct gput_results_render_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

int gput_results_render(const struct gput_results *results,
    const struct gput_results_render_options *given, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct gput_results_render_options options = usual;
    struct str rendered = {0};
    const struct report_format *chosen = NULL;
    CLEANUP_STR struct str names = {0};
    *bytes = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format == format)
            chosen = &formats[i];
        str_printf(&names, "%s%s", i ? ", " : "", formats[i].name);
    }
    if (!chosen)
        return error_set(error, GPUT_ERROR_INVALID,
            "A report does not have this format. It has %s.", str_text(&names));
    TRY(sized_read(&options, sizeof options, given, error));
    chosen->write(results, &options, &rendered);
    if (format == GPUT_FORMAT_TEXT || format == GPUT_FORMAT_FULL)
        screen_sanitize(&rendered, 0);
    return str_steal_bytes(&rendered, bytes, length, error);
}

/* ---- Values ---- */

struct visit {
    gput_results_visitor *visitor;
    void *user;
    struct str text; /* of the value that is visited */
};

/* The kind of a value, as the public API calls it. */
static enum gput_results_value_kind kind_of(const struct doc *doc)
{
    switch (doc->kind) {
    case DOC_BOOL:
        return GPUT_VALUE_BOOL;
    case DOC_INT:
        return GPUT_VALUE_INT;
    case DOC_DOUBLE:
        return GPUT_VALUE_DOUBLE;
    case DOC_STRING:
        return GPUT_VALUE_TEXT;
    case DOC_ARRAY:
        return GPUT_VALUE_LIST;
    case DOC_OBJECT:
        return GPUT_VALUE_OBJECT;
    default:
        return GPUT_VALUE_NULL;
    }
}

/* Visits a value, and what is below it before its end. */
static int visit_doc(struct visit *visit, const struct doc *doc, struct gput_error *error)
{
    struct gput_results_value value = {.kind = kind_of(doc),
        .key = doc->key,
        .integer = doc->kind == DOC_BOOL  ? doc->boolean
                   : doc->kind == DOC_INT ? doc->integer
                                          : 0,
        .number = doc->kind == DOC_DOUBLE ? doc->number : 0};
    if (doc->kind == DOC_STRING) {
        str_clear(&visit->text);
        utf8_append(doc->string, strlen(doc->string), &visit->text);
        if (visit->text.failed)
            return error_memory(error);
        value.text = str_text(&visit->text);
    }
    TRY(visit->visitor(visit->user, &value, error));
    if (doc->kind != DOC_ARRAY && doc->kind != DOC_OBJECT)
        return GPUT_OK;
    for (const struct doc *child = doc->first; child; child = child->next)
        TRY(visit_doc(visit, child, error));
    const struct gput_results_value end = {.kind = GPUT_VALUE_END};
    return visit->visitor(visit->user, &end, error);
}

int gput_results_visit(const struct gput_results *results,
    const struct gput_results_render_options *given, gput_results_visitor *visitor, void *user,
    struct gput_error *error)
{
    struct gput_results_render_options options = usual;
    struct visit visit = {.visitor = visitor, .user = user};
    TRY(sized_read(&options, sizeof options, given, error));
    struct doc_items blocks = {0};
    struct doc *doc = whole_doc(results, &options, &blocks);
    if (doc)
        doc_add_items(&blocks);
    int code = doc && !doc_failed(doc) ? visit_doc(&visit, doc, error) : error_memory(error);
    str_finish(&visit.text);
    doc_destroy(doc);
    return code;
}

/* ---- Tables ---- */

int gput_results_tables(
    const struct gput_results *results, struct gput_tables **tables, struct gput_error *error)
{
    size_t count;
    const struct results_list *lists = results_lists(&count);
    struct gput_tables *building = tables_create();
    for (size_t i = 0; i < count; i++) {
        /* Add the table of a list, a row an item. */
        bool is_record = !lists[i].add;
        struct gput_table *table = is_record ? tables_add_record(building, lists[i].name)
                                             : tables_add(building, lists[i].name);
        /* Add the columns of a list, each in its unit. */
        for (size_t k = 0; k < lists[i].n_columns; k++) {
            const struct gput_results_column *column = &lists[i].columns[k].description;
            table_add_column(table, column->name, column->type);
            if (column->unit)
                table_set_unit(table, column->unit);
        }
        for (size_t row = 0; row < lists[i].count(results); row++) {
            for (size_t k = 0; k < lists[i].n_columns; k++) {
                /* Put the cell of a column by its type. */
                const struct results_column *column = &lists[i].columns[k];
                const void *item = lists[i].at(results, row);
                const char *text;
                switch (column->description.type) {
                case GPUT_COLUMN_INT:
                    table_put_int(table, (int64_t)results_column_number(column, item));
                    break;
                case GPUT_COLUMN_DOUBLE:
                    table_put_double(table, results_column_number(column, item));
                    break;
                case GPUT_COLUMN_TEXT:
                    text = results_column_text(column, item);
                    table_put_text(table, *text ? text : NULL);
                    break;
                }
            }
        }
    }
    return tables_finish_building(building, tables, error);
}
