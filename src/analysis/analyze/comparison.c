#include "analysis/analyze/comparison.h"

#include "analysis/analyze/student.h"
#include "base/array.h"
#include "base/nearest.h"
#include "base/sized.h"
#include "base/table.h"
#include "model/units.h"

#include <gputracker/units.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const statistic_names[] = {"min", "max", "mean", "std"};

const char *gput_statistic_name(enum gput_statistic statistic)
{
    return statistic_names[statistic];
}

int gput_statistic_parse(const char *word, enum gput_statistic *statistic, struct gput_error *error)
{
    for (size_t i = 0; i < sizeof statistic_names / sizeof statistic_names[0]; i++) {
        if (strcmp(word, statistic_names[i]) == 0) {
            *statistic = (enum gput_statistic)i;
            return GPUT_OK;
        }
    }
    char question[NEAREST_QUESTION_SIZE];
    return error_set(error, GPUT_ERROR_INVALID,
        "Invalid summary statistic '%s'%s Valid values are min max mean std.", word,
        nearest_question("min max mean std", word, question));
}

static const struct gput_comparison_options usual = {
    .size = sizeof usual, .statistic = GPUT_STATISTIC_MEAN};

void gput_comparison_options_init(struct gput_comparison_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

int comparison_options_read(const struct gput_comparison_options *given,
    struct gput_comparison_options *options, struct gput_error *error)
{
    *options = usual;
    return sized_read(options, sizeof *options, given, error);
}

struct gput_comparison *comparison_create(void)
{
    return calloc(1, sizeof(struct gput_comparison));
}

void gput_comparison_destroy(struct gput_comparison *comparison)
{
    if (!comparison)
        return;
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; k < session->n_runs; k++)
            gput_analysis_destroy(session->runs[k]);
        free(session->runs);
        free(session->name);
    }
    for (size_t i = 0; comparison->block_names && i < comparison->n_blocks; i++)
        free(comparison->block_names[i]);
    free(comparison->block_names);
    free(comparison->measurements);
    free(comparison->sessions);
    free(comparison);
}

/* The session of that name; a new name is added. NULL without memory. */
static struct comparison_session *session_of(struct gput_comparison *comparison, const char *name)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        if (strcmp(comparison->sessions[i].name, name) == 0)
            return &comparison->sessions[i];
    }
    if (!ARRAY_EXTEND(comparison->sessions, comparison->n_sessions))
        return NULL;
    struct comparison_session *session = &comparison->sessions[comparison->n_sessions];
    *session = (struct comparison_session){.name = strdup(name)};
    if (!session->name)
        return NULL;
    comparison->n_sessions++;
    return session;
}

int comparison_add(struct gput_comparison *comparison, const char *name,
    struct gput_analysis *analysis, struct gput_error *error)
{
    struct comparison_session *session = session_of(comparison, name);
    if (!session || !ARRAY_EXTEND(session->runs, session->n_runs)) {
        gput_analysis_destroy(analysis);
        return error_memory(error);
    }
    session->runs[session->n_runs++] = analysis;
    return GPUT_OK;
}

const char *comparison_find_measurement(const struct gput_comparison *comparison, const char *name)
{
    for (size_t i = 0; i < comparison->n_measurements; i++)
        if (strcmp(comparison->measurements[i], name) == 0)
            return comparison->measurements[i];
    return NULL;
}

bool comparison_has_runs(const struct gput_comparison *comparison)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        if (comparison->sessions[i].n_runs > 1)
            return true;
    }
    return false;
}

struct lost_calls comparison_lost_calls(const struct comparison_session *session)
{
    struct lost_calls lost = {0};
    for (size_t i = 0; i < session->n_runs; i++) {
        lost.count += session->runs[i]->lost.count;
        lost.at_least |= session->runs[i]->lost.at_least;
    }
    return lost;
}

static double pick(const struct gput_statistics *statistics, enum gput_statistic statistic)
{
    const double figures[] = {statistics->min, statistics->max, statistics->mean, statistics->std};
    return figures[statistic];
}

const char *const comparison_energy_measurements[GPUT_ENERGY_FIGURE_COUNT] = {
    [GPUT_ENERGY_PACKAGE] = "energy_package",
    [GPUT_ENERGY_CORE] = "energy_core",
    [GPUT_ENERGY_UNCORE] = "energy_uncore",
    [GPUT_ENERGY_DRAM] = "energy_dram",
    [GPUT_ENERGY_PSYS] = "energy_psys",
    [GPUT_ENERGY_GPU] = "energy_gpu",
    [GPUT_ENERGY_TOTAL] = "energy_total",
    [GPUT_ENERGY_MAIN] = "energy_main",
    [GPUT_ENERGY_DESCENDANTS] = "energy_descendants",
    [GPUT_ENERGY_COMBINED] = "energy_combined",
};

bool comparison_energy_figure(const char *measurement, enum gput_energy_figure *figure)
{
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        *figure = (enum gput_energy_figure)i;
        if (strcmp(measurement, comparison_energy_measurements[i]) == 0)
            return true;
    }
    return false;
}

bool comparison_has_energy(const struct gput_comparison *comparison, enum gput_energy_figure figure)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; k < session->n_runs; k++) {
            if (analysis_shows_energy(session->runs[k], figure))
                return true;
        }
    }
    return false;
}

const struct gput_analysis *comparison_base(const struct gput_comparison *comparison)
{
    return comparison->sessions[0].runs[0];
}

/* From the unit that a run was tracked in to that of the base. */
static double unit_factor(const struct gput_comparison *comparison, const struct gput_analysis *run,
    const char *measurement)
{
    enum gput_ram_unit from, to;
    const char *unit = analysis_unit(run, measurement);
    const char *wanted = analysis_unit(comparison_base(comparison), measurement);
    if (!unit || !wanted || strcmp(unit, wanted) == 0 ||
        ram_unit_parse(unit, "RAM", &from, NULL) != GPUT_OK ||
        ram_unit_parse(wanted, "RAM", &to, NULL) != GPUT_OK)
        return 1;
    return gput_ram_unit_factor(to) / gput_ram_unit_factor(from);
}

/* The value of a figure in a run, in the unit of the base; NaN: it does not have it. */
static double value_in_run(const struct gput_comparison *comparison,
    const struct gput_analysis *run, const struct comparison_figure *figure)
{
    const struct gput_statistics *list = run->overall;
    bool whole = figure->block == COMPARISON_OVERALL;
    enum gput_energy_figure energy;
    if (figure->measurement && comparison_energy_figure(figure->measurement, &energy))
        return whole ? run->energy[energy] : run->blocks[figure->block].energy[energy];
    if (!whole) {
        if (!figure->measurement)
            return pick(&run->blocks[figure->block].compute_time, figure->statistic);
        list = run->blocks[figure->block].resource_usage;
    }
    size_t i = analysis_find_measurement(run, figure->measurement);
    if (i == run->n_measurements)
        return NAN;
    return pick(&list[i], figure->statistic) * unit_factor(comparison, run, figure->measurement);
}

/* Whether a session's figure is an integer, as in old pickles. */
static bool is_integer(const struct gput_comparison *comparison,
    const struct comparison_session *session, const struct comparison_figure *figure)
{
    const struct gput_analysis *run = session->runs[0];
    if (session->n_runs > 1 || !figure->measurement ||
        unit_factor(comparison, run, figure->measurement) != 1 ||
        figure->block != COMPARISON_OVERALL || !run->overall_integers)
        return false;
    size_t i = analysis_find_measurement(run, figure->measurement);
    return i < run->n_measurements && run->overall_integers[i] >> figure->statistic & 1;
}

bool comparison_are_integers(const struct comparison_value *values, size_t count)
{
    size_t i = 0;
    while (i < count && values[i].integer)
        i++;
    return i == count;
}

/* Whether two means do not differ at the 95 % level (Welch's test). False when unknown. */
static bool is_noise(
    double difference, double variance_a, size_t runs_a, double variance_b, size_t runs_b)
{
    double variance = variance_a + variance_b;
    if (isnan(variance) || isnan(difference))
        return false;
    if (variance == 0)
        return difference == 0;
    double freedom = student_welch_freedom(variance_a, runs_a, variance_b, runs_b);
    return fabs(difference) <= student_quantile_975(freedom) * sqrt(variance);
}

void comparison_values(const struct gput_comparison *comparison,
    const struct comparison_figure *figure, struct comparison_value *values)
{
    double first_variance = NAN;
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        double variance;
        /* Compute the mean of a session's runs, and the variance of that mean (NaN for a single
         * run). */
        double n = (double)session->n_runs, sum = 0, squares = 0;
        for (size_t k = 0; k < session->n_runs; k++)
            sum += value_in_run(comparison, session->runs[k], figure);
        double value = sum / n;
        for (size_t k = 0; k < session->n_runs; k++)
            squares += pow(value_in_run(comparison, session->runs[k], figure) - value, 2);
        variance = session->n_runs > 1 ? squares / (n - 1) / n : NAN;
        double half = student_quantile_975((double)session->n_runs - 1) * sqrt(variance);
        if (i == 0)
            first_variance = variance;
        double first = i == 0 ? value : values[0].value;
        /* No measurement is negative: an interval that is cut at 0 covers as much. */
        values[i] = (struct comparison_value){
            .session = i,
            .value = value,
            .low = half > value && value >= 0 ? 0 : value - half,
            .high = value + half,
            .change = first != 0   ? (value - first) / fabs(first) * 100
                      : value == 0 ? 0
                                   : NAN,
            .integer = is_integer(comparison, session, figure),
            .noise = i > 0 && is_noise(value - first, first_variance,
                                  comparison->sessions[0].n_runs, variance, session->n_runs),
        };
    }
}

void comparison_sorted_values(const struct gput_comparison *comparison,
    const struct comparison_figure *figure, struct comparison_value *values)
{
    comparison_values(comparison, figure, values);
    for (size_t i = 1; i < comparison->n_sessions; i++) { /* sessions are few */
        struct comparison_value value = values[i];
        size_t k = i;
        for (; k > 0 && (values[k - 1].value > value.value ||
                            (isnan(values[k - 1].value) && !isnan(value.value)));
             k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
}

/* ---- Tables ---- */

/* A row: a figure of a session. */
struct row {
    const char *code_block, *measurement, *statistic, *session;
    double runs;
    double within_noise;
    struct comparison_value value;
};

/* clang-format off */
#define TEXT(name, meaning) {#name, NULL, meaning, GPUT_COLUMN_TEXT, COLUMN_OF(struct row, name)}
#define COUNT(name, meaning) {#name, NULL, meaning, GPUT_COLUMN_INT, COLUMN_OF(struct row, name)}
#define NUMBER(name, member, meaning) {name, NULL, meaning, GPUT_COLUMN_DOUBLE, COLUMN_OF(struct row, value.member)}

static const struct column columns[] = {
    TEXT(code_block, "its name; missing: the whole session"),
    TEXT(measurement, "of the samples, of energy, or compute_time"),
    TEXT(statistic, "which one of the measurement is compared"),
    TEXT(session, "its name"),
    NUMBER("value", value, "the mean over the runs of the session"),
    NUMBER("percent_change", change, "from the first session"),
    COUNT(runs, "how many there are of the session"),
    NUMBER("low", low, "of the 95 % interval of several runs"),
    NUMBER("high", high, "of the 95 % interval of several runs"),
    COUNT(within_noise, "1: the spread of the runs explains the difference"),
};
/* clang-format on */

/* The table being written. `values` has space for one value a session. */
struct writer {
    const struct gput_comparison *comparison;
    enum gput_statistic statistic;
    struct comparison_value *values;
    struct gput_table *table;
};

/* Puts a row a session. `measurement` NULL: compute time. */
static void put_figure(const struct writer *writer, const char *measurement, size_t block)
{
    const struct gput_comparison *comparison = writer->comparison;
    const struct comparison_figure figure = {measurement, block, writer->statistic};
    comparison_sorted_values(comparison, &figure, writer->values);
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_value *value = &writer->values[i];
        const struct comparison_session *session = &comparison->sessions[value->session];
        const struct row row = {
            .code_block = block == COMPARISON_OVERALL ? NULL : comparison->block_names[block],
            .measurement = measurement ? measurement : "compute_time",
            .statistic = gput_statistic_name(writer->statistic),
            .session = session->name,
            .runs = (double)session->n_runs,
            .within_noise = value->noise,
            .value = *value,
        };
        table_put_columns(writer->table, columns, COLUMN_COUNT(columns), &row);
    }
}

/* Puts the figures of the session as a whole, or of a block. */
static void put_part(const struct writer *writer, size_t block)
{
    const struct gput_comparison *comparison = writer->comparison;
    if (block != COMPARISON_OVERALL)
        put_figure(writer, NULL, block);
    for (size_t i = 0; i < comparison->n_measurements; i++)
        put_figure(writer, comparison->measurements[i], block);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (comparison_has_energy(comparison, (enum gput_energy_figure)i))
            put_figure(writer, comparison_energy_measurements[i], block);
}

int gput_comparison_tables(const struct gput_comparison *comparison,
    const struct gput_comparison_options *given, struct gput_tables **tables,
    struct gput_error *error)
{
    struct gput_comparison_options options;
    *tables = NULL;
    TRY(comparison_options_read(given, &options, error));
    CLEANUP_FREE struct comparison_value *values = calloc(comparison->n_sessions, sizeof *values);
    struct gput_tables *building = values ? tables_create() : NULL;
    if (!building)
        return error_memory(error);
    struct writer writer = {.comparison = comparison,
        .statistic = options.statistic,
        .values = values,
        .table = tables_add(building, "comparison")};
    table_add_columns(writer.table, "", NULL, columns, COLUMN_COUNT(columns));
    put_part(&writer, COMPARISON_OVERALL);
    for (size_t block = 0; block < comparison->n_blocks; block++)
        put_part(&writer, block);
    /* Put a row for each session that lost calls; "at least" where there may be more. */
    for (size_t i = 0; i < writer.comparison->n_sessions; i++) {
        const struct comparison_session *session = &writer.comparison->sessions[i];
        struct lost_calls lost = comparison_lost_calls(session);
        const struct row row = {
            .measurement = lost.at_least ? "lost_calls_at_least" : "lost_calls",
            .statistic = "total",
            .session = session->name,
            .runs = (double)session->n_runs,
            .within_noise = NAN,
            .value = {.value = (double)lost.count, .low = NAN, .high = NAN, .change = NAN},
        };
        if (lost_calls_any(&lost))
            table_put_columns(writer.table, columns, COLUMN_COUNT(columns), &row);
    }

    /* Thread counts of the older gpu_tracker's results: integers there, they are shown as such. */
    struct gput_table *whole = tables_add(building, "whole_numbers");
    table_add_column(whole, "measurement", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < comparison->n_measurements; i++) {
        const struct comparison_figure figure = {
            comparison->measurements[i], COMPARISON_OVERALL, writer.statistic};
        comparison_values(comparison, &figure, values);
        if (comparison_are_integers(values, comparison->n_sessions))
            table_put_text(whole, comparison->measurements[i]);
    }
    return tables_finish_building(building, tables, error);
}
