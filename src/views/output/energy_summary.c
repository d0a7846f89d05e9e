/*
 * The summary of a recording of power. The text is what ExpResults.print() shows; JSON has all of
 * it; energy_overview.c is for people.
 */
#include "analysis/analyze/energy_recording.h"
#include "base/doc.h"
#include "base/number.h"
#include "base/screen.h"
#include "views/output/energy_overview.h"

#include <math.h>
#include <string.h>

/* Whether its integral is joules. */
static bool is_power(const struct gput_energy_metric *metric)
{
    return metric->unit && strcmp(metric->unit, "watts") == 0;
}

static void write_json(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct str *text)
{
    const struct energy_record *record = recording->record;
    struct doc *root = doc_create_object();
    const struct energy_total total = energy_recording_total_of(recording, window);
    columns_add_to_doc(energy_total_columns, ENERGY_TOTAL_COLUMNS, &total, root);
    struct doc *metrics = doc_add_object(root, "metrics");
    size_t count = gput_energy_recording_metric_count(recording);
    for (size_t i = 0; i < count; i++) {
        struct gput_energy_metric metric = gput_energy_metric_default();
        const char *name = gput_energy_recording_metric_name(recording, i);
        if (gput_energy_recording_metric(recording, name, window, &metric, NULL) != GPUT_OK)
            continue;
        columns_add_to_doc(
            energy_metric_columns, ENERGY_METRIC_COLUMNS, &metric, doc_add_object(metrics, name));
    }
    if (root && record->metadata)
        doc_add_copy(root, "metadata", record->metadata);
    if (root && record->model)
        doc_add_copy(root, "model_summary", record->model);
    if (root && record->experiment)
        doc_add_copy(root, "results_exp", record->experiment);
    doc_finish_json(root, text);
    str_append_char(text, '\n');
}

/* ---- text ---- */

static void append_number(struct str *text, double value, int decimals)
{
    char number[NUMBER_TEXT_SIZE];
    if (isnan(value)) {
        str_append(text, "n/a");
        return;
    }
    size_t length = number_format_rounded(value, decimals, number);
    str_append_bytes(text, number, length);
}

static void write_power(
    struct str *text, const char *label, const struct gput_energy_metric *metric)
{
    str_printf(text, "   %s: ", label);
    append_number(text, metric->total, 3);
    str_append(text, " joules (average ");
    append_number(text, metric->average, 3);
    str_append(text, " W, max ");
    append_number(text, metric->max, 3);
    str_append(text, " W)\n");
}

/* Readers of recordings show the integral of CPU time. */
static bool is_cpu_time(const struct gput_energy_metric *metric)
{
    return strcmp(metric->name, "absolute_cpu_time_per_pid") == 0;
}

static void write_other(struct str *text, const struct gput_energy_metric *metric)
{
    str_printf(text, "   %s: ", metric->name);
    if (is_cpu_time(metric)) {
        append_number(text, metric->total, 3);
        str_append(text, " seconds, ");
    }
    str_append(text, "average ");
    append_number(text, metric->average, 6);
    str_append(text, ", max ");
    append_number(text, metric->max, 6);
    str_append_char(text, '\n');
}

static void write_group(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, const char *group, const char *title, struct str *text)
{
    bool any = false;
    size_t count = gput_energy_recording_metric_count(recording);
    for (size_t i = 0; i < count; i++) {
        struct gput_energy_metric metric = gput_energy_metric_default();
        const char *name = gput_energy_recording_metric_name(recording, i);
        if (gput_energy_recording_metric(recording, name, window, &metric, NULL) != GPUT_OK ||
            strcmp(metric.group, group) != 0)
            continue;
        if (!any)
            str_printf(text, "%s:\n", title);
        any = true;
        if (is_power(&metric))
            write_power(text, metric.name, &metric);
        else
            write_other(text, &metric);
    }
}

static void write_model(const struct doc *model, struct str *text)
{
    if (!model || model->kind != DOC_OBJECT)
        return;
    str_append(text, "Model summary:\n");
    for (const struct doc *child = model->first; child; child = child->next) {
        char number[NUMBER_TEXT_SIZE];
        if (child->kind == DOC_INT)
            number_format_int64(child->integer, number);
        else if (child->kind == DOC_DOUBLE)
            number_format_double(child->number, number);
        else if (child->kind != DOC_STRING)
            continue;
        str_printf(
            text, "   %s: %s\n", child->key, child->kind == DOC_STRING ? child->string : number);
    }
}

static void write_text(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct str *text)
{
    const struct energy_total total = energy_recording_total_of(recording, window);
    str_append(text, "Energy consumption:\n   Total power draw: ");
    append_number(text, total.joules, 3);
    str_append(text, " joules\n   Recorded duration: ");
    append_number(text, total.seconds, 3);
    str_append(text, " seconds\n");
    write_group(recording, window, "cpu", "On the CPU", text);
    write_group(recording, window, "gpu", "On the GPU", text);
    write_group(recording, window, "wattmeter", "Wattmeter", text);
    write_group(recording, window, "experiment", "Experiment", text);
    write_model(recording->record->model, text);
}

static void write_overview(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct str *text)
{
    energy_overview_write(recording, window, text);
    if (recording->record->model)
        str_append_char(text, '\n');
    write_model(recording->record->model, text);
}

int gput_energy_recording_render(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct str text = {0};
    *bytes = NULL;
    if (format == GPUT_FORMAT_JSON)
        write_json(recording, window, &text);
    else if (format == GPUT_FORMAT_TEXT)
        write_text(recording, window, &text);
    else if (format == GPUT_FORMAT_SUMMARY)
        write_overview(recording, window, &text);
    else
        return error_set(error, GPUT_ERROR_INVALID,
            "The summary of a recording is for people, text or JSON only.");
    if (format != GPUT_FORMAT_JSON)
        screen_sanitize(&text, 0);
    return str_steal_bytes(&text, bytes, length, error);
}
