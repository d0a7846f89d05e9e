#include "views/output/comparison_picture.h"

#include "base/str.h"
#include "views/output/figure_text.h"
#include "views/plot/bars.h"

#include <math.h>
#include <stdlib.h>

/* Those that people ask for first. */
static const struct shown {
    const char *measurement, *name;
} shown[] = {
    {"combined_ram", "RAM"},
    {"combined_gpu_ram", "GPU RAM"},
    {"cpu_combined_sum_utilization_percent", "CPU"},
    {"gpu_sum_utilization_percent", "GPU utilization"},
    {"energy_combined", "Energy of the session"},
};
#define SHOWN (sizeof shown / sizeof *shown)

/* Blocks with the longest calls; more do not fit a page. */
#define MAX_BLOCKS 12

struct picture {
    const struct gput_comparison *comparison;
    enum gput_statistic statistic;
    struct comparison_value *values; /* a value for each session; owned */
    struct bars bars;
};

/* Whether some session has more than 0 of the figure. */
static bool is_used(const struct picture *picture)
{
    for (size_t i = 0; i < picture->comparison->n_sessions; i++) {
        if (picture->values[i].value > 0)
            return true;
    }
    return false;
}

/* Adds a bar a session, with its interval where several runs have one. */
static int add_bars(struct picture *picture, struct bars_panel *panel, const char *measurement,
    struct gput_error *error)
{
    bool has_failed = false;
    for (size_t i = 0; i < picture->comparison->n_sessions && !has_failed; i++) {
        const struct comparison_value *value = &picture->values[i];
        struct str text = {0};
        /* "4.2 GB (-25.0 %)" */
        char figure[HUMAN_SIZE], change[HUMAN_SIZE];
        str_append(&text, figure_text(comparison_base(picture->comparison)->static_data,
                              measurement, value->value, figure));
        if (value->noise)
            str_printf(&text, " (%s, within noise)", human_change(value->change, change));
        else if (!isnan(value->change) && value->change != 0)
            str_printf(&text, " (%s)", human_change(value->change, change));
        const struct bar bar = {.label = picture->comparison->sessions[i].name,
            .text = text.data,
            .look = (unsigned)i,
            .value = value->value,
            .low = value->low,
            .high = value->high};
        has_failed = text.failed || !bars_add(panel, &bar);
        str_finish(&text);
    }
    return has_failed ? error_memory(error) : GPUT_OK;
}

/* `block`: COMPARISON_OVERALL, or that of a compute time. */
static int add_panel(struct picture *picture, const char *measurement, size_t block,
    const char *name, struct gput_error *error)
{
    bool is_time = block != COMPARISON_OVERALL;
    const struct comparison_figure figure = {
        is_time ? NULL : measurement, block, picture->statistic};
    struct str heading = {0};
    comparison_values(picture->comparison, &figure, picture->values);
    if (!is_used(picture))
        return GPUT_OK;
    bool is_energy = comparison_energy_figure(measurement, &(enum gput_energy_figure){0});
    str_append(&heading, name);
    if (!is_energy)
        str_printf(&heading, ", %s%s", gput_statistic_name(picture->statistic),
            is_time ? " of a call" : "");
    if (picture->bars.count == 0 && comparison_has_runs(picture->comparison))
        str_append(&heading, ", with the 95 % interval of several runs");
    struct bars_panel *panel = bars_add_panel(&picture->bars, str_text(&heading));
    bool has_failed = heading.failed || !panel;
    str_finish(&heading);
    return has_failed ? error_memory(error) : add_bars(picture, panel, measurement, error);
}

static bool has_measurement(const struct picture *picture, const char *name)
{
    enum gput_energy_figure energy;
    if (comparison_energy_figure(name, &energy))
        return comparison_has_energy(picture->comparison, energy);
    return comparison_find_measurement(picture->comparison, name) != NULL;
}

/* Adds a panel for each main figure, and for the time of each block. */
static int add_panels(struct picture *picture, struct gput_error *error)
{
    const struct gput_comparison *comparison = picture->comparison;
    for (size_t i = 0; i < SHOWN; i++) {
        if (has_measurement(picture, shown[i].measurement))
            TRY(add_panel(picture, shown[i].measurement, COMPARISON_OVERALL, shown[i].name, error));
    }
    for (size_t i = 0; i < comparison->n_blocks && i < MAX_BLOCKS; i++)
        TRY(add_panel(picture, "compute_time", i, comparison->block_names[i], error));
    if (picture->bars.count == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "There is nothing to draw: no main figure of these sessions is known and above 0.");
    return GPUT_OK;
}

int comparison_render_picture(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct picture picture = {.comparison = comparison,
        .statistic = options->statistic,
        .values = calloc(comparison->n_sessions, sizeof *picture.values),
        .bars.is_inline = options->is_inline};
    int code = picture.values ? add_panels(&picture, error) : error_memory(error);
    if (code == GPUT_OK && comparison->n_blocks > MAX_BLOCKS && options->warn)
        options->warn(options->user,
            "There are more code blocks than a picture can show: the first ones are drawn.");
    if (code == GPUT_OK)
        code = bars_render(&picture.bars, format, bytes, length, error);
    bars_finish(&picture.bars);
    free(picture.values);
    return code;
}
