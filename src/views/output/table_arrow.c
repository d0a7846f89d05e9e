/*
 * Tables by the Arrow C data and stream interfaces. Whoever takes a structure releases it, from any
 * thread and in any order: every array holds the table by itself, and children that were moved out
 * of their parent are left alone when it goes.
 */
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"

#include <gputracker/arrow.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Schema ---- */

/* Frees a schema with its children; called by its consumer. */
static void schema_release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free((char *)schema->name);
    free((char *)schema->metadata);
    schema->release = NULL;
}

static void append_metadata_text(struct str *metadata, const char *text)
{
    int32_t length = (int32_t)strlen(text);
    str_append_bytes(metadata, &length, sizeof length);
    str_append_bytes(metadata, text, (size_t)length);
}

/* One key and its value as the specification packs them; NULL without memory. */
static char *make_metadata(const char *key, const char *value)
{
    struct str metadata = {0};
    int32_t count = 1;
    str_append_bytes(&metadata, &count, sizeof count);
    append_metadata_text(&metadata, key);
    append_metadata_text(&metadata, value);
    return str_steal(&metadata);
}

static char *make_utf8(const char *text)
{
    struct str clean = {0};
    utf8_append(text, strlen(text), &clean);
    return str_steal(&clean);
}

/* Arrow's format of a column: int64, double or UTF-8. */
static const char *format_of(enum gput_column_type type)
{
    switch (type) {
    case GPUT_COLUMN_INT:
        return "l";
    case GPUT_COLUMN_DOUBLE:
        return "g";
    default:
        return "u";
    }
}

/* False without memory; what was made by then is released with the parent. */
static bool add_field(const struct gput_table *table, size_t column, struct ArrowSchema *parent)
{
    struct ArrowSchema *field = calloc(1, sizeof *field);
    const char *unit = gput_table_column_unit(table, column);
    if (!field)
        return false;
    parent->children[parent->n_children++] = field;
    *field = (struct ArrowSchema){
        .format = format_of(gput_table_column_type(table, column)),
        .name = make_utf8(gput_table_column_name(table, column)),
        .metadata = unit ? make_metadata("unit", unit) : NULL,
        .flags = ARROW_FLAG_NULLABLE,
        .release = schema_release,
    };
    return field->name && (field->metadata || !unit);
}

/* Makes the schema of a table: a struct with a field a column. */
static bool make_schema(const struct gput_table *table, struct ArrowSchema *schema)
{
    size_t columns = gput_table_column_count(table);
    *schema = (struct ArrowSchema){
        .format = "+s",
        .name = strdup(""),
        .metadata = make_metadata("name", gput_table_name(table)),
        .children = calloc(columns + 1, sizeof *schema->children),
        .release = schema_release,
    };
    bool made = schema->name && schema->metadata && schema->children;
    for (size_t column = 0; made && column < columns; column++)
        made = add_field(table, column, schema);
    if (!made)
        schema_release(schema);
    return made;
}

int gput_table_arrow_schema(
    const struct gput_table *table, struct ArrowSchema *schema, struct gput_error *error)
{
    return make_schema(table, schema) ? GPUT_OK : error_memory(error);
}

/* ---- Arrays ---- */

/* What an array owns next to its children. */
struct array_memory {
    const struct gput_table *table;
    uint8_t *validity; /* a bit a row, least significant first; NULL: nothing is missing */
    int32_t *offsets;  /* of texts: where each begins, and the end of the last */
    struct str text;
    const void *buffers[3];
};

/* Frees an array with its buffers and children; called by its consumer. */
static void array_release(struct ArrowArray *array)
{
    struct array_memory *memory = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free(memory->validity);
    free(memory->offsets);
    str_finish(&memory->text);
    gput_table_release(memory->table);
    free(memory);
    array->release = NULL;
}

/* An array without content: 0 or ENOMEM. */
static int array_create(const struct gput_table *table, int64_t n_buffers, struct ArrowArray *array)
{
    struct array_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return ENOMEM;
    memory->table = gput_table_retain(table);
    *array = (struct ArrowArray){
        .length = (int64_t)gput_table_row_count(table),
        .n_buffers = n_buffers,
        .buffers = memory->buffers,
        .release = array_release,
        .private_data = memory,
    };
    return 0;
}

/* Makes the bits that say which cells are there, unless all are. */
static int mark_missing(struct ArrowArray *array, size_t column)
{
    struct array_memory *memory = array->private_data;
    size_t rows = (size_t)array->length;
    for (size_t row = 0; row < rows; row++)
        array->null_count += gput_table_is_missing(memory->table, row, column);
    if (array->null_count == 0)
        return 0;
    memory->validity = calloc(rows / 8 + 1, 1);
    if (!memory->validity)
        return ENOMEM;
    for (size_t row = 0; row < rows; row++)
        if (!gput_table_is_missing(memory->table, row, column))
            memory->validity[row / 8] |= (uint8_t)(1u << row % 8);
    memory->buffers[0] = memory->validity;
    return 0;
}

/* Gives an array the cells of a column: numbers as they lie in the table, texts copied. */
static int fill_column(struct ArrowArray *array, size_t column)
{
    static const int64_t nothing; /* an empty buffer is not NULL */
    struct array_memory *memory = array->private_data;
    int code = mark_missing(array, column);
    if (code != 0)
        return code;
    enum gput_column_type type = gput_table_column_type(memory->table, column);
    if (type == GPUT_COLUMN_TEXT) {
        /* Copy the texts of a column one after the other, with the offset of each. */
        size_t rows = (size_t)array->length;
        memory->offsets = malloc((rows + 1) * sizeof *memory->offsets);
        if (!memory->offsets || !str_reserve(&memory->text, 1))
            return ENOMEM;
        for (size_t row = 0; row < rows; row++) {
            const char *text = gput_table_text(memory->table, row, column);
            memory->offsets[row] = (int32_t)memory->text.length;
            if (text)
                utf8_append(text, strlen(text), &memory->text);
            if (memory->text.length > INT32_MAX)
                return EOVERFLOW;
        }
        memory->offsets[rows] = (int32_t)memory->text.length;
        memory->buffers[1] = memory->offsets;
        memory->buffers[2] = memory->text.data;
        return memory->text.failed ? ENOMEM : 0;
    }
    memory->buffers[1] = type == GPUT_COLUMN_INT
                             ? (const void *)gput_table_ints(memory->table, column)
                             : (const void *)gput_table_doubles(memory->table, column);
    if (!memory->buffers[1])
        memory->buffers[1] = &nothing;
    return 0;
}

/* Adds the array of a column to that of its table. */
static int add_column(const struct gput_table *table, size_t column, struct ArrowArray *batch)
{
    bool text = gput_table_column_type(table, column) == GPUT_COLUMN_TEXT;
    struct ArrowArray *array = calloc(1, sizeof *array);
    if (!array)
        return ENOMEM;
    int code = array_create(table, text ? 3 : 2, array);
    if (code != 0) {
        free(array);
        return code;
    }
    batch->children[batch->n_children++] = array;
    return fill_column(array, column);
}

/* The whole table as one batch: 0, ENOMEM or EOVERFLOW. */
static int make_batch(const struct gput_table *table, struct ArrowArray *batch)
{
    size_t columns = gput_table_column_count(table);
    int code = array_create(table, 1, batch);
    if (code != 0)
        return code;
    batch->children = calloc(columns + 1, sizeof *batch->children);
    code = batch->children ? 0 : ENOMEM;
    for (size_t column = 0; code == 0 && column < columns; column++)
        code = add_column(table, column, batch);
    if (code != 0)
        array_release(batch);
    return code;
}

/* ---- Stream ---- */

struct stream_state {
    const struct gput_table *table;
    bool done;
    int code; /* of the last call */
};

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct stream_state *state = stream->private_data;
    state->code = make_schema(state->table, schema) ? 0 : ENOMEM;
    return state->code;
}

/* Gives the one batch, then the end. */
static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct stream_state *state = stream->private_data;
    *array = (struct ArrowArray){.release = NULL}; /* the end */
    state->code = state->done ? 0 : make_batch(state->table, array);
    state->done = state->done || state->code == 0;
    return state->code;
}

/* Says why the last call failed. */
static const char *stream_get_last_error(struct ArrowArrayStream *stream)
{
    const struct stream_state *state = stream->private_data;
    switch (state->code) {
    case 0:
        return NULL;
    case EOVERFLOW:
        return "A column has more than 2 GiB of text.";
    default:
        return "Out of memory.";
    }
}

/* Frees a stream; called by its consumer. */
static void stream_release(struct ArrowArrayStream *stream)
{
    struct stream_state *state = stream->private_data;
    gput_table_release(state->table);
    free(state);
    stream->release = NULL;
}

int gput_table_arrow_stream(
    const struct gput_table *table, struct ArrowArrayStream *stream, struct gput_error *error)
{
    struct stream_state *state = calloc(1, sizeof *state);
    if (!state)
        return error_memory(error);
    state->table = gput_table_retain(table);
    *stream = (struct ArrowArrayStream){
        .get_schema = stream_get_schema,
        .get_next = stream_get_next,
        .get_last_error = stream_get_last_error,
        .release = stream_release,
        .private_data = state,
    };
    return GPUT_OK;
}
