#include "files/import/pickle_frame.h"

#include "files/import/pickle_array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct frame_cell missing = {.kind = FRAME_MISSING, .number = NAN};

void frame_finish(struct frame *frame)
{
    for (size_t i = 0; frame->row_names && i < frame->n_rows; i++)
        free(frame->row_names[i]);
    for (size_t i = 0; frame->column_names && i < frame->n_columns; i++)
        free(frame->column_names[i]);
    for (size_t i = 0; frame->cells && i < frame->n_rows * frame->n_columns; i++)
        free(frame->cells[i].text);
    free(frame->row_names);
    free(frame->column_names);
    free(frame->cells);
    *frame = (struct frame){0};
}

static int names_read(
    const struct pickle_value *axis, struct pickle_budget *budget, char ***names, size_t *count)
{
    struct pickle_array array;
    TRY(pickle_array_read(axis, budget, &array));
    char **list = calloc(array.count + 1, sizeof *list);
    int code = list ? GPUT_OK : GPUT_ERROR_MEMORY;
    for (size_t i = 0; code == GPUT_OK && i < array.count; i++) {
        if (array.items[i].kind != FRAME_TEXT)
            code = GPUT_ERROR_FORMAT;
        list[i] = array.items[i].text; /* moves: an array of names is not needed twice */
        array.items[i].text = NULL;
    }
    *names = list;
    *count = list ? array.count : 0;
    pickle_array_finish(&array);
    return code;
}

static int cells_create(struct frame *frame, struct pickle_budget *budget)
{
    if (frame->n_columns > 0 && frame->n_rows > FRAME_CELLS_MAX / frame->n_columns)
        return GPUT_ERROR_FORMAT;
    size_t count = frame->n_rows * frame->n_columns;
    TRY(pickle_spend(budget, count));
    frame->cells = malloc((count + 1) * sizeof *frame->cells);
    for (size_t i = 0; frame->cells && i < count; i++)
        frame->cells[i] = missing;
    return frame->cells ? GPUT_OK : GPUT_ERROR_MEMORY;
}

/* Moves an array's row `k` into a column of the frame. An array with a dimension of 0 has no items,
 * whatever the other one is. */
static int convert_column(struct frame *frame, size_t column, struct pickle_array *array, size_t k)
{
    if (column >= frame->n_columns || array->shape[1] != frame->n_rows ||
        (k + 1) * array->shape[1] > array->count)
        return GPUT_ERROR_FORMAT;
    for (size_t row = 0; row < frame->n_rows; row++) {
        struct frame_cell *from = &array->items[k * array->shape[1] + row];
        struct frame_cell *to = &frame->cells[row * frame->n_columns + column];
        free(to->text);
        *to = *from;
        from->text = NULL;
    }
    return GPUT_OK;
}

/* Moves an array, of one dimension or of one row, into the only column of the frame. */
static int convert_series(struct frame *frame, struct pickle_array *array)
{
    if (array->count != frame->n_rows || (array->shape[0] > 1 && array->shape[1] > 1))
        return GPUT_ERROR_FORMAT;
    array->shape[0] = 1;
    array->shape[1] = array->count;
    return convert_column(frame, 0, array, 0);
}

/* Which columns a block's rows are: slice(first, end, step), or an array of them. */
static int placement_read(const struct pickle_value *value, size_t count,
    struct pickle_budget *budget, struct pickle_array *columns)
{
    if (!pickle_is_object(value, PICKLE_SLICE)) {
        TRY(pickle_array_read(value, budget, columns));
        if (columns->count == count)
            return GPUT_OK;
        pickle_array_finish(columns);
        return GPUT_ERROR_FORMAT;
    }
    int64_t first, step = 1;
    const struct pickle_value *step_value = pickle_item(value->object.arguments, 2);
    if (!pickle_integer(pickle_item(value->object.arguments, 0), &first) || first < 0 ||
        first > FRAME_CELLS_MAX)
        return GPUT_ERROR_FORMAT;
    if (step_value && step_value->kind != PICKLE_NONE &&
        (!pickle_integer(step_value, &step) || step < 1 || step > FRAME_CELLS_MAX))
        return GPUT_ERROR_FORMAT;
    TRY(pickle_spend(budget, count));
    *columns = (struct pickle_array){.count = count, .shape = {count, 1}};
    columns->items = calloc(count + 1, sizeof *columns->items);
    if (!columns->items)
        return GPUT_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        columns->items[i] =
            (struct frame_cell){.kind = FRAME_INT, .integer = first + (int64_t)i * step};
    return GPUT_OK;
}

/* _unpickle_block(values, placement, dimensions). */
static int block_read(
    const struct pickle_value *block, struct pickle_budget *budget, struct frame *frame)
{
    if (!pickle_is_object(block, PICKLE_BLOCK))
        return GPUT_ERROR_FORMAT;
    struct pickle_array values, columns = {0};
    TRY(pickle_array_read(pickle_item(block->object.arguments, 0), budget, &values));
    int code =
        placement_read(pickle_item(block->object.arguments, 1), values.shape[0], budget, &columns);
    for (size_t k = 0; code == GPUT_OK && k < values.shape[0]; k++) {
        const struct frame_cell *column = &columns.items[k];
        code = column->kind == FRAME_INT && column->integer >= 0
                   ? convert_column(frame, (size_t)column->integer, &values, k)
                   : GPUT_ERROR_FORMAT;
    }
    pickle_array_finish(&columns);
    pickle_array_finish(&values);
    return code;
}

/* A data frame of pandas: BlockManager((block, …), [columns, rows]). */
static int pandas_frame_read(
    const struct pickle_value *state, struct pickle_budget *budget, struct frame *frame)
{
    const struct pickle_value *manager = pickle_get(state, "_mgr");
    if (!manager)
        manager = pickle_get(state, "_data");
    if (!pickle_is_object(manager, PICKLE_BLOCK_MANAGER))
        return GPUT_ERROR_FORMAT;
    const struct pickle_value *blocks = pickle_item(manager->object.arguments, 0);
    const struct pickle_value *axes = pickle_item(manager->object.arguments, 1);
    TRY(names_read(pickle_item(axes, 0), budget, &frame->column_names, &frame->n_columns));
    TRY(names_read(pickle_item(axes, 1), budget, &frame->row_names, &frame->n_rows));
    TRY(cells_create(frame, budget));
    for (size_t i = 0; pickle_item(blocks, i); i++)
        TRY(block_read(pickle_item(blocks, i), budget, frame));
    return GPUT_OK;
}

/* A series of pandas: a SingleBlockManager with the state ([rows], [values], …). */
static int pandas_series_read(
    const struct pickle_value *state, struct pickle_budget *budget, struct frame *frame)
{
    const struct pickle_value *manager = pickle_get(state, "_mgr");
    if (!manager)
        manager = pickle_get(state, "_data");
    if (!pickle_is_object(manager, PICKLE_SINGLE_MANAGER))
        return GPUT_ERROR_FORMAT;
    const struct pickle_value *axes = pickle_item(manager->object.state, 0);
    const struct pickle_value *values = pickle_item(manager->object.state, 1);
    frame->n_columns = 1;
    TRY(names_read(pickle_item(axes, 0), budget, &frame->row_names, &frame->n_rows));
    TRY(cells_create(frame, budget));
    struct pickle_array array;
    TRY(pickle_array_read(pickle_item(values, 0), budget, &array));
    int code = convert_series(frame, &array);
    pickle_array_finish(&array);
    return code;
}

/* What gpu-tracker's writer produces: DataFrame([[…], …], [row names], [column names]). */
static int plain_frame_read(
    const struct pickle_value *arguments, struct pickle_budget *budget, struct frame *frame)
{
    const struct pickle_value *rows = pickle_item(arguments, 0);
    TRY(names_read(pickle_item(arguments, 1), budget, &frame->row_names, &frame->n_rows));
    TRY(names_read(pickle_item(arguments, 2), budget, &frame->column_names, &frame->n_columns));
    TRY(cells_create(frame, budget));
    for (size_t row = 0; row < frame->n_rows; row++) {
        struct pickle_array array;
        TRY(pickle_array_read(pickle_item(rows, row), budget, &array));
        if (array.count != frame->n_columns) {
            pickle_array_finish(&array);
            return GPUT_ERROR_FORMAT;
        }
        memcpy(
            frame->cells + row * frame->n_columns, array.items, array.count * sizeof *array.items);
        array.count = 0; /* the texts have moved */
        pickle_array_finish(&array);
    }
    return GPUT_OK;
}

/* Series([…], [row names]). */
static int plain_series_read(
    const struct pickle_value *arguments, struct pickle_budget *budget, struct frame *frame)
{
    frame->n_columns = 1;
    TRY(names_read(pickle_item(arguments, 1), budget, &frame->row_names, &frame->n_rows));
    TRY(cells_create(frame, budget));
    struct pickle_array array;
    TRY(pickle_array_read(pickle_item(arguments, 0), budget, &array));
    int code = convert_series(frame, &array);
    pickle_array_finish(&array);
    return code;
}

static int read(const struct pickle_value *value, struct pickle_budget *budget, struct frame *frame)
{
    if (pickle_is_object(value, PICKLE_FRAME))
        return value->object.state ? pandas_frame_read(value->object.state, budget, frame)
                                   : plain_frame_read(value->object.arguments, budget, frame);
    if (pickle_is_object(value, PICKLE_SERIES))
        return value->object.state ? pandas_series_read(value->object.state, budget, frame)
                                   : plain_series_read(value->object.arguments, budget, frame);
    return GPUT_ERROR_FORMAT;
}

int frame_read(const struct pickle_value *value, const char *what, struct pickle_budget *budget,
    struct frame *frame, struct gput_error *error)
{
    *frame = (struct frame){0};
    int code = read(value, budget, frame);
    if (code == GPUT_OK)
        return GPUT_OK;
    frame_finish(frame);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    return error_set(
        error, GPUT_ERROR_FORMAT, "its \"%s\" is not in a form that pandas 1.5 to 3 writes", what);
}
