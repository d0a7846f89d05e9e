#include "model/results_lines.h"

#include <math.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Sections ---- */

static bool is_identified(const struct gput_results *results)
{
    return results->identity.host[0] != '\0';
}

static bool is_in_job(const struct gput_results *results)
{
    const struct gput_identity *identity = &results->identity;
    return identity->launcher[0] || identity->job_id[0] || identity->task[0];
}

static bool has_files(const struct gput_results *results)
{
    return results->identity.tracking_file[0] || results->identity.energy_folder[0];
}

static bool has_allowed(const struct gput_results *results)
{
    return is_identified(results) || !isnan(results->static_data.allowed_ram_bytes) ||
           !isnan(results->static_data.allowed_cores);
}

/* True where the energy of any domain is known. Core, uncore and psys are not in the total. */
static bool has_energy(const struct gput_results *results)
{
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&results->energy, joules);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!isnan(joules[i]))
            return true;
    }
    return false;
}

static bool has_time_went(const struct gput_results *results)
{
    return !isnan(results->time_went.seconds) && results->time_went.seconds > 0;
}

static bool has_gpu_idle(const struct gput_results *results)
{
    return results->gpu_known_seconds > 0;
}

static bool has_pressure(const struct gput_results *results)
{
    return !isnan(results->system_pressure.some_seconds[PRESSURE_CPU]) ||
           !isnan(results->group_pressure.some_seconds[PRESSURE_CPU]);
}

static bool has_gpus(const struct gput_results *results)
{
    return results->n_gpus > 0;
}

const struct results_section results_sections[] = {
    /* the compiler compares their number */
    {"max_ram", RAM_UNIT, true, NULL},
    {"max_gpu_ram", GPU_RAM_UNIT, true, NULL},
    {"cpu_utilization", NO_UNIT, true, NULL},
    {"gpu_utilization", NO_UNIT, true, NULL},
    {"compute_time", TIME_UNIT, true, NULL},
    {"identity", NO_UNIT, false, is_identified},
    {"job", NO_UNIT, false, is_in_job},
    {"files", NO_UNIT, false, has_files},
    {"allowed", RAM_UNIT, false, has_allowed},
    {"peaks", RAM_UNIT, false, results_are_own},
    {"gpu_peaks", GPU_RAM_UNIT, false, has_gpus},
    {"accounting", NO_UNIT, false, results_are_own},
    {"gpus", NO_UNIT, false, has_gpus},
    {"time_went", NO_UNIT, false, has_time_went},
    {"main_thread", NO_UNIT, false, has_time_went},
    {"other_threads", NO_UNIT, false, has_time_went},
    {"gpu_idle", NO_UNIT, false, has_gpu_idle},
    {"gpu_idle_others", NO_UNIT, false, has_gpu_idle},
    {"pressure", NO_UNIT, false, has_pressure},
    {"tracker", NO_UNIT, false, results_are_own},
    {"energy", ENERGY_UNIT, false, has_energy},
};

/* ---- Lines that name their column ---- */

/* The lines of the older gpu_tracker, and those of measurements. Programs read its sections by
 * these keys, so a new line must be in a section that it does not have. */
static const struct named_line {
    const char *path, *column;
    enum results_shown shown;
} named_lines[] = {
#define RSS_OF(whose)                                                                              \
    {"max_ram." whose ".total_rss", "max." whose "_ram", SHOWN_RAM},                               \
        {"max_ram." whose ".private_rss", "max." whose "_private_ram", SHOWN_RAM},                 \
    {                                                                                              \
        "max_ram." whose ".shared_rss", "max." whose "_shared_ram", SHOWN_RAM                      \
    }
#define UTILIZATION_OF(part, whose, SHOWN)                                                         \
    {part ".max_sum_percent", "max." whose "_sum_utilization_percent", SHOWN},                     \
        {part ".max_hardware_percent", "max." whose "_hardware_utilization_percent", SHOWN},       \
        {part ".mean_sum_percent", "mean." whose "_sum_utilization_percent", SHOWN},               \
    {                                                                                              \
        part ".mean_hardware_percent", "mean." whose "_hardware_utilization_percent", SHOWN        \
    }
#define CPU_OF(whose) UTILIZATION_OF("cpu_utilization." whose, "cpu_" whose, SHOWN_NUMBER)
    /* clang-format off */
    {"max_ram.system_capacity", "static_data.ram_system_capacity_bytes", SHOWN_RAM},
    {"max_ram.system", "max.system_ram", SHOWN_RAM},
    RSS_OF("main"),
    RSS_OF("descendants"),
    RSS_OF("combined"),
    {"max_gpu_ram.system_capacity", "static_data.gpu_ram_system_capacity_bytes", SHOWN_GPU_RAM},
    {"max_gpu_ram.system", "max.system_gpu_ram", SHOWN_GPU_RAM},
    {"max_gpu_ram.main", "max.main_gpu_ram", SHOWN_GPU_RAM},
    {"max_gpu_ram.descendants", "max.descendants_gpu_ram", SHOWN_GPU_RAM},
    {"max_gpu_ram.combined", "max.combined_gpu_ram", SHOWN_GPU_RAM},
    {"cpu_utilization.system_core_count", "static_data.system_core_count", SHOWN_NUMBER},
    {"cpu_utilization.n_expected_cores", "static_data.n_expected_cores", SHOWN_NUMBER},
    CPU_OF("system"),
    CPU_OF("main"),
    CPU_OF("descendants"),
    CPU_OF("combined"),
    {"cpu_utilization.main_n_threads", "max.main_n_threads", SHOWN_WHOLE},
    {"cpu_utilization.descendants_n_threads", "max.descendants_n_threads", SHOWN_WHOLE},
    {"cpu_utilization.combined_n_threads", "max.combined_n_threads", SHOWN_WHOLE},
    {"gpu_utilization.system_gpu_count", "static_data.system_gpu_count", SHOWN_GPU_COUNT},
    {"gpu_utilization.n_expected_gpus", "static_data.n_expected_gpus", SHOWN_GPU_COUNT},
    UTILIZATION_OF("gpu_utilization.gpu_percentages", "gpu", SHOWN_GPU_PERCENT),
    {"compute_time.time", "elapsed_seconds", SHOWN_TIME},
    /* clang-format on */
};

/* ---- All lines ---- */

/* True where the path belongs to the section; sets part and key of the line. */
static bool is_in_section(
    const char *path, const struct results_section *section, struct results_line *line)
{
    size_t length = strlen(section->key);
    if (!path || strncmp(path, section->key, length) != 0 || path[length] != '.')
        return false;
    const char *rest = path + length + 1;
    const char *dot = strchr(rest, '.');
    line->section = section;
    line->part = dot ? rest : NULL;
    line->part_length = dot ? (size_t)(dot - rest) : 0;
    line->key = dot ? dot + 1 : rest;
    return true;
}

void results_lines_visit(const struct results_section *section,
    void (*visit)(void *user, const struct results_line *line), void *user)
{
    size_t n_lists, hint = 0;
    const struct results_list *record = results_lists(&n_lists);
    struct results_line line;
    for (size_t i = 0; i < COUNT_OF(named_lines); i++) {
        if (!is_in_section(named_lines[i].path, section, &line))
            continue;
        const char *name = named_lines[i].column;
        line.column = results_column_find(record, name, strlen(name), &hint);
        line.shown = named_lines[i].shown;
        visit(user, &line);
    }
    for (size_t i = 0; i < record->n_columns; i++) {
        line.column = &record->columns[i];
        line.shown = line.column->shown;
        if (is_in_section(line.column->path, section, &line))
            visit(user, &line);
    }
}

enum results_shown results_limit_shown(const char *kind_name)
{
    if (strcmp(kind_name, "ram") == 0)
        return SHOWN_RAM;
    return strcmp(kind_name, "gpu_ram") == 0 ? SHOWN_GPU_RAM : SHOWN_NUMBER;
}

double results_to_shown(const struct gput_results *results, enum results_shown shown, double value)
{
    const struct gput_static_data *data = &results->static_data;
    switch (shown) {
    case SHOWN_RAM:
        return value * gput_ram_unit_factor(data->ram_unit);
    case SHOWN_GPU_RAM:
        return value * gput_ram_unit_factor(data->gpu_ram_unit);
    case SHOWN_ENERGY:
    case SHOWN_ENERGY_TOTAL:
        return value / gput_energy_unit_joules(results->energy.unit);
    case SHOWN_TIME:
        return value / gput_time_unit_seconds(data->time_unit);
    default:
        return value;
    }
}

double results_from_shown(
    const struct gput_results *results, enum results_shown shown, double value)
{
    const struct gput_static_data *data = &results->static_data;
    switch (shown) {
    case SHOWN_RAM:
        return round(value * (1 / gput_ram_unit_factor(data->ram_unit)));
    case SHOWN_GPU_RAM:
        return round(value * (1 / gput_ram_unit_factor(data->gpu_ram_unit)));
    case SHOWN_ENERGY:
    case SHOWN_ENERGY_TOTAL:
        return value * gput_energy_unit_joules(results->energy.unit);
    case SHOWN_TIME:
        return value * gput_time_unit_seconds(data->time_unit);
    default:
        return value;
    }
}
