/*
 * One line a measurement, so that every tool that reads tables can group by any column. The session
 * as a whole has no code block; compute_time is a measurement of its own.
 */
#include "output/analysis_render.h"

#include "base/csv.h"
#include "base/number.h"

#include <math.h>

/* After a comma. */
static void append_number(struct str *text, double value)
{
    str_append_char(text, ',');
    csv_append_number(text, value);
}

static void append_count(struct str *text, bool known, int64_t value)
{
    char number[NUMBER_TEXT_SIZE];
    str_append_char(text, ',');
    if (known)
        str_append_bytes(text, number, number_format_int64(value, number));
}

static void append_numbers(struct str *text, const struct gput_statistics *statistics,
    const struct gput_percentiles *percentiles, double total)
{
    append_number(text, statistics->min);
    append_number(text, statistics->max);
    append_number(text, statistics->mean);
    append_number(text, statistics->std);
    append_number(text, total);
    if (percentiles) {
        append_number(text, percentiles->p50);
        append_number(text, percentiles->p95);
        append_number(text, percentiles->p99);
    }
}

/* Of what has no rows. */
static void append_figures(struct str *text, const struct gput_statistics *statistics,
    const struct gput_percentiles *percentiles, double total)
{
    append_numbers(text, statistics, percentiles, total);
    str_append(text, ",\n");
}

/* Of a measurement. */
static void append_usage(struct str *text, const struct gput_statistics *statistics,
    const struct gput_percentiles *percentiles)
{
    append_numbers(text, statistics, percentiles, NAN);
    append_count(text, true, (int64_t)statistics->n_missing);
    str_append_char(text, '\n');
}

/* What stands before the figures in every line of the session as a whole. */
static void append_overall(
    const struct gput_analysis *analysis, const char *measurement, struct str *text)
{
    str_append(text, ",,");
    append_count(text, true, (int64_t)analysis->num_timepoints);
    str_append(text, ",,,");
    csv_append_text(text, measurement);
}

/* What stands before the figures in every line of a block. */
static void append_block(
    struct str *text, const struct gput_code_block *block, const char *measurement)
{
    csv_append_text(text, block->name);
    append_count(text, block->process_id >= 0, block->process_id);
    append_count(text, block->thread_id >= 0, block->thread_id);
    append_count(text, true, (int64_t)block->num_timepoints);
    append_count(text, true, (int64_t)block->num_calls);
    append_count(text, true, (int64_t)block->num_non_empty_calls);
    str_append_char(text, ',');
    csv_append_text(text, measurement);
}

/* Joules, which have a total alone. */
static void append_energy(const struct gput_analysis *analysis, const struct gput_code_block *block,
    const double *energy, struct str *text)
{
    static const struct gput_statistics none = {NAN, NAN, NAN, NAN, 0};
    static const struct gput_percentiles no_percentiles = {NAN, NAN, NAN};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!analysis_shows_energy(analysis, (enum gput_energy_figure)i))
            continue;
        if (block)
            append_block(text, block, "energy_");
        else
            append_overall(analysis, "energy_", text);
        str_append(text, gput_energy_figure_name((enum gput_energy_figure)i));
        append_figures(text, &none, analysis->details ? &no_percentiles : NULL, energy[i]);
    }
}

/* Totals and means of what the kernel counted. */
static void append_exact(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct str *text)
{
    static const struct gput_percentiles no_percentiles = {NAN, NAN, NAN};
    for (enum gput_exact_figure i = 0; analysis->has_exact && i < GPUT_EXACT_FIGURE_COUNT; i++) {
        struct gput_statistics mean = {NAN, NAN, analysis_exact_mean(block, i), NAN, 0};
        append_block(text, block, "exact_");
        str_append(text, gput_exact_figure_name(i));
        append_figures(text, &mean, analysis->details ? &no_percentiles : NULL, block->exact[i]);
    }
}

static void write_block(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct str *text)
{
    static const struct gput_statistics none = {NAN, NAN, NAN, NAN, 0};
    static const struct gput_percentiles no_percentiles = {NAN, NAN, NAN};
    append_block(text, block, "compute_time");
    append_figures(text, &block->compute_time,
        block->percentiles ? &block->compute_time_percentiles : NULL, block->compute_time_total);
    if (analysis->details) {
        append_block(text, block, "self_time");
        append_figures(text, &none, &no_percentiles, block->self_time_total);
        append_block(text, block, "cpu_time");
        append_figures(text, &none, &no_percentiles, block->cpu_time_total);
    }
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        append_block(text, block, analysis->measurements[i]);
        append_usage(
            text, &block->resource_usage[i], block->percentiles ? &block->percentiles[i] : NULL);
    }
    append_energy(analysis, block, block->energy, text);
    append_exact(analysis, block, text);
    for (size_t i = 0; i < block->n_parts; i++)
        write_block(analysis, &block->parts[i], text);
}

void analysis_write_csv(const struct gput_analysis *analysis, struct str *text)
{
    str_append(text, "code_block,process_id,thread_id,num_timepoints,num_calls,"
                     "num_non_empty_calls,measurement,min,max,mean,std,total");
    str_append(text, analysis->details ? ",p50,p95,p99" : "");
    str_append(text, ",missing_timepoints\n");
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        append_overall(analysis, analysis->measurements[i], text);
        append_usage(text, &analysis->overall[i],
            analysis->overall_percentiles ? &analysis->overall_percentiles[i] : NULL);
    }
    append_energy(analysis, NULL, analysis->energy, text);
    for (size_t i = 0; i < analysis->n_blocks; i++)
        write_block(analysis, &analysis->blocks[i], text);
}
