/*
 * The summary of a recording of power. The text is what ExpResults.print() shows; JSON has all of
 * it; energy_overview.c is for people.
 */
#include "analysis/analyze/energy_recording.h"
#include "base/doc.h"
#include "base/human.h"
#include "base/number.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/energy.h"

#include <gputracker/energy_recording.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_LABEL 28
#define CELL_WIDTH 10

/* A domain of power, and the share of the command in it. */
static const struct domain {
    const char *label, *machine, *command;
} domains[] = {
    {"CPU packages", "intel_power", "rel_intel_power"},
    {"  their cores", "total_cpu_power", "per_process_cpu_power"},
    {"  their graphics", "uncore_power", NULL},
    {"DRAM", "total_dram_power", "per_process_dram_power"},
    {"whole platform", "psys_power", NULL},
    {"GPUs", "nvidia_power", NULL},
    {"GPUs", "nvidia_draw_absolute", "nvidia_attributable_power"},
    {"GPUs in packages", "in_package_gpu_power", NULL},
};

/* What each GPU has, with the names that AIPowerMeter's recordings of 2023 have. Of use the last
 * name is what the command's processes have; the one before is what all processes have. */
static const char *const gpu_power[] = {"per_gpu_nvidia_power", "per_gpu_power_draw", NULL};
static const char *const gpu_use[] = {
    "per_gpu_nvidia_use_rate", "per_gpu_per_pid_utilization_absolute", "nvidia_sm_use", NULL};
static const char *const gpu_memory[] = {"per_gpu_nvidia_memory", NULL};
static const char *const gpu_share[] = {"per_gpu_attributable_power", NULL};

struct overview {
    const struct gput_energy_recording *recording;
    const struct gput_energy_window *window;
    struct str *text;
    int label_width;
};

/* False: nothing was recorded of it. */
static bool find(
    const struct overview *overview, const char *name, struct gput_energy_metric *metric)
{
    return name && gput_energy_recording_metric(
                       overview->recording, name, overview->window, metric, NULL) == GPUT_OK;
}

/* A device's metric of the first of these names that it has. */
static bool find_of(const struct overview *overview, const char *const *names, const char *device,
    struct gput_energy_metric *metric)
{
    char name[128];
    for (; *names; names++) {
        snprintf(name, sizeof name, "%s:%s", *names, device);
        if (find(overview, name, metric))
            return true;
    }
    return false;
}

/* Writes the label of a row, cut to its column. */
static void put_label(struct overview *overview, const char *label)
{
    size_t start = overview->text->length;
    str_printf(overview->text, "  %.*s", overview->label_width, label);
    if (overview->text->failed)
        return;
    size_t width = utf8_width(overview->text->data + start);
    if (width < (size_t)overview->label_width)
        str_append_repeated(overview->text, ' ', (size_t)overview->label_width - width);
}

static void put_cell(struct overview *overview, const char *cell)
{
    str_printf(overview->text, "%*s", utf8_field(cell, CELL_WIDTH), cell);
}

/* Writes the heads of columns, unless they are there; they also set the width of labels. */
static void put_head(
    struct overview *overview, bool *has_head, const char *title, const char *const *columns)
{
    size_t count = 0;
    if (*has_head)
        return;
    *has_head = true;
    while (columns[count])
        count++;
    overview->label_width = count > 5 ? MAX_LABEL - CELL_WIDTH : MAX_LABEL;
    str_printf(overview->text, "\n%-*s", overview->label_width, title);
    for (; *columns; columns++)
        put_cell(overview, *columns);
    str_append_char(overview->text, '\n');
}

static void put_joules(struct overview *overview, double joules)
{
    char cell[HUMAN_SIZE];
    put_cell(overview, human_joules(joules, cell));
}

static void put_watts(struct overview *overview, double watts)
{
    char cell[HUMAN_SIZE];
    put_cell(overview, human_watts(watts, cell));
}

/* Writes a part as a percentage. */
static void put_percent(struct overview *overview, double part)
{
    char cell[HUMAN_SIZE] = "n/a";
    if (isfinite(part))
        text_fit(cell, sizeof cell, "%.1f %%", part * 100);
    put_cell(overview, cell);
}

/* Joules, average and maximum of the machine, and of the command what is known. */
static void put_power(struct overview *overview, const char *label,
    const struct gput_energy_metric *machine, const struct gput_energy_metric *command)
{
    put_label(overview, label);
    put_joules(overview, machine->total);
    put_watts(overview, machine->average);
    put_watts(overview, machine->max);
    if (command) {
        put_joules(overview, command->total);
        put_percent(overview, command->total / machine->total);
    }
    str_append_char(overview->text, '\n');
}

/* Writes the power of each domain and wattmeter. */
static void write_domains(struct overview *overview)
{
    static const char *const columns[] = {"energy", "average", "max", "command", "share", NULL};
    struct gput_energy_metric machine = gput_energy_metric_default(),
                              command = gput_energy_metric_default();
    bool has_head = false;
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
        if (!find(overview, domains[i].machine, &machine))
            continue;
        put_head(overview, &has_head, "Power of the machine", columns);
        bool is_shared = find(overview, domains[i].command, &command);
        put_power(overview, domains[i].label, &machine, is_shared ? &command : NULL);
    }
    for (size_t i = 0; i < gput_energy_recording_metric_count(overview->recording); i++) {
        const char *name = gput_energy_recording_metric_name(overview->recording, i);
        if (!find(overview, name, &machine) || strcmp(machine.group, "wattmeter") != 0)
            continue;
        put_head(overview, &has_head, "Power of the machine", columns);
        put_power(overview, name, &machine, NULL);
    }
}

/* Whether a metric before number `end` is of the same device. */
static bool is_repeated(const struct overview *overview, size_t end, const char *device)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    for (size_t i = 0; i < end; i++) {
        if (find(overview, gput_energy_recording_metric_name(overview->recording, i), &metric) &&
            metric.device && strcmp(metric.device, device) == 0)
            return true;
    }
    return false;
}

/* Writes a row for each GPU. */
static void write_gpus(struct overview *overview)
{
    static const char *const columns[] = {"energy", "average", "max", "busy", "memory", NULL},
                             *const with_share[] = {
                                 "energy", "average", "max", "busy", "memory", "command", NULL};
    struct gput_energy_metric metric = gput_energy_metric_default();
    bool has_head = false,
         has_share = gput_energy_recording_select(overview->recording, gpu_share[0], NULL, 0) > 0;
    for (size_t i = 0; i < gput_energy_recording_metric_count(overview->recording); i++) {
        const char *name = gput_energy_recording_metric_name(overview->recording, i);
        if (!find(overview, name, &metric) || !metric.device ||
            is_repeated(overview, i, metric.device))
            continue;
        put_head(overview, &has_head, "GPUs", has_share ? with_share : columns);
        struct gput_energy_metric power = gput_energy_metric_default(),
                                  use = gput_energy_metric_default(),
                                  memory = gput_energy_metric_default(),
                                  share = gput_energy_metric_default();
        char label[64], cell[HUMAN_SIZE];
        if (!find_of(overview, gpu_power, metric.device, &power))
            power.total = power.average = power.max = NAN;
        snprintf(label, sizeof label, "GPU %s", metric.device);
        bool has_use = find_of(overview, gpu_use, metric.device, &use);
        put_label(overview, label);
        put_joules(overview, power.total);
        put_watts(overview, power.average);
        put_watts(overview, power.max);
        put_percent(overview, has_use ? use.average : NAN);
        put_cell(overview,
            human_bytes(
                find_of(overview, gpu_memory, metric.device, &memory) ? memory.max : NAN, cell));
        if (has_share)
            put_joules(
                overview, find_of(overview, gpu_share, metric.device, &share) ? share.total : NAN);
        str_append_char(overview->text, '\n');
    }
}

/* What the command's processes used, as means over the recording and maxima. */
enum usage_kind { USAGE_CORES, USAGE_BYTES, USAGE_SHARE };

static const struct usage {
    const char *label, *metric;
    enum usage_kind kind;
} usages[] = {
    {"CPU time", "absolute_cpu_time_per_pid", USAGE_CORES},
    {"Share of CPU in use", "per_process_cpu_uses", USAGE_SHARE},
    {"RAM (PSS)", "per_process_mem_use_abs", USAGE_BYTES},
    {"RAM of its own (USS)", "per_process_mem_use_uss", USAGE_BYTES},
    {"Share of RAM in use", "per_process_mem_use_percent", USAGE_SHARE},
};

/* "  CPU time      7.39 s   mean 0.93 cores, max 1.00" */
static void put_usage(struct overview *overview, const struct usage *usage)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    char figure[HUMAN_SIZE], max[HUMAN_SIZE];
    if (!find(overview, usage->metric, &metric))
        return;
    put_label(overview, usage->label);
    switch (usage->kind) {
    case USAGE_CORES:
        put_cell(overview, human_seconds(metric.total, figure));
        str_printf(overview->text, "  mean %.2f cores, max %.2f\n", metric.average, metric.max);
        break;
    case USAGE_BYTES:
        put_cell(overview, human_bytes(metric.average, figure));
        str_printf(overview->text, "  mean, max %s\n", human_bytes(metric.max, max));
        break;
    case USAGE_SHARE:
        put_percent(overview, metric.average);
        str_printf(overview->text, "  mean, max %.1f %%\n", metric.max * 100);
        break;
    }
}

/* Writes what the processes of the command used; nothing where that is unknown. */
static void write_command(struct overview *overview)
{
    size_t start = overview->text->length;
    overview->label_width = MAX_LABEL;
    str_append(overview->text, "\nThe command\n");
    size_t body = overview->text->length;
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++)
        put_usage(overview, &usages[i]);
    /* GPU memory that the command's processes hold, a row for each GPU. */
    struct gput_energy_metric metric = gput_energy_metric_default();
    for (size_t i = 0; i < gput_energy_recording_metric_count(overview->recording); i++) {
        const char *name = gput_energy_recording_metric_name(overview->recording, i);
        char label[64], figure[HUMAN_SIZE], max[HUMAN_SIZE];
        if (!text_begins_with(name, "nvidia_mem_use:") || !find(overview, name, &metric))
            continue;
        snprintf(label, sizeof label, "memory of GPU %s", metric.device);
        put_label(overview, label);
        put_cell(overview, human_bytes(metric.average, figure));
        str_printf(overview->text, "  mean, max %s\n", human_bytes(metric.max, max));
    }
    if (overview->text->length == body && !overview->text->failed) {
        overview->text->length = start;
        overview->text->data[start] = '\0';
    }
}

/* Whether some metric is of one device. */
static bool has_device(const struct overview *overview)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    for (size_t i = 0; i < gput_energy_recording_metric_count(overview->recording); i++) {
        if (find(overview, gput_energy_recording_metric_name(overview->recording, i), &metric) &&
            metric.device)
            return true;
    }
    return false;
}

/* Whether an earlier section has a metric. */
static bool is_shown_above(const struct overview *overview, const struct gput_energy_metric *metric)
{
    bool found = metric->device || strcmp(metric->group, "wattmeter") == 0 ||
                 /* What the command holds and uses of all GPUs is in the rows of the GPUs. */
                 ((strcmp(metric->name, "nvidia_memory") == 0 ||
                      strcmp(metric->name, "nvidia_use_rate") == 0) &&
                     has_device(overview));
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        found |= strcmp(metric->name, domains[i].machine) == 0 ||
                 (domains[i].command && strcmp(metric->name, domains[i].command) == 0);
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++)
        found |= strcmp(metric->name, usages[i].metric) == 0;
    return found;
}

/* Writes a value in the unit of its metric. */
static void put_value(
    struct overview *overview, const struct gput_energy_metric *metric, double value)
{
    char cell[HUMAN_SIZE];
    if (metric->unit && strcmp(metric->unit, "bytes") == 0)
        put_cell(overview, human_bytes(value, cell));
    else if (metric->unit && strcmp(metric->unit, "watts") == 0)
        put_cell(overview, human_watts(value, cell));
    else if (isnan(value))
        put_cell(overview, "n/a");
    else
        str_printf(overview->text, " %*.4g", CELL_WIDTH - 1, value);
}

/* Says why there is no total. */
static const char *why_no_total(const struct overview *overview)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    if (find(overview, "psys_power", &metric) && !find(overview, "intel_power", &metric))
        return "there is only the psys counter, of the whole platform: it is not in any total";
    return "packages, DRAM and GPUs were read less than twice";
}

/* Writes the overview: the total, then a section for each kind of metric. */
static void energy_overview_write(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct str *text)
{
    struct overview overview = {recording, window, text, MAX_LABEL};
    char joules[HUMAN_SIZE], seconds[HUMAN_SIZE], watts[HUMAN_SIZE], words[ENERGY_PARTS_SIZE];
    double figures[GPUT_ENERGY_FIGURE_COUNT];
    energy_recording_figures(recording, window, figures);
    double total = figures[GPUT_ENERGY_TOTAL];
    double duration = gput_energy_recording_seconds(recording, window);
    human_seconds(duration, seconds);
    if (isnan(total)) {
        str_printf(text, "Energy not known (%s): %s\n", seconds, why_no_total(&overview));
    } else {
        energy_parts_words(figures[GPUT_ENERGY_PACKAGE], figures[GPUT_ENERGY_DRAM],
            figures[GPUT_ENERGY_GPU], words);
        str_printf(text, "%s in %s", human_joules(total, joules), seconds);
        if (duration > 0)
            str_printf(text, ", %s on average", human_watts(total / duration, watts));
        str_printf(text, " (%s)\n", words);
    }
    write_domains(&overview);
    write_gpus(&overview);
    write_command(&overview);

    /* Metrics of experiments and of other tools. */
    static const char *const columns[] = {"average", "max", NULL};
    struct gput_energy_metric metric = gput_energy_metric_default();
    bool has_head = false;
    for (size_t i = 0; i < gput_energy_recording_metric_count(overview.recording); i++) {
        const char *name = gput_energy_recording_metric_name(overview.recording, i);
        if (!find(&overview, name, &metric) || is_shown_above(&overview, &metric))
            continue;
        put_head(&overview, &has_head, "Other metrics", columns);
        put_label(&overview, strcmp(name, "total_mem_use") == 0 ? "RAM of the machine" : name);
        put_value(&overview, &metric, metric.average);
        put_value(&overview, &metric, metric.max);
        str_append_char(overview.text, '\n');
    }
}

/* Writes totals, metrics and what else the recording has. */
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

/* Appends a rounded number. */
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

/* Writes the metrics of a group below its title. */
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
        if (metric.unit && strcmp(metric.unit, "watts") == 0) {
            str_printf(text, "   %s: ", metric.name);
            append_number(text, metric.total, 3);
            str_append(text, " joules (average ");
            append_number(text, metric.average, 3);
            str_append(text, " W, max ");
            append_number(text, metric.max, 3);
            str_append(text, " W)\n");
        } else {
            /* Write a metric that is no power. */
            str_printf(text, "   %s: ", metric.name);
            if (strcmp(metric.name, "absolute_cpu_time_per_pid") == 0) {
                append_number(text, metric.total, 3);
                str_append(text, " seconds, ");
            }
            str_append(text, "average ");
            append_number(text, metric.average, 6);
            str_append(text, ", max ");
            append_number(text, metric.max, 6);
            str_append_char(text, '\n');
        }
    }
}

/* Writes the summary of the model that was recorded. */
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

/* Writes what ExpResults.print() shows. */
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
    else if (format == GPUT_FORMAT_SUMMARY) {
        energy_overview_write(recording, window, &text);
        if (recording->record->model)
            str_append_char(&text, '\n');
        write_model(recording->record->model, &text);
    } else
        return error_set(error, GPUT_ERROR_INVALID,
            "The summary of a recording is for people, text or JSON only.");
    if (format != GPUT_FORMAT_JSON)
        screen_sanitize(&text, 0);
    return str_steal_bytes(&text, bytes, length, error);
}
