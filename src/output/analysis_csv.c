/*
 * One line a measurement, so that every tool that reads tables can group by any column. The session
 * as a whole has no code block; compute_time is a measurement of its own.
 */
#include "output/analysis_render.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

static void append_text(struct str *text, const char *value)
{
    if (!strpbrk(value, ",\"\r\n")) {
        str_append(text, value);
        return;
    }
    str_append_char(text, '"');
    for (; *value; value++) {
        if (*value == '"')
            str_append_char(text, '"');
        str_append_char(text, *value);
    }
    str_append_char(text, '"');
}

static void append_number(struct str *text, double value)
{
    char number[NUMBER_TEXT_SIZE];
    str_append_char(text, ',');
    if (!isnan(value))
        str_append_bytes(text, number, number_format_double(value, number));
}

static void append_count(struct str *text, bool known, int64_t value)
{
    char number[NUMBER_TEXT_SIZE];
    str_append_char(text, ',');
    if (known)
        str_append_bytes(text, number, number_format_int64(value, number));
}

static void append_figures(struct str *text, const struct gput_statistics *statistics,
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
    str_append_char(text, '\n');
}

/* What stands before the figures in every line of a block. */
static void append_block(
    struct str *text, const struct gput_code_block *block, const char *measurement)
{
    append_text(text, block->name);
    append_count(text, block->process_id >= 0, block->process_id);
    append_count(text, block->thread_id >= 0, block->thread_id);
    append_count(text, true, (int64_t)block->num_timepoints);
    append_count(text, true, (int64_t)block->num_calls);
    append_count(text, true, (int64_t)block->num_non_empty_calls);
    str_append_char(text, ',');
    append_text(text, measurement);
}

static void write_block(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct str *text)
{
    static const struct gput_statistics none = {NAN, NAN, NAN, NAN};
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
        append_figures(text, &block->resource_usage[i],
            block->percentiles ? &block->percentiles[i] : NULL, NAN);
    }
    for (size_t i = 0; i < block->n_parts; i++)
        write_block(analysis, &block->parts[i], text);
}

void analysis_write_csv(const struct gput_analysis *analysis, struct str *text)
{
    str_append(text, "code_block,process_id,thread_id,num_timepoints,num_calls,"
                     "num_non_empty_calls,measurement,min,max,mean,std,total");
    str_append(text, analysis->details ? ",p50,p95,p99\n" : "\n");
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        str_append(text, ",,");
        append_count(text, true, (int64_t)analysis->num_timepoints);
        str_append(text, ",,,");
        append_text(text, analysis->measurements[i]);
        append_figures(text, &analysis->overall[i],
            analysis->overall_percentiles ? &analysis->overall_percentiles[i] : NULL, NAN);
    }
    for (size_t i = 0; i < analysis->n_blocks; i++)
        write_block(analysis, &analysis->blocks[i], text);
}
