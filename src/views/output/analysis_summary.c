/* An analysis for people: a table of the session, and a row a code block, the longest first. */
#include <gputracker/summary.h>

#include "analysis/analyze/analysis.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/sized.h"
#include "views/output/analysis_render.h"
#include "views/output/figure_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A figure that some block has: what was counted, or else of samples. */
struct block_column {
    const char *title;
    const char *measurement; /* NULL: what was counted */
    bool is_max;             /* else the mean */
    enum gput_exact_figure exact;
};

static const struct block_column shown_columns[] = {
    {"CPU time", .exact = GPUT_EXACT_PROCESS_CPU_TIME},
    {"RSS peak", .exact = GPUT_EXACT_BLOCK_PEAK_RSS},
    {"instr.", .exact = GPUT_EXACT_INSTRUCTIONS},
    {"cycles", .exact = GPUT_EXACT_CYCLES},
    {"misses", .exact = GPUT_EXACT_CACHE_MISSES},
    {"GPU time", .exact = GPUT_EXACT_GPU_TIME},
    {"CPU", "cpu_combined_sum_utilization_percent", false, 0},
    {"RAM max", "combined_ram", true, 0},
    {"GPU RAM", "combined_gpu_ram", true, 0},
    {"GPU", "gpu_sum_utilization_percent", false, 0},
};
#define BLOCK_COLUMN_COUNT (sizeof shown_columns / sizeof shown_columns[0])

struct summary {
    const struct gput_analysis *analysis;
    struct gput_summary_options options;
    struct str *text;
    size_t max_blocks;              /* that are shown */
    bool shows[BLOCK_COLUMN_COUNT]; /* of shown_columns */
};

/* Whether a value is missing, or 0. */
static bool is_nothing(double value)
{
    return !(value != 0) || isnan(value);
}

static void put(struct summary *summary, const char *measurement, double value)
{
    char cell[HUMAN_SIZE];
    figure_put(
        summary->text, figure_text(summary->analysis->static_data, measurement, value, cell));
}

/* Puts the titles of the columns, and that of the names after them. */
static void put_head(struct summary *summary, const char *const *columns, const char *name)
{
    size_t count = 0;
    for (; columns[count]; count++)
        figure_put(summary->text, columns[count]);
    figure_put_name(summary->text, count, NULL, name, summary->options.width);
}

/* Writes the figures of the session, but for those that are 0 or unknown throughout. */
static void write_session(struct summary *summary)
{
    static const char *const columns[] = {"mean", "max", "min", "std", NULL};
    const struct gput_analysis *analysis = summary->analysis;
    size_t left_out = 0;
    str_printf(
        summary->text, "Session: %llu samples\n", (unsigned long long)analysis->num_timepoints);
    put_head(summary, columns, "measurement");
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        const struct gput_statistics *figures = &analysis->overall[i];
        const char *name = analysis->measurements[i];
        if (is_nothing(figures->max) && is_nothing(figures->min) && !summary->options.all) {
            left_out++;
            continue;
        }
        put(summary, name, figures->mean);
        put(summary, name, figures->max);
        put(summary, name, figures->min);
        put(summary, name, figures->std);
        figure_put_name(summary->text, 4, NULL, name, summary->options.width);
    }
    if (left_out > 0)
        str_printf(summary->text, "%zu %s 0 or unknown throughout (--all shows them)\n", left_out,
            left_out == 1 ? "measurement is" : "measurements are");

    char joules[HUMAN_SIZE];
    bool begins = true;
    for (enum gput_energy_figure i = 0; analysis->has_energy && i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (isnan(analysis->energy[i]))
            continue;
        str_printf(summary->text, "%s%s %s", begins ? "Energy: " : ", ", gput_energy_figure_name(i),
            human_joules(analysis->energy[i], joules));
        begins = false;
    }
    str_append(summary->text, begins ? "" : "\n");
}

/* ---- Code blocks ---- */

/* The value of a column: exact, or of the samples of that block. */
static double block_figure(const struct gput_analysis *analysis,
    const struct gput_code_block *block, const struct block_column *column)
{
    if (!column->measurement)
        return block->exact[column->exact];
    size_t index = analysis_find_measurement(analysis, column->measurement);
    if (index == analysis->n_measurements)
        return NAN;
    const struct gput_statistics *figures = &block->resource_usage[index];
    return column->is_max ? figures->max : figures->mean;
}

/* Puts the cells of a block or a part; returns how many there are. Of energy it is what the tracked
 * processes used, or the machine where that is not known. */
static size_t put_block_figures(struct summary *summary, const struct gput_code_block *block)
{
    size_t count = 4;
    char calls[32];
    const double *energy = summary->analysis->energy;
    snprintf(calls, sizeof calls, "%llu", (unsigned long long)block->num_calls);
    figure_put(summary->text, calls);
    put(summary, "compute_time", block->compute_time_total);
    put(summary, "compute_time", block->compute_time.mean);
    put(summary, "compute_time", block->compute_time.max);
    for (size_t i = 0; i < BLOCK_COLUMN_COUNT; i++) {
        if (!summary->shows[i])
            continue;
        /* Put the cell of a column in the unit that it has. */
        const struct block_column *column = &shown_columns[i];
        char cell[HUMAN_SIZE];
        const char *unit = column->measurement ? NULL : gput_exact_figure_unit(column->exact);
        double value = block_figure(summary->analysis, block, column);
        if (column->measurement)
            put(summary, column->measurement, value);
        else if (!unit)
            figure_put(summary->text, human_count(value, cell));
        else if (strcmp(unit, "bytes") == 0)
            figure_put(summary->text, human_bytes(value, cell));
        else
            figure_put(summary->text, human_seconds_of_figure(value, cell));
        count++;
    }
    if (summary->analysis->has_energy) {
        put(summary, "energy_total",
            block->energy[isnan(energy[GPUT_ENERGY_COMBINED]) ? GPUT_ENERGY_TOTAL
                                                              : GPUT_ENERGY_COMBINED]);
        count++;
    }
    return count;
}

/* Puts the row of a block, and those of its parts. */
static void put_block(struct summary *summary, const struct gput_code_block *block)
{
    size_t count = put_block_figures(summary, block);
    figure_put_name(summary->text, count, block->name, NULL, summary->options.width);
    for (size_t i = 0; i < block->n_parts; i++) {
        char name[320];
        const struct gput_code_block *part = &block->parts[i];
        /* Name a part by the rank, process or thread whose calls it has. */
        if (part->rank >= 0)
            snprintf(name, sizeof name, "  rank %lld", (long long)part->rank);
        else if (part->process_id < 0)
            snprintf(name, sizeof name, "  no rank");
        else if (part->thread_id < 0)
            snprintf(name, sizeof name, "  process %lld", (long long)part->process_id);
        else
            snprintf(name, sizeof name, "  process %lld, thread %lld%s%s",
                (long long)part->process_id, (long long)part->thread_id,
                part->thread_name ? " " : "", part->thread_name ? part->thread_name : "");
        put_block_figures(summary, part);
        figure_put_name(summary->text, count, name, NULL, summary->options.width);
    }
}

/* NaN last; equal ones by name, as they are sorted already. */
static int longest_first(const void *left, const void *right)
{
    const struct gput_code_block *const *a = left, *const *b = right;
    double first = (*a)->compute_time_total, second = (*b)->compute_time_total;
    if (isnan(first) || isnan(second))
        return isnan(first) - isnan(second);
    ORDER_BY(second, first);
    return ORDER(*a, *b);
}

/* Says something of some of the calls. */
static void put_calls(struct str *text, uint64_t count, uint64_t calls, const char *what)
{
    str_printf(text, "%llu of %llu calls %s\n", (unsigned long long)count,
        (unsigned long long)calls, what);
}

/* Writes the blocks, the longest first, and what is to be said of all their calls. */
static void write_blocks(struct summary *summary)
{
    const struct gput_analysis *analysis = summary->analysis;
    const char *titles[4 + BLOCK_COLUMN_COUNT + 2] = {"calls", "total", "mean", "max"};
    size_t n_titles = 4;
    if (analysis->n_blocks == 0)
        return;
    CLEANUP_FREE const struct gput_code_block **sorted =
        malloc(analysis->n_blocks * sizeof *sorted);
    if (!sorted) {
        summary->text->failed = true;
        return;
    }
    uint64_t calls = 0, empty = 0, outside = 0;
    for (size_t i = 0; i < analysis->n_blocks; i++) {
        sorted[i] = &analysis->blocks[i];
        calls += analysis->blocks[i].num_calls;
        empty += analysis->blocks[i].num_calls - analysis->blocks[i].num_non_empty_calls;
        outside += analysis->blocks[i].num_outside_calls;
    }
    qsort(sorted, analysis->n_blocks, sizeof *sorted, longest_first);
    /* Choose the columns of which some block has a figure. Where the terminal is too narrow for all
     * of them, the last ones are skipped. */
    unsigned width = summary->options.width;
    size_t used = (4 + analysis->has_energy + 1) * FIGURE_WIDTH + FIGURE_MIN_NAME;
    for (size_t i = 0; i < BLOCK_COLUMN_COUNT; i++) {
        const struct block_column *column = &shown_columns[i];
        bool has_figures = summary->options.all &&
                           (column->measurement || analysis_shows_exact(analysis, column->exact));
        for (size_t block = 0; block < analysis->n_blocks; block++)
            has_figures |= !is_nothing(block_figure(analysis, &analysis->blocks[block], column));
        summary->shows[i] = (width == 0 || used <= width) && has_figures;
        used += summary->shows[i] ? FIGURE_WIDTH : 0;
    }
    for (size_t i = 0; i < BLOCK_COLUMN_COUNT; i++)
        if (summary->shows[i])
            titles[n_titles++] = shown_columns[i].title;
    if (analysis->has_energy)
        titles[n_titles++] = "energy";
    titles[n_titles] = NULL;
    put_head(summary, titles, "code block");
    for (size_t i = 0; i < analysis->n_blocks && i < summary->max_blocks; i++)
        put_block(summary, sorted[i]);
    if (empty > outside)
        put_calls(summary->text, empty - outside, calls,
            "are without a sample: shorter than its interval");
    if (outside > 0)
        put_calls(summary->text, outside, calls, "are outside of the tracked time");
}

/* Says which calls the file lacks. */
static void write_lost_calls(struct summary *summary)
{
    char text[LOST_CALLS_TEXT_SIZE];
    const struct lost_calls *lost = &summary->analysis->lost;
    if (lost->count > 0)
        str_printf(summary->text, "Calls that are not in the sub-tracking file: %s\n",
            lost_calls_text(lost, text));
    else if (lost->at_least)
        str_append(summary->text, "Calls may be missing in the sub-tracking file.\n");
}

void analysis_write_longest(
    const struct gput_analysis *analysis, size_t max, unsigned width, struct str *text)
{
    struct summary summary = {analysis, {.width = width}, text, max, {false}};
    write_blocks(&summary);
    if (analysis->n_blocks > max)
        str_printf(text, "%zu further ones took less time\n", analysis->n_blocks - max);
    write_lost_calls(&summary);
}

void gput_summary_options_init(struct gput_summary_options *options, size_t size)
{
    static const struct gput_summary_options usual = {.size = sizeof usual};
    sized_init(options, size, &usual, sizeof usual);
}

int gput_analysis_summarize(const struct gput_analysis *analysis,
    const struct gput_summary_options *options, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct str text = {0};
    struct summary summary = {analysis, gput_summary_options_default(), &text, SIZE_MAX, {false}};
    *bytes = NULL;
    TRY(sized_read(&summary.options, sizeof summary.options, options, error));
    write_session(&summary);
    if (analysis->n_blocks > 0)
        str_printf(&text, "\nCode blocks: %zu, the longest first\n", analysis->n_blocks);
    write_blocks(&summary);
    write_lost_calls(&summary);
    if (length)
        *length = text.length;
    *bytes = str_steal(&text);
    return *bytes ? GPUT_OK : error_memory(error);
}
