/*
 * The report of a session: the formats in which it can be written, and its values.
 */
#include "base/cleanup.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/screen.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "views/output/doc_text.h"
#include "views/output/processes_report.h"
#include "views/output/prometheus.h"
#include "views/output/regions_report.h"
#include "views/output/results_doc.h"
#include "views/output/results_progress.h"
#include "views/output/results_summary.h"
#include "views/output/workflow_formats.h"

#include "model/results.h"
#include "model/results_lines.h"

#include <string.h>

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
    {GPUT_FORMAT_LINE, "line", results_progress_write},
    {GPUT_FORMAT_JSON, "JSON", write_json},
    {GPUT_FORMAT_PROMETHEUS, "Prometheus", write_prometheus},
    {GPUT_FORMAT_OPENMETRICS, "OpenMetrics", write_openmetrics},
    {GPUT_FORMAT_NEXTFLOW_TRACE, "Nextflow's trace", nextflow_trace_write},
    {GPUT_FORMAT_SNAKEMAKE_BENCHMARK, "Snakemake's benchmark", snakemake_benchmark_write},
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
