#include "views/output/analysis_render.h"

#include "analysis/analyze/exact_figures.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/screen.h"
#include "base/table.h"
#include "views/output/text_grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Document ---- */

static void add_statistics(struct doc *object, const struct gput_statistics *statistics)
{
    columns_add_to_doc(statistics_columns, STATISTICS_COLUMNS, statistics, object);
}

static void add_percentiles(struct doc *object, const struct gput_percentiles *percentiles)
{
    if (percentiles)
        columns_add_to_doc(percentiles_columns, PERCENTILES_COLUMNS, percentiles, object);
}

/* Adds an object of the figures of each measurement. `percentiles` NULL: not requested. */
static void add_usage(const struct gput_analysis *analysis, struct doc *parent, const char *key,
    const struct gput_statistics *statistics, const struct gput_percentiles *percentiles)
{
    struct doc *usage = doc_add_object(parent, key);
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        struct doc *measurement = doc_add_object(usage, analysis->measurements[i]);
        add_statistics(measurement, &statistics[i]);
        add_percentiles(measurement, percentiles ? &percentiles[i] : NULL);
    }
}

/* Adds "missing_timepoints" where samples of a block, or of the whole session, lack a measurement.
 * `parent` may be NULL in this and the next two functions: memory ran out. */
static void add_missing(const struct gput_analysis *analysis, struct doc *parent,
    const struct gput_statistics *statistics)
{
    if (!analysis_lacks_rows(analysis, statistics))
        return;
    struct doc *object = doc_add_object(parent, "missing_timepoints");
    for (size_t i = 0; i < analysis->n_measurements; i++)
        if (statistics[i].n_missing > 0)
            doc_add_int(object, analysis->measurements[i], (int64_t)statistics[i].n_missing);
}

/* Adds the joules of a block, or of the whole session, where the tracking file has any. */
static void add_energy(
    const struct gput_analysis *analysis, struct doc *parent, const double *energy)
{
    if (!analysis->has_energy)
        return;
    struct doc *object = doc_label(doc_add_object(parent, "energy"), "Energy (joules)");
    doc_add_string(object, "unit", gput_energy_unit_name(GPUT_ENERGY_UNIT_JOULES));
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        doc_add_double(object, gput_energy_figure_name(i), energy[i]);
}

/* Adds a block or a part with its figures, and its parts below it. */
static void add_block(
    const struct gput_analysis *analysis, struct doc *array, const struct gput_code_block *block)
{
    struct doc *object = doc_add_object(array, NULL);

    /* Add what says which block it is or, of a part, whose calls it has. */
    bool is_part = code_block_is_part(block);
    if (!is_part)
        doc_add_string(object, "name", block->name);
    else if (block->rank >= 0)
        doc_add_int(object, "rank", block->rank);
    else if (block->process_id < 0)
        doc_add_null(object, "rank");
    else
        doc_label(doc_add_int(object, "process_id", block->process_id), "Process ID");
    if (block->category && !is_part)
        doc_add_string(object, "category", block->category);
    if (block->thread_id >= 0)
        doc_label(doc_add_int(object, "thread_id", block->thread_id), "Thread ID");
    if (block->thread_name)
        doc_add_string(object, "thread_name", block->thread_name);

    columns_add_to_doc(block_columns, n_block_columns, block, object);
    struct doc *compute_time = doc_add_object(object, "compute_time");
    add_statistics(compute_time, &block->compute_time);
    doc_add_double(compute_time, "total", block->compute_time_total);
    add_percentiles(compute_time, block->percentiles ? &block->compute_time_percentiles : NULL);
    add_usage(analysis, object, "resource_usage", block->resource_usage, block->percentiles);
    add_missing(analysis, object, block->resource_usage);
    add_energy(analysis, object, block->energy);
    if (analysis->details) {
        doc_add_double(object, "self_time", block->self_time_total);
        doc_label(doc_add_double(object, "cpu_time", block->cpu_time_total), "CPU Time");
    }
    if (analysis->exact) {
        /* Add a block's exact figures: an object of unit, total and mean for each. */
        struct doc *exact = doc_add_object(object, "exact");
        doc_label(exact, "Exact (counted at start and stop of each call)");
        for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
            if (!analysis_shows_exact(analysis, i))
                continue;
            struct doc *figure = doc_add_object(exact, gput_exact_figure_name(i));
            const char *unit = gput_exact_figure_unit(i), *name = exact_figure_total_name(i);
            double total = block->exact[i];
            if (unit)
                doc_add_string(figure, "unit", unit);
            /* What the kernel counts is whole, and stays that; a file may have anything. */
            bool is_count = !unit || strcmp(unit, "bytes") == 0;
            if (is_count && fabs(total) < 0x1p53 && total == trunc(total))
                doc_add_int(figure, name, (int64_t)total);
            else
                doc_add_double(figure, name, total);
            if (!exact_figure_is_largest(i))
                doc_add_double(figure, "mean", analysis_exact_mean(block, i));
        }
    }
    if (block->n_parts == 0)
        return;
    struct doc *parts = doc_add_array(object, analysis->split == GPUT_SPLIT_THREAD ? "threads"
                                              : analysis->split == GPUT_SPLIT_RANK ? "ranks"
                                                                                   : "processes");
    for (size_t i = 0; i < block->n_parts; i++)
        add_block(analysis, parts, &block->parts[i]);
}

static void add_one_block(const void *user, size_t index, struct doc *array)
{
    const struct gput_analysis *analysis = user;
    add_block(analysis, array, &analysis->blocks[index]);
}

struct doc_items analysis_block_items(const struct gput_analysis *analysis, struct doc *array)
{
    return (struct doc_items){array, analysis->n_blocks, add_one_block, analysis};
}

/* Makes the document without the blocks, which are made one by one while they are written: all at
 * once would take some 10 kB each. NULL without memory. */
static struct doc *create_doc(const struct gput_analysis *analysis, struct doc_items *blocks)
{
    struct doc *root = doc_create_object();
    add_usage(analysis, root, "overall", analysis->overall, analysis->overall_percentiles);
    doc_add_copy(root, "static_data", analysis->static_data);
    *blocks = analysis_block_items(analysis, doc_add_array(root, "code_block_results"));
    if (lost_calls_any(&analysis->lost))
        lost_calls_add_to_doc(&analysis->lost, false, root);
    add_missing(analysis, root, analysis->overall);
    add_energy(analysis, root, analysis->energy);
    if (analysis->details)
        doc_add_int(root, "num_timepoints", (int64_t)analysis->num_timepoints);
    return root;
}

/* ---- Text, as the older gpu_tracker prints it ---- */

/* As long as the longest key of that tool, "Num Non Empty Calls:". */
#define KEY_WIDTH 20

/* An analysis on its way into text. */
struct writing {
    const struct gput_analysis *analysis;
    bool shows_energy[GPUT_ENERGY_FIGURE_COUNT]; /* some block or the session has that figure */
    struct str *text;
};

/* Writes the title of a member after its tabs. */
static void write_key(const struct doc *member, int indent, struct str *text)
{
    str_append_repeated(text, '\t', (size_t)indent);
    if (member->label)
        str_append(text, member->label);
    else
        text_append_title(text, member->key);
    str_append_char(text, ':');
}

/* Writes "Num Calls:           3", the values below each other. */
static void write_value(const struct doc *member, int indent, struct str *text)
{
    char number[NUMBER_TEXT_SIZE];
    size_t start = text->length;
    write_key(member, indent, text);
    size_t used = text->length - start - (size_t)indent;
    str_append_repeated(text, ' ', used < KEY_WIDTH ? KEY_WIDTH - used + 1 : 1);
    if (member->kind == DOC_STRING)
        str_append(text, member->string);
    else if (member->kind == DOC_INT)
        str_append_int64(text, member->integer);
    else if (member->kind == DOC_DOUBLE)
        str_append_bytes(text, number, number_format_rounded(member->number, 8, number));
    else
        str_append(text, strcmp(member->key, "rank") == 0 ? "none" : "n/a");
    str_append_char(text, '\n');
}

/* Whether text shows a member of an object: of "energy" not the unit, nor what is never known. */
static bool is_shown(
    const struct writing *writing, const struct doc *object, const struct doc *member)
{
    if (strcmp(object->key, "energy") != 0)
        return true;
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (strcmp(member->key, gput_energy_figure_name(i)) == 0)
            return writing->shows_energy[i];
    return false;
}

/* Writes "static_data", "missing_timepoints" or "energy" as one row below its names. Texts and
 * whole numbers are one wider than they must be, as are names of columns of other numbers. */
static void write_row(const struct writing *writing, const struct doc *object, int indent)
{
    bool has_texts = strcmp(object->key, "static_data") == 0;
    CLEANUP(text_grid_finish) struct text_grid grid = {.gap = 1, .indent = (size_t)indent};
    size_t count = 0;
    for (const struct doc *cell = object->first; cell; cell = cell->next)
        count += is_shown(writing, object, cell);
    text_grid_add_names_and_numbers(&grid, count);
    text_grid_put(&grid, "");
    for (const struct doc *cell = object->first; cell; cell = cell->next) {
        if (has_texts || cell->kind == DOC_INT)
            text_grid_put(&grid, cell->key);
        else if (is_shown(writing, object, cell))
            text_grid_put_wide(&grid, cell->key);
    }
    text_grid_put(&grid, "");
    for (const struct doc *cell = object->first; cell; cell = cell->next) {
        char number[NUMBER_TEXT_SIZE];
        if (!is_shown(writing, object, cell))
            continue;
        if (cell->kind == DOC_INT) {
            number_format_int64(cell->integer, number);
            text_grid_put_wide(&grid, number);
        } else if (has_texts && cell->kind != DOC_DOUBLE) {
            text_grid_put_wide(&grid, cell->kind == DOC_STRING ? cell->string : "None");
        } else {
            text_grid_put_number(&grid, doc_number(cell));
        }
    }
    text_grid_write(&grid, writing->text);
}

/* Puts the figures of a row or, where `head` is true, their names. The total, which a document has
 * before percentiles, is last. */
static void put_figures(struct text_grid *grid, const struct doc *row, bool head)
{
    const struct doc *total = doc_get(row, "total");
    for (const struct doc *cell = row->first; cell; cell = cell->next) {
        if (cell == total)
            continue;
        if (head)
            text_grid_put_wide(grid, cell->key);
        else
            text_grid_put_number(grid, doc_number(cell));
    }
    if (total && head)
        text_grid_put_wide(grid, total->key);
    else if (total)
        text_grid_put_number(grid, doc_number(total));
}

/* Writes a table after its title, where the analysis has it. */
static void write_object(const struct writing *writing, const struct doc *member, int indent)
{
    if (!member)
        return;
    bool has_figures = member->first && (member->first->kind == DOC_OBJECT ||
                                            strcmp(member->key, "compute_time") == 0);
    write_key(member, indent, writing->text);
    str_append_char(writing->text, '\n');
    if (has_figures) {
        /* Write "overall" or "resource_usage", a row a measurement, or the one row of
         * "compute_time". */
        CLEANUP(text_grid_finish)
        struct text_grid grid = {.gap = 1, .indent = (size_t)(indent + 1)};
        bool has_rows = member->first && member->first->kind == DOC_OBJECT;
        const struct doc *row = has_rows ? member->first : member;
        text_grid_add_names_and_numbers(&grid, row->count);
        text_grid_put(&grid, "");
        put_figures(&grid, row, true);
        for (; row; row = has_rows ? row->next : NULL) {
            text_grid_put(&grid, has_rows ? row->key : "");
            put_figures(&grid, row, false);
        }
        text_grid_write(&grid, writing->text);
    } else
        write_row(writing, member, indent + 1);
}

/* Writes a block or a part of one: its values below each other, then its tables. */
static void write_block(const struct writing *writing, const struct doc *block, int indent)
{
    for (const struct doc *member = block->first; member; member = member->next)
        if (member->kind != DOC_OBJECT && member->kind != DOC_ARRAY)
            write_value(member, indent, writing->text);
    write_object(writing, doc_get(block, "compute_time"), indent);
    if (writing->analysis->details && doc_get(block, "exact")) {
        /* Write "exact": a column for each sum over the calls, named with its unit, and a line of
         * its own for what is the largest of them. */
        const struct doc *object = doc_get(block, "exact");
        static const char *const rows[] = {NULL, "total", "mean"};
        CLEANUP(text_grid_finish) struct text_grid grid = {.gap = 1, .indent = (size_t)indent + 1};
        const struct doc *peak = doc_get(object, gput_exact_figure_name(GPUT_EXACT_BLOCK_PEAK_RSS));
        text_grid_add_names_and_numbers(&grid, object->count - (peak != NULL));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            text_grid_put(&grid, rows[i] ? rows[i] : "");
            for (const struct doc *figure = object->first; figure; figure = figure->next) {
                CLEANUP_STR struct str name = {0};
                const char *unit = doc_string(doc_get(figure, "unit"));
                str_printf(&name, unit ? "%s_%s" : "%s", figure->key, unit);
                if (figure != peak && rows[i])
                    text_grid_put_number(&grid, doc_get_number(figure, rows[i]));
                else if (figure != peak)
                    text_grid_put_wide(&grid, str_text(&name));
            }
        }
        write_key(object, indent, writing->text);
        str_append_char(writing->text, '\n');
        text_grid_write(&grid, writing->text);
        char number[NUMBER_TEXT_SIZE] = "n/a";
        double bytes = doc_get_number(peak, "max");
        if (!isnan(bytes))
            number_format_double(bytes, number);
        if (peak)
            str_printf(writing->text, "%.*sPeak RSS (bytes):    %s\n", indent, "\t\t\t\t", number);
    }
    write_object(writing, doc_get(block, "resource_usage"), indent);
    write_object(writing, doc_get(block, "missing_timepoints"), indent);
    write_object(writing, doc_get(block, "energy"), indent);
    const struct doc *parts = block->last;
    if (parts->kind != DOC_ARRAY)
        return;
    write_key(parts, indent, writing->text);
    str_append_char(writing->text, '\n');
    for (const struct doc *part = parts->first; part; part = part->next) {
        write_block(writing, part, indent + 1);
        str_append_char(writing->text, '\n');
    }
}

/* Writes the session, then each block while only that block's document is in memory. */
static void write_text(const struct gput_analysis *analysis, struct str *text)
{
    static const char *const parts[] = {"overall", "missing_timepoints", "energy", "static_data"};
    struct writing writing = {.analysis = analysis, .text = text};
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        writing.shows_energy[i] = analysis_shows_energy(analysis, i);
    struct doc_items blocks;
    CLEANUP(doc_destroy_pointer) struct doc *root = create_doc(analysis, &blocks);
    text->failed |= doc_failed(root);
    for (size_t i = 0; !text->failed && i < sizeof parts / sizeof *parts; i++)
        write_object(&writing, doc_get(root, parts[i]), 0);
    str_append(text, "Code Block Results:\n");
    for (size_t i = 0; !text->failed && i < analysis->n_blocks; i++) {
        CLEANUP(doc_destroy_pointer) struct doc *array = doc_create_array();
        blocks.add(analysis, i, array);
        text->failed |= doc_failed(array);
        if (text->failed)
            return;
        write_block(&writing, array->first, 1);
        str_append_char(text, '\n');
    }
    char lost[LOST_CALLS_TEXT_SIZE];
    if (lost_calls_any(&analysis->lost))
        str_printf(text, "Lost Calls: %s\n", lost_calls_text(&analysis->lost, lost));

    /* Say what helps where calls have no sample: figures of their own, which marks count exactly.
     */
    uint64_t calls = 0;
    for (size_t i = 0; i < analysis->n_blocks; i++)
        calls += analysis->blocks[i].num_calls - analysis->blocks[i].num_non_empty_calls;
    if (!analysis->details || analysis->exact || calls == 0)
        return;
    str_printf(text,
        "Calls without a sample: %llu. With GPUT_BLOCK_EXACT=1 in the environment of the marked "
        "program, its marks count CPU time, faults and RAM of every call.\n",
        (unsigned long long)calls);
}

/* ---- CSV ---- */

/*
 * One line a measurement, so that every tool that reads tables can group by any column. The session
 * as a whole has no code block, and compute_time is a measurement of its own.
 */
struct lines {
    const struct gput_analysis *analysis;
    struct gput_table *table;
    const struct gput_code_block *block; /* NULL: the session */
};

/* The figures of a line; NaN where it has none. */
struct line {
    struct gput_statistics statistics;
    double total;
    struct gput_percentiles percentiles;
    int64_t n_missing; /* -1: not of samples */
};

static const struct line no_figures = {{NAN, NAN, NAN, NAN, 0}, NAN, {NAN, NAN, NAN}, -1};

/* Puts a line: what it is of, the measurement, and its figures. */
static void put_line(const struct lines *lines, const char *measurement, const struct line *line)
{
    struct gput_table *table = lines->table;
    const struct gput_code_block *block = lines->block;
    table_put_text(table, block ? block->name : NULL);
    analysis_put_part(lines->analysis, table, block);
    for (size_t i = 0; i < n_block_columns; i++) {
        if (block_columns[i].hides_zero)
            continue;
        if (block)
            table_put_columns(table, &block_columns[i], 1, block);
        else if (strcmp(block_columns[i].name, "num_timepoints") == 0)
            table_put_int(table, (int64_t)lines->analysis->num_timepoints);
        else
            table_put_missing(table);
    }
    table_put_text(table, measurement);
    table_put_columns(table, statistics_columns, STATISTICS_COLUMNS, &line->statistics);
    table_put_double(table, line->total);
    if (lines->analysis->details)
        table_put_columns(table, percentiles_columns, PERCENTILES_COLUMNS, &line->percentiles);
    table_put_known(table, line->n_missing);
}

/* Puts a line of a total, and perhaps a mean, that is not of samples. */
static void put_total(
    const struct lines *lines, const char *prefix, const char *name, double mean, double total)
{
    char measurement[64];
    struct line line = no_figures;
    snprintf(measurement, sizeof measurement, "%s%s", prefix, name);
    line.statistics.mean = mean;
    line.total = total;
    put_line(lines, measurement, &line);
}

/* Puts the line of an exact figure: a sum with its mean, or the largest of the calls. */
static void put_exact(const struct lines *lines, enum gput_exact_figure figure)
{
    const struct gput_code_block *block = lines->block;
    const char *name = gput_exact_figure_name(figure);
    if (!exact_figure_is_largest(figure)) {
        double mean = analysis_exact_mean(block, figure);
        put_total(lines, "exact_", name, mean, block->exact[figure]);
        return;
    }
    char measurement[64];
    struct line line = no_figures;
    snprintf(measurement, sizeof measurement, "exact_%s", name);
    line.statistics.max = block->exact[figure];
    put_line(lines, measurement, &line);
}

/* Puts the lines of the measurements, and of energy where there is some. */
static void put_usage(const struct lines *lines, const struct gput_statistics *usage,
    const struct gput_percentiles *percentiles, const double *joules)
{
    const struct gput_analysis *analysis = lines->analysis;
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        struct line line = {usage[i], NAN, no_figures.percentiles, (int64_t)usage[i].n_missing};
        if (percentiles)
            line.percentiles = percentiles[i];
        put_line(lines, analysis->measurements[i], &line);
    }
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (analysis_shows_energy(analysis, i))
            put_total(lines, "energy_", gput_energy_figure_name(i), NAN, joules[i]);
}

/* Puts the lines of a block, then those of its parts. */
static void put_block(struct lines *lines, const struct gput_code_block *block)
{
    const struct line time = {block->compute_time, block->compute_time_total,
        block->percentiles ? block->compute_time_percentiles : no_figures.percentiles, -1};
    lines->block = block;
    put_line(lines, "compute_time", &time);
    if (lines->analysis->details) {
        put_total(lines, "", "self_time", NAN, block->self_time_total);
        put_total(lines, "", "cpu_time", NAN, block->cpu_time_total);
    }
    put_usage(lines, block->resource_usage, block->percentiles, block->energy);
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        if (analysis_shows_exact(lines->analysis, i))
            put_exact(lines, i);
    for (size_t i = 0; i < block->n_parts; i++)
        put_block(lines, &block->parts[i]);
}

/* Renders the analysis as CSV. */
static int render_csv(
    const struct gput_analysis *analysis, char **bytes, size_t *length, struct gput_error *error)
{
    struct gput_tables *tables = tables_create();
    if (tables) {
        struct lines lines = {analysis, tables_add(tables, "analysis"), NULL};

        /* Add the columns of the CSV, which depend on the options and on what is known of parts. */
        table_add_column(lines.table, "code_block", GPUT_COLUMN_TEXT);
        analysis_add_part_columns(analysis, lines.table);
        for (size_t i = 0; i < n_block_columns; i++)
            if (!block_columns[i].hides_zero)
                table_add_columns(lines.table, "", NULL, &block_columns[i], 1);
        table_add_column(lines.table, "measurement", GPUT_COLUMN_TEXT);
        table_add_columns(lines.table, "", NULL, statistics_columns, STATISTICS_COLUMNS);
        table_add_column(lines.table, "total", GPUT_COLUMN_DOUBLE);
        if (analysis->details)
            table_add_columns(lines.table, "", NULL, percentiles_columns, PERCENTILES_COLUMNS);
        table_add_column(lines.table, "missing_timepoints", GPUT_COLUMN_INT);

        put_usage(&lines, analysis->overall, analysis->overall_percentiles, analysis->energy);
        if (lost_calls_any(&analysis->lost))
            put_total(&lines, "", analysis->lost.at_least ? "lost_calls_at_least" : "lost_calls",
                NAN, (double)analysis->lost.count);
        for (size_t i = 0; i < analysis->n_blocks; i++)
            put_block(&lines, &analysis->blocks[i]);
    }
    TRY(tables_finish_building(tables, &tables, error));
    int code = gput_tables_render(tables, GPUT_FORMAT_CSV, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

/* ---- Every format ---- */

int gput_analysis_render(const struct gput_analysis *analysis, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error)
{
    struct str text = {0};
    struct doc_items blocks;
    *bytes = NULL;
    switch (format) {
    case GPUT_FORMAT_TEXT:
        write_text(analysis, &text);
        screen_sanitize(&text, 0);
        break;
    case GPUT_FORMAT_JSON:
        doc_finish_json_with(create_doc(analysis, &blocks), &blocks, &text);
        break;
    case GPUT_FORMAT_CSV:
        return render_csv(analysis, bytes, length, error);
    default:
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of an analysis.");
    }
    return str_steal_bytes(&text, bytes, length, error);
}
