#include "output/comparison_render.h"

#include <gputracker/table.h>

#include <stdlib.h>
#include <string.h>

int gput_comparison_create(const struct gput_comparison_session *sessions, size_t count,
    const struct gput_comparison_options *given, struct gput_comparison **result,
    struct gput_error *error)
{
    struct gput_comparison_options options;
    *result = NULL;
    TRY(comparison_options_read(given, &options, error));
    struct gput_comparison *comparison = comparison_create();
    if (!comparison)
        return error_memory(error);
    int code = GPUT_OK;
    for (size_t i = 0; i < count && code == GPUT_OK; i++) {
        struct gput_analysis *analysis;
        code = gput_analysis_load(sessions[i].path, &analysis, error);
        if (code == GPUT_OK)
            code = comparison_add(comparison, sessions[i].name, analysis, error);
    }
    if (code == GPUT_OK)
        code = comparison_match(comparison, options.warn, options.user, error);
    if (code != GPUT_OK)
        gput_comparison_destroy(comparison);
    else
        *result = comparison;
    return code;
}

/* A walk over a part. */
struct walk {
    const struct comparison_report *report;
    const struct comparison_writer *writer;
    void *user;
    bool blocks;
};

/* Sorted ascending. A NULL measurement is the compute time. */
static void walk_values(
    const struct walk *walk, const char *key, const char *measurement, size_t block)
{
    const struct comparison_report *report = walk->report;
    const struct comparison_figure figure = {measurement, block, report->options.statistic};
    comparison_sorted_values(report->comparison, &figure, report->values);
    walk->writer->values(walk->user, key);
}

static void walk_blocks(const struct walk *walk, const char *measurement)
{
    const struct gput_comparison *comparison = walk->report->comparison;
    for (size_t block = 0; block < comparison->n_blocks; block++)
        walk_values(walk, comparison->block_names[block], measurement, block);
}

static void walk_measurement(const struct walk *walk, const char *key, const char *measurement)
{
    if (!walk->blocks) {
        walk_values(walk, key, measurement, COMPARISON_OVERALL);
    } else if (walk->report->comparison->n_blocks > 0) {
        walk->writer->open(walk->user, key);
        walk_blocks(walk, measurement);
        walk->writer->close(walk->user);
    }
}

static bool has_energy(const struct gput_comparison *comparison)
{
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (comparison_has_energy(comparison, i))
            return true;
    return false;
}

static void walk_energy(const struct walk *walk)
{
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (comparison_has_energy(walk->report->comparison, i))
            walk_measurement(walk, gput_energy_figure_name(i), comparison_energy_measurements[i]);
}

static void walk_usage(const struct walk *walk)
{
    const struct gput_analysis *first = walk->report->comparison->first;
    for (size_t i = 0; i < first->n_measurements; i++)
        walk_measurement(walk, first->measurements[i], first->measurements[i]);
}

void comparison_walk(const struct comparison_report *report, enum comparison_part part,
    const struct comparison_writer *writer, void *user)
{
    static const struct {
        const char *key;
        bool blocks, energy;
    } parts[] = {
        [COMPARISON_OVERALL_USAGE] = {"overall_resource_usage", false, false},
        [COMPARISON_BLOCK_USAGE] = {"code_block_resource_usage", true, false},
        [COMPARISON_BLOCK_TIME] = {"code_block_compute_time", true, false},
        [COMPARISON_OVERALL_ENERGY] = {"overall_energy", false, true},
        [COMPARISON_BLOCK_ENERGY] = {"code_block_energy", true, true},
    };
    const struct walk walk = {report, writer, user, parts[part].blocks};
    if (parts[part].energy && !has_energy(report->comparison))
        return;
    writer->open(user, parts[part].key);
    if (part == COMPARISON_BLOCK_TIME)
        walk_blocks(&walk, NULL);
    else if (parts[part].energy)
        walk_energy(&walk);
    else
        walk_usage(&walk);
    writer->close(user);
}

/* One line a figure and session. */
static int render_csv(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct gput_tables *tables;
    TRY(gput_comparison_tables(comparison, options, &tables, error));
    int code = gput_tables_render(tables, GPUT_CSV, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

int gput_comparison_render(const struct gput_comparison *comparison,
    const struct gput_comparison_options *given, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    if (format == GPUT_CSV)
        return render_csv(comparison, given, bytes, length, error);
    static void (*const writers[])(const struct comparison_report *, struct str *) = {
        [GPUT_TEXT] = comparison_write_text,
        [GPUT_JSON] = comparison_write_json,
        [GPUT_PICKLE] = comparison_write_pickle,
    };
    *bytes = NULL;
    if ((size_t)format >= sizeof writers / sizeof writers[0])
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a comparison.");
    struct gput_comparison_options options;
    TRY(comparison_options_read(given, &options, error));
    struct comparison_report report = {
        comparison, options, calloc(comparison->n_sessions, sizeof *report.values)};
    if (!report.values)
        return error_memory(error);
    struct str text = {0};
    writers[format](&report, &text);
    free(report.values);
    return str_steal_bytes(&text, bytes, length, error);
}
