#include "output/prometheus.h"

#include "base/number.h"
#include "model/results_identity.h"
#include "output/metric.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- Text ---- */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct writer {
    const struct gput_results *results;
    bool is_openmetrics;
    struct str *text;
};

/* In OpenMetrics a counter's family has the name without _total. */
static void write_head(const struct writer *writer, const struct metric *metric)
{
    const char *suffix = metric->kind == METRIC_COUNTER && !writer->is_openmetrics ? "_total" : "";
    const char *type = metric->kind == METRIC_COUNTER ? "counter" : "gauge";
    str_printf(writer->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", metric->name, suffix, metric->help,
        metric->name, suffix, type);
    const char *unit = metric_unit_of_name(metric);
    if (writer->is_openmetrics && unit)
        str_printf(writer->text, "# UNIT %s %s\n", metric->name, unit);
}

/* Drivers give plain ASCII; whatever else comes must not break the line. */
static void write_label(const struct writer *writer, const char *name, const char *value)
{
    str_printf(writer->text, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            str_append_char(writer->text, '\\');
        str_append_char(writer->text, *value >= ' ' && *value <= '~' ? *value : '?');
    }
    str_append_char(writer->text, '"');
}

static void write_gpu_labels(const struct writer *writer, uint32_t index)
{
    str_printf(writer->text, "gpu=\"%u\",", index);
    write_label(writer, "uuid", writer->results->gpus[index].uuid);
}

static void write_value(const struct writer *writer, double value)
{
    char number[NUMBER_TEXT_SIZE];
    str_append_char(writer->text, ' ');
    str_append_bytes(writer->text, number, number_format_double(value, number));
    str_append_char(writer->text, '\n');
}

static void write_metric(const struct writer *writer, const struct metric *metric)
{
    double value = metric_value(metric, writer->results);
    if (!isfinite(value))
        return;
    write_head(writer, metric);
    str_append(writer->text, metric->name);
    str_append(writer->text, metric->kind == METRIC_COUNTER ? "_total" : "");
    write_value(writer, value);
}

/* ---- Information: a 1 whose labels say something ---- */

static void write_info_head(const struct writer *writer, const char *name, const char *help)
{
    const char *suffix = writer->is_openmetrics ? "" : "_info";
    str_printf(writer->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
        writer->is_openmetrics ? "info" : "gauge");
}

static void write_build(const struct writer *writer)
{
    write_info_head(writer, "gputracker_build", "The version of gpu-tracker.");
    str_append(writer->text, "gputracker_build_info{");
    write_label(writer, "version", GPUT_VERSION);
    str_append(writer->text, "} 1\n");
}

/* What is known of these; numbers of processes and command lines are no labels. */
static const char *const session_labels[] = {"host", "boot_id", "user", "container", "pod",
    "launcher", "job_id", "step", "rank", "local_rank", "world_size", "node", "node_rank",
    "node_count", "restarts"};

static void write_session_label(const struct writer *writer, const struct doc *value)
{
    char number[32];
    if (value->kind == DOC_INT)
        snprintf(number, sizeof number, "%lld", (long long)value->integer);
    write_label(writer, value->key, value->kind == DOC_STRING ? value->string : number);
}

static void write_session(const struct writer *writer)
{
    struct doc *known = doc_create_object();
    size_t written = 0;
    if (!known || !writer->results->identity.host[0]) {
        writer->text->failed |= !known;
        doc_destroy(known);
        return;
    }
    results_identity_add(writer->results, known);
    write_info_head(writer, "gputracker_session", "Whose figures these are.");
    str_append(writer->text, "gputracker_session_info{");
    for (size_t i = 0; i < COUNT_OF(session_labels); i++) {
        const struct doc *value = doc_get(known, session_labels[i]);
        if (!value || (value->kind != DOC_STRING && value->kind != DOC_INT))
            continue;
        str_append(writer->text, written++ ? "," : "");
        write_session_label(writer, value);
    }
    str_append(writer->text, "} 1\n");
    doc_destroy(known);
}

/* Reasons are for people, and may hold figures: no labels. */
static void write_sources(const struct writer *writer)
{
    const struct gput_results *results = writer->results;
    if (results->n_sources > 0)
        write_info_head(writer, "gputracker_source",
            "How far figures can be trusted: exact, sampled or unavailable.");
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        str_append(writer->text, "gputracker_source_info{");
        write_label(writer, "source", results->sources[i].name);
        str_append_char(writer->text, ',');
        write_label(writer, "state", gput_source_state_name(results->sources[i].state));
        str_append(writer->text, "} 1\n");
    }
}

/* ---- GPUs ---- */

static uint32_t gpu_count(const struct writer *writer)
{
    return writer->results->n_gpus;
}

static void write_gpu_info(const struct writer *writer)
{
    if (gpu_count(writer) > 0)
        write_info_head(writer, "gputracker_gpu", "What the GPU is.");
    for (uint32_t i = 0; i < gpu_count(writer); i++) {
        const struct gput_gpu *gpu = &writer->results->gpus[i];
        str_append(writer->text, "gputracker_gpu_info{");
        write_gpu_labels(writer, i);
        str_append_char(writer->text, ',');
        write_label(writer, "name", gpu->name);
        str_append_char(writer->text, ',');
        write_label(writer, "vendor", gpu->vendor);
        str_append_char(writer->text, ',');
        write_label(writer, "pci_address", gpu->pci_address);
        str_append(writer->text, "} 1\n");
    }
}

static void write_gpu_metric(const struct writer *writer, const struct metric *metric)
{
    bool has_head = false;
    for (uint32_t i = 0; i < gpu_count(writer); i++) {
        double value = metric_gpu_value(metric, &writer->results->gpus[i]);
        if (!isfinite(value))
            continue;
        if (!has_head)
            write_head(writer, metric);
        has_head = true;
        str_printf(
            writer->text, "%s%s{", metric->name, metric->kind == METRIC_COUNTER ? "_total" : "");
        write_gpu_labels(writer, i);
        str_append_char(writer->text, '}');
        write_value(writer, value);
    }
}

void prometheus_write(const struct gput_results *results, enum gput_format format, struct str *text)
{
    const struct metric_table *table = metrics_of_prometheus();
    struct writer writer = {results, format == GPUT_OPENMETRICS, text};
    write_build(&writer);
    write_session(&writer);
    write_sources(&writer);
    for (size_t i = 0; i < table->count; i++)
        write_metric(&writer, &table->rows[i]);
    write_gpu_info(&writer);
    for (size_t i = 0; i < table->gpu_count; i++)
        write_gpu_metric(&writer, &table->gpu_rows[i]);
    if (writer.is_openmetrics)
        str_append(text, "# EOF\n");
}
