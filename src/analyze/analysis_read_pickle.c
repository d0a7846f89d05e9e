#include "analyze/analysis_load.h"
#include "analyze/exact_figures.h"

#include "import/pickle_array.h"
#include "import/pickle_frame.h"

#include <gputracker/comparison.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cost of looking up all keys of a code block. */
#define COST_BLOCK 256

struct reader {
    const char *name;
    struct gput_analysis *analysis;
    struct pickle_budget budget;
    struct gput_error *error;
};

static int refuse(const struct reader *reader, const char *what)
{
    return error_set(reader->error, GPUT_ERROR_FORMAT,
        "Pickle file %s does not hold results of an analysis: %s.", reader->name, what);
}

static int spend(struct reader *reader, uint64_t cost)
{
    if (pickle_spend(&reader->budget, cost) == GPUT_OK)
        return GPUT_OK;
    return refuse(reader, "it leads to more values than a file of its size can hold");
}

enum shape { TABLE, SERIES };

/* Reads a frame of that shape, and names the file when it is invalid. */
static int read_frame(struct reader *reader, const struct pickle_value *state, const char *key,
    enum shape shape, struct frame *frame)
{
    struct gput_error inner;
    int code = frame_read(pickle_get(state, key), key, &reader->budget, frame, &inner);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(reader->error);
    TRY(spend(reader, 0)); /* an exhausted budget also fails as an invalid frame */
    if (code != GPUT_OK)
        return refuse(reader, inner.message);
    if ((frame->column_names == NULL) == (shape == SERIES))
        return GPUT_OK;
    frame_finish(frame);
    return refuse(reader, shape == SERIES ? "it has a table where a series belongs"
                                          : "it has a series where a table belongs");
}

/* The columns of a frame's statistics, by enum gput_statistic. */
struct statistic_columns {
    size_t of[GPUT_STD + 1];
};

static struct statistic_columns find_statistics(const struct frame *frame)
{
    struct statistic_columns columns;
    for (int i = GPUT_MIN; i <= GPUT_STD; i++)
        columns.of[i] = frame_find_column(frame, gput_statistic_name((enum gput_statistic)i));
    return columns;
}

static struct gput_statistics statistics_in_row(
    const struct frame *frame, const struct statistic_columns *columns, size_t row)
{
    return (struct gput_statistics){
        .min = frame_cell(frame, row, columns->of[GPUT_MIN])->number,
        .max = frame_cell(frame, row, columns->of[GPUT_MAX])->number,
        .mean = frame_cell(frame, row, columns->of[GPUT_MEAN])->number,
        .std = frame_cell(frame, row, columns->of[GPUT_STD])->number,
    };
}

/* Older versions of the Python tool store and show the extremes of thread counts as integers. Bits
 * by enum gput_statistic. */
static unsigned char integers_in_row(
    const struct frame *frame, const struct statistic_columns *columns, size_t row)
{
    unsigned char integers = 0;
    for (int i = GPUT_MIN; i <= GPUT_STD; i++) {
        const struct frame_cell *cell = frame_cell(frame, row, columns->of[i]);
        if (cell->kind == FRAME_INT && fabs(cell->number) < 0x1p53)
            integers |= (unsigned char)(1u << i);
    }
    return integers;
}

/* How many rows lack a measurement, which only our own pickles have. */
static int read_missing(
    struct reader *reader, const struct pickle_value *state, struct gput_statistics *statistics)
{
    const struct pickle_value *missing = pickle_get(state, "missing_timepoints");
    const struct gput_analysis *analysis = reader->analysis;
    if (!missing || missing->kind != PICKLE_DICT)
        return GPUT_OK;
    TRY(spend(reader, missing->list.count * analysis->n_measurements));
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        int64_t count;
        if (pickle_integer(pickle_get(missing, analysis->measurements[i]), &count) && count > 0)
            statistics[i].n_missing = (uint64_t)count;
    }
    return GPUT_OK;
}

static int read_overall(struct reader *reader, const struct pickle_value *state)
{
    struct frame frame;
    TRY(read_frame(reader, state, "overall", TABLE, &frame));
    if (frame.n_rows > ANALYSIS_MEASUREMENTS_MAX) {
        frame_finish(&frame);
        return refuse(reader, "it has too many measurements");
    }
    const struct statistic_columns columns = find_statistics(&frame);
    reader->analysis = analysis_create((const char *const *)frame.row_names, frame.n_rows);
    struct gput_analysis *analysis = reader->analysis;
    if (analysis)
        analysis->overall_integers = calloc(frame.n_rows + 1, 1);
    bool whole = analysis && analysis->overall_integers;
    for (size_t i = 0; whole && i < frame.n_rows; i++) {
        analysis->overall[i] = statistics_in_row(&frame, &columns, i);
        analysis->overall_integers[i] = integers_in_row(&frame, &columns, i);
    }
    frame_finish(&frame);
    return whole ? read_missing(reader, state, analysis->overall) : error_memory(reader->error);
}

static int read_static_data(struct reader *reader, const struct pickle_value *state)
{
    struct frame frame;
    struct doc *data = reader->analysis->static_data;
    TRY(read_frame(reader, state, "static_data", SERIES, &frame));
    for (size_t i = 0; i < frame.n_rows; i++) {
        const struct frame_cell *cell = frame_cell(&frame, i, 0);
        if (cell->kind == FRAME_INT)
            doc_add_int(data, frame.row_names[i], cell->integer);
        else if (cell->kind == FRAME_DOUBLE)
            doc_add_double(data, frame.row_names[i], cell->number);
        else if (cell->kind == FRAME_TEXT)
            doc_add_string(data, frame.row_names[i], cell->text);
        else
            doc_add_null(data, frame.row_names[i]);
    }
    frame_finish(&frame);
    return doc_failed(data) ? error_memory(reader->error) : GPUT_OK;
}

static double number_of(const struct pickle_value *value)
{
    int64_t integer;
    if (value && value->kind == PICKLE_FLOAT)
        return value->number;
    return pickle_integer(value, &integer) ? (double)integer : NAN;
}

/* Joules, which only our own pickles have; true when this one does, known or not. */
static bool read_energy(const struct pickle_value *state, double *energy)
{
    const struct pickle_value *figures = pickle_get(state, "energy");
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        const char *name = gput_energy_figure_name((enum gput_energy_figure)i);
        energy[i] = number_of(pickle_get(figures, name));
    }
    return figures != NULL;
}

/* The same for the exact figures; those that it has, known or not, as bits. */
static unsigned read_exact(const struct pickle_value *state, double *exact)
{
    unsigned have = 0;
    const struct pickle_value *figures = pickle_get(state, "exact");
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        const struct pickle_value *figure = pickle_get(figures, gput_exact_figure_name(i));
        exact[i] = number_of(pickle_get(figure, exact_figure_total_name(i)));
        have |= (figure != NULL) * (1u << i);
    }
    return have;
}

static int read_count(
    struct reader *reader, const struct pickle_value *state, const char *key, uint64_t *count)
{
    int64_t integer;
    if (!pickle_integer(pickle_get(state, key), &integer) || integer < 0)
        return refuse(reader, "the counts of a code block are missing");
    *count = (uint64_t)integer;
    return GPUT_OK;
}

static int read_compute_time(
    struct reader *reader, const struct pickle_value *state, struct gput_code_block *block)
{
    struct frame frame;
    TRY(read_frame(reader, state, "compute_time", SERIES, &frame));
    block->compute_time = (struct gput_statistics){
        .min = frame_cell(&frame, frame_find_row(&frame, "min"), 0)->number,
        .max = frame_cell(&frame, frame_find_row(&frame, "max"), 0)->number,
        .mean = frame_cell(&frame, frame_find_row(&frame, "mean"), 0)->number,
        .std = frame_cell(&frame, frame_find_row(&frame, "std"), 0)->number,
    };
    block->compute_time_total = frame_cell(&frame, frame_find_row(&frame, "total"), 0)->number;
    frame_finish(&frame);
    return GPUT_OK;
}

/* The row of a measurement, which is at its index unless the frame was sorted. */
static int find_measurement(
    struct reader *reader, const struct frame *frame, size_t place, size_t *row)
{
    const char *name = reader->analysis->measurements[place];
    *row = place;
    if (place < frame->n_rows && strcmp(frame->row_names[place], name) == 0)
        return GPUT_OK;
    *row = frame_find_row(frame, name);
    return spend(reader, frame->n_rows);
}

static int read_usage(
    struct reader *reader, const struct pickle_value *state, struct gput_code_block *block)
{
    struct frame frame;
    TRY(read_frame(reader, state, "resource_usage", TABLE, &frame));
    const struct statistic_columns columns = find_statistics(&frame);
    int code = GPUT_OK;
    for (size_t i = 0; code == GPUT_OK && i < reader->analysis->n_measurements; i++) {
        size_t row;
        code = find_measurement(reader, &frame, i, &row);
        block->resource_usage[i] = statistics_in_row(&frame, &columns, row);
    }
    frame_finish(&frame);
    return code;
}

static int read_block(
    struct reader *reader, const struct pickle_value *object, struct gput_code_block *block)
{
    if (!pickle_is_object(object, PICKLE_CODE_BLOCK))
        return refuse(reader, "its list of code blocks has something else in it");
    const struct pickle_value *state = object->object.state;
    const struct pickle_value *name = pickle_get(state, "name");
    if (pickle_is_object(name, PICKLE_QUOTED_NAME))
        name = pickle_item(name->object.arguments, 0);
    if (!name || name->kind != PICKLE_TEXT)
        return refuse(reader, "a code block has no name");
    TRY(spend(reader, COST_BLOCK + name->text.length));
    TRY(analysis_name_block(block, name->text.bytes, reader->error));
    TRY(read_count(reader, state, "num_timepoints", &block->num_timepoints));
    TRY(read_count(reader, state, "num_calls", &block->num_calls));
    TRY(read_count(reader, state, "num_non_empty_calls", &block->num_non_empty_calls));
    if (pickle_get(state, "num_outside_calls"))
        TRY(read_count(reader, state, "num_outside_calls", &block->num_outside_calls));
    TRY(read_compute_time(reader, state, block));
    read_energy(state, block->energy);
    reader->analysis->exact |= read_exact(state, block->exact);
    TRY(read_usage(reader, state, block));
    return read_missing(reader, state, block->resource_usage);
}

static int read_blocks(struct reader *reader, const struct pickle_value *state)
{
    const struct pickle_value *blocks = pickle_get(state, "code_block_results");
    struct gput_analysis *analysis = reader->analysis;
    if (!blocks || blocks->kind != PICKLE_LIST)
        return refuse(reader, "it has no list of code blocks");
    TRY(spend(reader, blocks->list.count * 4 * (analysis->n_measurements + 4)));
    analysis->blocks = analysis_create_blocks(analysis, blocks->list.count, false);
    if (!analysis->blocks)
        return error_memory(reader->error);
    analysis->n_blocks = blocks->list.count;
    for (size_t i = 0; i < analysis->n_blocks; i++)
        TRY(read_block(reader, blocks->list.items[i], &analysis->blocks[i]));
    return GPUT_OK;
}

static int read_lost_calls(struct reader *reader, const struct pickle_value *state)
{
    const struct pickle_value *at_least = pickle_get(state, "lost_calls_at_least");
    if (pickle_get(state, "num_lost_calls"))
        TRY(read_count(reader, state, "num_lost_calls", &reader->analysis->num_lost_calls));
    reader->analysis->lost_calls_at_least =
        at_least && at_least->kind == PICKLE_BOOL && at_least->boolean;
    return GPUT_OK;
}

static int read_results(struct reader *reader, const struct pickle_value *results)
{
    if (!pickle_is_object(results, PICKLE_RESULTS))
        return refuse(reader, "it is not a SubTrackingResults object");
    const struct pickle_value *state = results->object.state;
    TRY(read_overall(reader, state));
    TRY(read_static_data(reader, state));
    reader->analysis->has_energy = read_energy(state, reader->analysis->energy);
    TRY(read_lost_calls(reader, state));
    return read_blocks(reader, state);
}

int analysis_read_pickle(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error)
{
    struct reader reader = {.name = name, .budget = pickle_budget_of(length), .error = error};
    struct pickle *pickle;
    *analysis = NULL;
    TRY(pickle_read(bytes, length, name, pickle_result_classes, &pickle, error));
    int code = read_results(&reader, pickle_root(pickle));
    pickle_destroy(pickle);
    if (code != GPUT_OK)
        gput_analysis_destroy(reader.analysis);
    else
        *analysis = reader.analysis;
    return code;
}
