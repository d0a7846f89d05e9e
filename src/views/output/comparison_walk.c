#include "views/output/comparison_walk.h"

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
