/* Recordings of power: folders of AIPowerMeter or of a session with --energy-folder. */
#include "views/report/loaders/report_loader.h"

#include "analysis/analyze/energy_recording.h"
#include "base/cleanup.h"
#include "model/energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_unit(const char *unit, const char *name)
{
    return unit && strcmp(unit, name) == 0;
}

#define LABEL_SIZE 128

CLEANUP_DEFINE(struct gput_energy_recording, gput_energy_recording_destroy)

static double step_of(const struct gput_energy_metric *metric)
{
    if (is_unit(metric->unit, "watts"))
        return REPORT_STEP_FRACTION;
    return is_unit(metric->unit, "bytes") ? REPORT_STEP_WHOLE : REPORT_DOUBLES;
}

/* What AIPowerMeter's names mean, for the legend; and the chart and unit of those whose unit the
 * recording does not say. */
static const struct known_metric {
    const char *name, *label, *group, *unit;
} known_metrics[] = {
    {"intel_power", "CPU packages", NULL, NULL},
    {"rel_intel_power", "CPU packages, the command's share", NULL, NULL},
    {"total_cpu_power", "CPU cores", NULL, NULL},
    {"per_process_cpu_power", "CPU cores, the command's share", NULL, NULL},
    {"uncore_power", "CPU graphics", NULL, NULL},
    {"total_dram_power", "DRAM", NULL, NULL},
    {"per_process_dram_power", "DRAM, the command's share", NULL, NULL},
    {"psys_power", "whole platform", NULL, NULL},
    {"nvidia_power", "all GPUs", NULL, NULL},
    {"nvidia_memory", "all GPUs", NULL, NULL},
    {"per_gpu_nvidia_power", "GPU", NULL, NULL},
    {"per_gpu_nvidia_memory", "GPU", NULL, NULL},
    {"nvidia_mem_use", "the command on GPU", NULL, NULL},
    {"total_mem_use", "the machine", NULL, NULL},
    {"per_process_mem_use_abs", "the command, PSS", NULL, NULL},
    {"per_process_mem_use_uss", "the command, USS", NULL, NULL},
    {"absolute_cpu_time_per_pid", "the command", "cpu_time", "cores"},
    {"per_process_cpu_uses", "CPU time, the command", "shares", "ratio"},
    {"per_process_mem_use_percent", "RAM (PSS), the command", "shares", "ratio"},
    {"nvidia_use_rate", "all GPUs, mean", "gpu", "ratio"},
    {"per_gpu_nvidia_use_rate", "GPU", "gpu", "ratio"},
    {"nvidia_draw_absolute", "all GPUs", NULL, NULL}, /* from here on: of older recordings */
    {"per_gpu_power_draw", "GPU", NULL, NULL},
    {"nvidia_attributable_power", "all GPUs, the command's share", NULL, NULL},
    {"per_gpu_attributable_power", "the command's share of GPU", NULL, NULL},
    {"nvidia_sm_use", "GPU", "gpu", "ratio"},
    {"per_gpu_per_pid_utilization_absolute", "the command on GPU", "gpu", "ratio"},
    {"per_gpu_estimated_attributable_utilization", "the command's share of GPU", "gpu", "ratio"},
};

/* Finds the metric of a name such as "per_gpu_nvidia_power:0", too; NULL: the name is not known. */
static const struct known_metric *find_known(const char *name)
{
    size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof known_metrics / sizeof *known_metrics; i++) {
        const struct known_metric *known = &known_metrics[i];
        if (strlen(known->name) == length && memcmp(known->name, name, length) == 0)
            return known;
    }
    return NULL;
}

/* The first bytes of a name that is not known, as words: "fan speed" of "fan_speed". */
static void put_words(const char *name, size_t length, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)length, name);
    for (char *at = text; *at; at++)
        if (*at == '_')
            *at = ' ';
}

static const char *unit_of(
    const struct gput_energy_metric *metric, const struct known_metric *known)
{
    if (metric->unit)
        return metric->unit;
    return known && known->unit ? known->unit : "";
}

/* Curves of one chart have one unit. `space` is for what is not known. */
static const char *group_of(const struct gput_energy_metric *metric,
    const struct known_metric *known, char *space, size_t size)
{
    if (is_unit(metric->unit, "watts"))
        return "power";
    if (is_unit(metric->unit, "bytes"))
        return strcmp(metric->group, "gpu") == 0 ? "gpu_ram" : "ram";
    if (known && known->group)
        return known->group;
    put_words(metric->name, strcspn(metric->name, ":"), space, size);
    return space;
}

static void curve_finish(struct energy_curve *curve)
{
    free(curve->points);
}

/* Adds a card of a figure, if it is known. */
static void add_card(struct report_session *session, const char *id, const char *label,
    const char *unit, double value)
{
    struct doc *list = report_session_list(session, &session->cards, "cards");
    struct doc *card = isnan(value) ? NULL : doc_add_object(list, NULL);
    doc_add_string(card, "id", id);
    doc_add_string(card, "label", label);
    doc_add_double(card, "value", value);
    doc_add_string(card, "unit", unit);
    doc_add_string(card, "state", gput_source_state_name(GPUT_SOURCE_SAMPLED));
}

/* Adds cards of joules, and of the mean power that they make, named by what they are of. */
static void add_power(struct report_session *session, const char *of, const char *parts,
    double joules, double seconds)
{
    char id[32], label[ENERGY_PARTS_SIZE + 16];
    snprintf(id, sizeof id, "energy_%s", of);
    snprintf(label, sizeof label, "Energy of %s", parts);
    add_card(session, id, label, "joules", joules);
    snprintf(id, sizeof id, "power_%s", of);
    snprintf(label, sizeof label, "Mean power of %s", parts);
    add_card(session, id, label, "watts", seconds > 0 ? joules / seconds : NAN);
}

/* Adds all curves and figures of a recording, and its summary. */
static int load(struct report_session *session, struct gput_error *error)
{
    CLEANUP(gput_energy_recording_destroy_pointer)
    struct gput_energy_recording *recording = NULL;
    TRY(gput_energy_recording_load(session->path, &recording, error));
    size_t count = gput_energy_recording_metric_count(recording);
    for (size_t i = 0; i < count; i++) {
        /* Add the curve of a metric, if it has points. Between two segments nothing was recorded: a
         * missing point ends the line. */
        CLEANUP(curve_finish) struct energy_curve curve = {0};
        TRY(energy_recording_points(
            recording, gput_energy_recording_metric_name(recording, i), NULL, &curve, error));
        if (curve.count != 0) {
            CLEANUP(report_column_finish) struct report_column times;
            CLEANUP(report_column_finish) struct report_column values;
            report_column_init(&times, &session->payload->spool, REPORT_STEP_TIME);
            report_column_init(&values, &session->payload->spool, step_of(&curve.metric));
            for (size_t k = 0; k < curve.count; k++) {
                const struct gput_energy_point *point = &curve.points[k];
                double time = report_session_time(session, (double)point->time_us * 1e-6);
                if (k > 0 && point->segment != point[-1].segment) {
                    TRY(report_column_add(&times, time, error));
                    TRY(report_column_add(&values, NAN, error));
                }
                TRY(report_column_add(&times, time, error));
                TRY(report_column_add(&values, point->value, error));
            }

            char label[LABEL_SIZE], group[LABEL_SIZE];
            const struct known_metric *known = find_known(curve.metric.name);
            struct report_series series = {
                .id = curve.metric.name,
                .label = label,
                .group = group_of(&curve.metric, known, group, sizeof group),
                .scope = curve.metric.group,
                .unit = unit_of(&curve.metric, known),
                .limit = NAN,
                .of_interval = energy_metric_is_of_interval(curve.metric.name),
            };

            /* "GPU 0" of "per_gpu_nvidia_power:0". */
            size_t size = sizeof label;
            size_t length = strcspn(curve.metric.name, ":");
            if (known)
                snprintf(label, size, "%s", known->label);
            else
                put_words(curve.metric.name, length, label, size);
            if (curve.metric.name[length])
                snprintf(label + strlen(label), size - strlen(label), " %s",
                    curve.metric.name + length + 1);

            TRY(report_session_add_time(session, &times, &series.time, error));
            TRY(report_session_add_series(session, &series, &values, error));
        }

        report_session_progress(session, (double)(i + 1) / (double)count);
    }
    report_session_warn(session, gput_energy_recording_warning(recording));

    double seconds = gput_energy_recording_seconds(recording, NULL);
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    char words[ENERGY_PARTS_SIZE];
    energy_recording_figures(recording, NULL, joules);
    add_card(session, "wall", "Recorded time", "seconds", seconds);
    energy_parts_words(
        joules[GPUT_ENERGY_PACKAGE], joules[GPUT_ENERGY_DRAM], joules[GPUT_ENERGY_GPU], words);
    add_power(session, "machine", words, joules[GPUT_ENERGY_TOTAL], seconds);
    add_power(session, "platform", "the whole platform", joules[GPUT_ENERGY_PSYS], seconds);

    CLEANUP_FREE char *text = NULL;
    TRY(gput_energy_recording_render(recording, NULL, GPUT_FORMAT_SUMMARY, &text, NULL, error));
    doc_add_string(session->doc, "summary", text);
    return GPUT_OK;
}

/* Whether a folder is a recording of power. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    struct gput_energy_recording *recording;
    if (!is_folder)
        return report_session_refuse(path, error);
    TRY(gput_energy_recording_load(path, &recording, error));
    gput_energy_recording_destroy(recording);
    return GPUT_OK;
}

const struct report_loader report_power_loader = {"power", probe, load};
