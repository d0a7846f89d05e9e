#include "views/output/prometheus.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "views/output/labels.h"
#include "views/output/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Text ---- */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct writer {
    const struct gput_results *results;
    const struct labels *labels; /* of all samples */
    bool is_openmetrics;
    struct str *text;
    size_t n_labels;  /* of this sample so far */
    const char *head; /* the name that was described last; NULL: none */
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

/* Appends a label. Drivers give plain ASCII; whatever else comes must not break the line. */
static void append_label(struct writer *writer, const char *name, const char *value)
{
    str_printf(writer->text, "%s%s=\"", writer->n_labels++ ? "," : "{", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            str_append_char(writer->text, '\\');
        str_append_char(writer->text, *value >= ' ' && *value <= '~' ? *value : '?');
    }
    str_append_char(writer->text, '"');
}

/* Appends a label of ours, before which one of the user's goes. */
static void write_label(struct writer *writer, const char *name, const char *value)
{
    if (!labels_get(writer->labels, name))
        append_label(writer, name, value);
}

/* Begins a sample by its name, and the labels that all have. */
static void begin_sample(struct writer *writer, const char *name, const char *suffix)
{
    str_printf(writer->text, "%s%s", name, suffix);
    writer->n_labels = 0;
    for (size_t i = 0; i < writer->labels->count; i++)
        append_label(writer, writer->labels->items[i].name, writer->labels->items[i].value);
}

/* Begins a sample of a metric. */
static void begin_metric(struct writer *writer, const struct metric *metric)
{
    begin_sample(writer, metric->name, metric->kind == METRIC_COUNTER ? "_total" : "");
}

/* Ends a sample by its value. */
static void end_sample(const struct writer *writer, double value)
{
    str_append(writer->text, writer->n_labels ? "} " : " ");
    str_append_double(writer->text, value);
    str_append_char(writer->text, '\n');
}

/* Ends a sample whose labels say all there is. */
static void end_info(const struct writer *writer)
{
    str_append(writer->text, writer->n_labels ? "} 1\n" : " 1\n");
}

/* Appends the labels that distinguish GPUs. */
static void write_gpu_labels(struct writer *writer, uint32_t index)
{
    char number[16];
    snprintf(number, sizeof number, "%u", index);
    write_label(writer, "gpu", number);
    write_label(writer, "uuid", writer->results->gpus[index].uuid);
}

/* Writes a figure of the session, where it is known. Rows of one name are described once. Where the
 * user gave a label of the name that distinguishes them, they would be one series: they are left
 * out. */
static void write_metric(struct writer *writer, const struct metric *metric)
{
    double value = metric_value(metric, writer->results);
    bool is_same = metric->attribute && labels_get(writer->labels, metric->attribute);
    if (!isfinite(value) || is_same)
        return;
    if (!writer->head || strcmp(writer->head, metric->name) != 0)
        write_head(writer, metric);
    writer->head = metric->name;
    begin_metric(writer, metric);
    if (metric->attribute)
        append_label(writer, metric->attribute, metric->word);
    end_sample(writer, value);
}

/* ---- Information: a 1 whose labels say something ---- */

static void write_info_head(const struct writer *writer, const char *name, const char *help)
{
    const char *suffix = writer->is_openmetrics ? "" : "_info";
    str_printf(writer->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
        writer->is_openmetrics ? "info" : "gauge");
}

/* Writes the version, the identity of the session, and how far figures can be trusted. Reasons are
 * for people, and may hold figures: they are no labels. */
static void write_session(struct writer *writer)
{
    const struct gput_results *results = writer->results;
    write_info_head(writer, "gputracker_build", "The version of gpu-tracker.");
    begin_sample(writer, "gputracker_build", "_info");
    write_label(writer, "version", GPUT_VERSION);
    end_info(writer);

    struct session_label known[SESSION_LABELS];
    size_t count = session_labels_of(results, known);
    if (count > 0) {
        write_info_head(writer, "gputracker_session", "Identity of the session.");
        begin_sample(writer, "gputracker_session", "_info");
        for (size_t i = 0; i < count; i++)
            write_label(writer, known[i].name, known[i].value);
        end_info(writer);
    }

    if (results->n_sources > 0)
        write_info_head(writer, "gputracker_source",
            "How far figures can be trusted: exact, sampled or unavailable.");
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        begin_sample(writer, "gputracker_source", "_info");
        write_label(writer, "source", results->sources[i].name);
        write_label(writer, "state", gput_source_state_name(results->sources[i].state));
        end_info(writer);
    }
}

/* ---- GPUs ---- */

static uint32_t gpu_count(const struct writer *writer)
{
    return writer->results->n_gpus;
}

/* ---- Users and jobs ---- */

static const struct owner_metric {
    struct metric metric;
    size_t offset;
    bool is_of_gpus;
} owner_metrics[] = {
#define OWNER(name, kind, member, gpus, help)                                                      \
    {                                                                                              \
        {name, kind, "", help, NULL, NULL, NULL, NULL, NULL, NULL},                                \
            offsetof(struct owner_figures, member), gpus                                           \
    }
    OWNER("processes", METRIC_GAUGE, processes, false, "Processes"),
    OWNER("cpu_seconds", METRIC_COUNTER, cpu_seconds, false, "CPU time since the start"),
    OWNER("resident_memory_bytes", METRIC_GAUGE, ram_bytes, false,
        "RSS of processes, shared pages in each of them"),
    OWNER("gpus", METRIC_GAUGE, gpus, true, "GPUs on which RAM is held"),
    OWNER("gpu_memory_bytes", METRIC_GAUGE, gpu_ram_bytes, true, "GPU RAM"),
    OWNER("gpu_utilization_ratio", METRIC_GAUGE, gpu_utilization, true,
        "Use of GPUs on which there is RAM of no other, 1 being one GPU"),
};

/* ---- Pages ---- */

/* Whether a metric is of the command, by its name: those of AIPowerMeter, and of GPUs but for what
 * the command holds on them, are the machine's, too. */
static bool is_of_command(const struct metric *metric)
{
    const char *own = "gputracker_", *name = metric->name;
    return text_begins_with(name, own) && !text_begins_with(name, "gputracker_system_") &&
           (!text_begins_with(name, "gputracker_gpu_") || strstr(name, "_combined_"));
}

/* What a page has besides. */
struct page {
    bool only_command;
    const struct owner_figures *owners;
    size_t n_owners;
};

/* Writes a page: all metrics, or those of the command. */
static void write_page(const struct gput_results *results, const char *label_list,
    enum gput_format format, const struct page *page, struct str *text)
{
    CLEANUP(labels_finish) struct labels labels = {0};
    struct gput_error error;
    struct writer writer = {results, &labels, format == GPUT_FORMAT_OPENMETRICS, .text = text};
    const struct metric_table *table = metrics_of_prometheus();
    if (labels_add_list(&labels, label_list, LABELS_OF_PROMETHEUS, &error) != GPUT_OK)
        text->failed |= error.code == GPUT_ERROR_MEMORY;
    write_session(&writer);
    for (size_t i = 0; i < table->count; i++)
        if (!page->only_command || is_of_command(&table->rows[i]))
            write_metric(&writer, &table->rows[i]);
    if (!page->only_command) {
        /* Write what each GPU is. */
        if (gpu_count(&writer) > 0)
            write_info_head(&writer, "gputracker_gpu", "What the GPU is.");
        for (uint32_t i = 0; i < gpu_count(&writer); i++) {
            const struct gput_gpu *gpu = &writer.results->gpus[i];
            begin_sample(&writer, "gputracker_gpu", "_info");
            write_gpu_labels(&writer, i);
            write_label(&writer, "name", gpu->name);
            write_label(&writer, "vendor", gpu->vendor);
            write_label(&writer, "pci_address", gpu->pci_address);
            end_info(&writer);
        }
    }
    for (size_t i = 0; i < table->gpu_count; i++)
        if (!page->only_command || is_of_command(&table->gpu_rows[i])) {
            /* Write a figure of each GPU that has it. */
            bool has_head = false;
            for (uint32_t k = 0; k < gpu_count(&writer); k++) {
                double value = metric_gpu_value(&table->gpu_rows[i], &writer.results->gpus[k]);
                if (!isfinite(value))
                    continue;
                if (!has_head)
                    write_head(&writer, &table->gpu_rows[i]);
                has_head = true;
                begin_metric(&writer, &table->gpu_rows[i]);
                write_gpu_labels(&writer, k);
                end_sample(&writer, value);
            }
        }
    for (int is_job = 0; is_job < 2; is_job++)
        for (size_t i = 0; i < COUNT_OF(owner_metrics); i++)
            if (!owner_metrics[i].is_of_gpus || gpu_count(&writer) > 0) {
                /* Write a figure of each user, or of each job. */
                char name[64], help[160];
                bool has_head = false;
                struct metric metric = owner_metrics[i].metric;
                snprintf(name, sizeof name, "gputracker_%s_%s", is_job ? "job" : "user",
                    owner_metrics[i].metric.name);
                snprintf(help, sizeof help, "%s, of each %s.", owner_metrics[i].metric.help,
                    is_job ? "job" : "user");
                metric.name = name;
                metric.help = help;
                for (const struct owner_figures *owner = page->owners;
                     owner < page->owners + page->n_owners; owner++) {
                    double value = *(const double *)((const char *)owner + owner_metrics[i].offset);
                    if ((owner->job[0] != '\0') != is_job || !isfinite(value))
                        continue;
                    if (!has_head)
                        write_head(&writer, &metric);
                    has_head = true;
                    begin_metric(&writer, &metric);
                    write_label(&writer, "user", owner->user);
                    if (is_job)
                        write_label(&writer, "job_id", owner->job);
                    end_sample(&writer, value);
                }
            }
    if (writer.is_openmetrics)
        str_append(text, "# EOF\n");
}

void prometheus_write(const struct gput_results *results, const char *label_list,
    enum gput_format format, struct str *text)
{
    write_page(results, label_list, format, &(struct page){0}, text);
}

void prometheus_write_command(
    const struct gput_results *results, const char *label_list, struct str *text)
{
    write_page(
        results, label_list, GPUT_FORMAT_PROMETHEUS, &(struct page){.only_command = true}, text);
}

void prometheus_write_owners(const struct gput_results *results, const char *label_list,
    enum gput_format format, const struct owner_figures *owners, size_t count, struct str *text)
{
    struct page page = {.owners = owners, .n_owners = count};
    write_page(results, label_list, format, &page, text);
}
