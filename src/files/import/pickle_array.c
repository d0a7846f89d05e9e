#include "files/import/pickle_array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes somewhere in a pickle, or decoded from it. */
struct buffer {
    const unsigned char *bytes;
    size_t length;
    unsigned char *decoded; /* NULL, or owned */
};

/* What it costs to find out what an array is, and how many bytes cost as much as a value. */
#define COST_ARRAY 32
#define COST_BYTES 16

/* How numbers lie in a buffer. */
struct number_type {
    char kind; /* i, u, f, b, O */
    size_t size;
    bool big_endian;
};

/* ---- Buffers ---- */

/* Text whose characters stand for bytes (protocol 2 has no other way). */
static int decode_latin1(const struct pickle_value *text, struct buffer *buffer)
{
    if (!text || text->kind != PICKLE_TEXT)
        return GPUT_ERROR_FORMAT;
    unsigned char *decoded = malloc(text->text.length + 1);
    if (!decoded)
        return GPUT_ERROR_MEMORY;
    const unsigned char *at = (const unsigned char *)text->text.bytes;
    const unsigned char *end = at + text->text.length;
    size_t length = 0;
    while (at < end) {
        unsigned character = *at++;
        if (character >= 0x80) {
            if ((character & 0xFE) != 0xC2 || at == end) {
                free(decoded);
                return GPUT_ERROR_FORMAT;
            }
            character = (character & 0x03) << 6 | (*at++ & 0x3F);
        }
        decoded[length++] = (unsigned char)character;
    }
    *buffer = (struct buffer){decoded, length, decoded};
    return GPUT_OK;
}

static int buffer_read(const struct pickle_value *value, struct buffer *buffer)
{
    for (int depth = 0; value && depth < 4; depth++) {
        if (value->kind == PICKLE_BYTES) {
            *buffer =
                (struct buffer){(const unsigned char *)value->text.bytes, value->text.length, NULL};
            return GPUT_OK;
        }
        if (pickle_is_object(value, PICKLE_ENCODE))
            return decode_latin1(pickle_item(value->object.arguments, 0), buffer);
        if (!pickle_is_object(value, PICKLE_BYTEARRAY) &&
            !pickle_is_object(value, PICKLE_ARROW_BUFFER))
            break;
        if (value->object.arguments->list.count > 0 &&
            pickle_item(value->object.arguments, 0)->kind == PICKLE_TEXT)
            return decode_latin1(pickle_item(value->object.arguments, 0), buffer);
        value = pickle_item(value->object.arguments, 0);
    }
    return GPUT_ERROR_FORMAT;
}

/* ---- Scalars ---- */

static const char *string_of(const struct pickle_value *value)
{
    if (value && value->kind == PICKLE_TEXT)
        return value->text.bytes;
    if (pickle_is_object(value, PICKLE_QUOTED_NAME)) {
        value = pickle_item(value->object.arguments, 0);
        return value && value->kind == PICKLE_TEXT ? value->text.bytes : NULL;
    }
    return NULL;
}

/* numpy's dtype: dtype("f8", …) with the state (3, "<", …). */
static int type_read(const struct pickle_value *value, struct number_type *type)
{
    if (!pickle_is_object(value, PICKLE_DTYPE))
        return GPUT_ERROR_FORMAT;
    const char *name = string_of(pickle_item(value->object.arguments, 0));
    const char *order = string_of(pickle_item(value->object.state, 1));
    if (!name || !strchr("iufbO", name[0]) || name[0] == '\0' || name[1] < '1' || name[1] > '8' ||
        name[2] != '\0')
        return GPUT_ERROR_FORMAT;
    *type = (struct number_type){
        .kind = name[0], .size = (size_t)(name[1] - '0'), .big_endian = order && *order == '>'};
    bool known = type->kind == 'f' ? type->size == 8 || type->size == 4
                                   : (type->size & (type->size - 1)) == 0;
    return known ? GPUT_OK : GPUT_ERROR_FORMAT;
}

static struct frame_cell number_of(const unsigned char *bytes, const struct number_type *type)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < type->size; i++)
        bits = bits << 8 | bytes[type->big_endian ? i : type->size - 1 - i];
    if (type->kind == 'f') {
        double number;
        float small;
        uint32_t small_bits = (uint32_t)bits;
        memcpy(&number, &bits, sizeof number);
        memcpy(&small, &small_bits, sizeof small);
        return (struct frame_cell){
            .kind = FRAME_DOUBLE, .number = type->size == 8 ? number : (double)small};
    }
    if (type->kind == 'i' && type->size < 8 && bits >> (8 * type->size - 1))
        bits |= UINT64_MAX << (8 * type->size);
    struct frame_cell cell = {.kind = FRAME_INT, .integer = (int64_t)bits};
    cell.number = type->kind == 'i' ? (double)cell.integer : (double)bits;
    return cell;
}

/* numpy's scalar(dtype, bytes). */
static int scalar_read(const struct pickle_value *arguments, struct frame_cell *cell)
{
    struct number_type type;
    struct buffer buffer;
    int code = type_read(pickle_item(arguments, 0), &type);
    if (code != GPUT_OK || type.kind == 'O')
        return GPUT_ERROR_FORMAT;
    TRY(buffer_read(pickle_item(arguments, 1), &buffer));
    if (buffer.length == type.size)
        *cell = number_of(buffer.bytes, &type);
    code = buffer.length == type.size ? GPUT_OK : GPUT_ERROR_FORMAT;
    free(buffer.decoded);
    return code;
}

static int read_cell(const struct pickle_value *value, struct frame_cell *cell)
{
    *cell = (struct frame_cell){.kind = FRAME_MISSING, .number = NAN};
    const char *text = string_of(value);
    if (text) {
        if (strlen(text) > FRAME_TEXT_MAX)
            return GPUT_ERROR_FORMAT;
        cell->kind = FRAME_TEXT;
        cell->text = strdup(text);
        return cell->text ? GPUT_OK : GPUT_ERROR_MEMORY;
    }
    if (pickle_is_object(value, PICKLE_SCALAR))
        return scalar_read(value->object.arguments, cell);
    if (!value)
        return GPUT_ERROR_FORMAT;
    switch (value->kind) {
    case PICKLE_NONE:
        return GPUT_OK;
    case PICKLE_BOOL:
        *cell = (struct frame_cell){FRAME_INT, value->boolean, value->boolean, NULL};
        return GPUT_OK;
    case PICKLE_INT:
        *cell = (struct frame_cell){FRAME_INT, value->integer, (double)value->integer, NULL};
        return GPUT_OK;
    case PICKLE_FLOAT:
        *cell = (struct frame_cell){FRAME_DOUBLE, 0, value->number, NULL};
        return GPUT_OK;
    default:
        return GPUT_ERROR_FORMAT;
    }
}

bool pickle_integer(const struct pickle_value *value, int64_t *integer)
{
    struct frame_cell cell;
    int code = read_cell(value, &cell);
    bool whole = code == GPUT_OK && cell.kind == FRAME_INT;
    *integer = cell.integer;
    free(cell.text);
    return whole;
}

/* ---- Arrays ---- */

void pickle_array_finish(struct pickle_array *array)
{
    for (size_t i = 0; array->items && i < array->count; i++)
        free(array->items[i].text);
    free(array->items);
    *array = (struct pickle_array){0};
}

/* Space for `count` missing items in one dimension. */
static int array_create(struct pickle_array *array, size_t count)
{
    *array = (struct pickle_array){.count = count, .shape = {count, 1}};
    if (count > FRAME_CELLS_MAX)
        return GPUT_ERROR_FORMAT;
    array->items = calloc(count + 1, sizeof *array->items);
    return array->items ? GPUT_OK : GPUT_ERROR_MEMORY;
}

static int list_read(const struct pickle_value *list, struct pickle_array *array)
{
    TRY(array_create(array, list->list.count));
    for (size_t i = 0; i < array->count; i++)
        TRY(read_cell(list->list.items[i], &array->items[i]));
    return GPUT_OK;
}

/* One dimension or two; `*count` is their product. */
static int shape_read(const struct pickle_value *shape, size_t dimensions[2], size_t *count)
{
    int64_t sizes[2] = {1, 1};
    if (!shape || shape->kind != PICKLE_TUPLE || shape->list.count < 1 || shape->list.count > 2)
        return GPUT_ERROR_FORMAT;
    for (size_t i = 0; i < shape->list.count; i++) {
        if (!pickle_integer(shape->list.items[i], &sizes[i]) || sizes[i] < 0 ||
            sizes[i] > FRAME_CELLS_MAX)
            return GPUT_ERROR_FORMAT;
    }
    dimensions[0] = (size_t)sizes[0];
    dimensions[1] = (size_t)sizes[1];
    *count = dimensions[0] * dimensions[1];
    return *count <= FRAME_CELLS_MAX ? GPUT_OK : GPUT_ERROR_FORMAT;
}

/* Column by column to row by row. */
static int to_c_order(struct pickle_array *array)
{
    struct frame_cell *items = malloc((array->count + 1) * sizeof *items);
    if (!items)
        return GPUT_ERROR_MEMORY;
    for (size_t i = 0; i < array->count; i++) {
        size_t row = i % array->shape[0], column = i / array->shape[0];
        items[row * array->shape[1] + column] = array->items[i];
    }
    free(array->items);
    array->items = items;
    return GPUT_OK;
}

static int numbers_read(
    const struct pickle_value *data, const struct number_type *type, struct pickle_array *array)
{
    struct buffer buffer;
    int code = buffer_read(data, &buffer);
    if (code != GPUT_OK)
        return code;
    if (buffer.length != array->count * type->size)
        code = GPUT_ERROR_FORMAT;
    for (size_t i = 0; code == GPUT_OK && i < array->count; i++)
        array->items[i] = number_of(buffer.bytes + i * type->size, type);
    free(buffer.decoded);
    return code;
}

static int data_read(const struct pickle_value *shape, const struct pickle_value *dtype,
    const struct pickle_value *data, bool fortran, struct pickle_array *array)
{
    struct number_type type;
    size_t dimensions[2], count;
    TRY(type_read(dtype, &type));
    TRY(shape_read(shape, dimensions, &count));
    if (type.kind == 'O') {
        if (!data || data->kind != PICKLE_LIST || data->list.count != count)
            return GPUT_ERROR_FORMAT;
        TRY(list_read(data, array));
    } else {
        TRY(array_create(array, count));
        TRY(numbers_read(data, &type, array));
    }
    memcpy(array->shape, dimensions, sizeof array->shape);
    return fortran ? to_c_order(array) : GPUT_OK;
}

/* numpy's _reconstruct(…) with the state (version, shape, dtype, fortran order, data). */
static int numpy_read(const struct pickle_value *state, struct pickle_array *array)
{
    const struct pickle_value *fortran = pickle_item(state, 3);
    return data_read(pickle_item(state, 1), pickle_item(state, 2), pickle_item(state, 4),
        fortran && fortran->kind == PICKLE_BOOL && fortran->boolean, array);
}

/* numpy's _frombuffer(data, dtype, shape, order). */
static int from_buffer_read(const struct pickle_value *arguments, struct pickle_array *array)
{
    const char *order = string_of(pickle_item(arguments, 3));
    return data_read(pickle_item(arguments, 2), pickle_item(arguments, 1),
        pickle_item(arguments, 0), order && *order == 'F', array);
}

static int64_t offset_at(const struct buffer *buffer, size_t index, size_t size)
{
    const struct number_type type = {.kind = 'i', .size = size};
    return number_of(buffer->bytes + index * size, &type).integer;
}

/* Arrow's strings: where each begins and ends, and the characters of all of them. */
static int arrow_strings_read(const struct buffer *offsets, const struct buffer *characters,
    size_t first, size_t offset_size, struct pickle_array *array)
{
    if (offsets->length / offset_size < first + array->count + 1)
        return GPUT_ERROR_FORMAT;
    for (size_t i = 0; i < array->count; i++) {
        int64_t from = offset_at(offsets, first + i, offset_size);
        int64_t to = offset_at(offsets, first + i + 1, offset_size);
        if (from < 0 || to < from || (uint64_t)to > characters->length ||
            to - from > FRAME_TEXT_MAX)
            return GPUT_ERROR_FORMAT;
        array->items[i].kind = FRAME_TEXT;
        array->items[i].number = NAN;
        array->items[i].text = strndup((const char *)characters->bytes + from, (size_t)(to - from));
        if (!array->items[i].text)
            return GPUT_ERROR_MEMORY;
    }
    return GPUT_OK;
}

/* _restore_array((type, length, nulls, offset, [valid, offsets, characters], …)). A chunked array
 * of one chunk is the same one level deeper. */
static int arrow_read(
    const struct pickle_value *value, struct pickle_budget *budget, struct pickle_array *array)
{
    const struct pickle_value *data = pickle_item(value->object.arguments, 0);
    const struct pickle_value *type = pickle_item(data, 0);
    const struct pickle_value *buffers = pickle_item(data, 4);
    int64_t length, nulls, first;
    if (!pickle_is_object(type, PICKLE_ARROW_TYPE) ||
        !pickle_integer(pickle_item(data, 1), &length) ||
        !pickle_integer(pickle_item(data, 2), &nulls) ||
        !pickle_integer(pickle_item(data, 3), &first) || nulls != 0 || length < 0 || first < 0 ||
        first > FRAME_CELLS_MAX)
        return GPUT_ERROR_FORMAT;
    const char *type_name = string_of(pickle_item(type->object.arguments, 0));
    if (!type_name || (strcmp(type_name, "large_string") != 0 && strcmp(type_name, "string") != 0))
        return GPUT_ERROR_FORMAT;
    struct buffer offsets, characters = {0};
    TRY(buffer_read(pickle_item(buffers, 1), &offsets));
    int code = buffer_read(pickle_item(buffers, 2), &characters);
    if (code == GPUT_OK) /* they may be far longer than what is taken from them */
        code = pickle_spend(budget, (offsets.length + characters.length) / COST_BYTES);
    if (code == GPUT_OK)
        code = array_create(array, (size_t)length);
    if (code == GPUT_OK)
        code = arrow_strings_read(
            &offsets, &characters, (size_t)first, *type_name == 'l' ? 8 : 4, array);
    free(offsets.decoded);
    free(characters.decoded);
    return code;
}

/* What lies inside an index or an array of strings; NULL when `value` is neither. */
static const struct pickle_value *inner_array(const struct pickle_value *value)
{
    if (pickle_is_object(value, PICKLE_NEW_INDEX))
        return pickle_get(pickle_item(value->object.arguments, 1), "data");
    if (pickle_is_object(value, PICKLE_INDEX))
        return pickle_item(value->object.arguments, 0);
    if (pickle_is_object(value, PICKLE_ARROW_STRINGS)) {
        const struct pickle_value *data = pickle_get(value->object.state, "_pa_array");
        return data ? data : pickle_get(value->object.state, "_data");
    }
    if (pickle_is_object(value, PICKLE_NEW_STRING_ARRAY) ||
        pickle_is_object(value, PICKLE_STRING_ARRAY)) {
        const struct pickle_value *data = pickle_item(value->object.state, 1);
        return data ? data : pickle_get(value->object.state, "_ndarray");
    }
    return NULL;
}

static int read(
    const struct pickle_value *value, struct pickle_budget *budget, struct pickle_array *array)
{
    for (int depth = 0; depth < 8; depth++) {
        const struct pickle_value *inner = inner_array(value);
        if (!inner)
            break;
        value = inner;
    }
    if (pickle_is_object(value, PICKLE_NEW_ARRAY))
        return numpy_read(value->object.state, array);
    if (pickle_is_object(value, PICKLE_ARRAY_OF_BUFFER))
        return from_buffer_read(value->object.arguments, array);
    if (pickle_is_object(value, PICKLE_ARROW_ARRAY))
        return arrow_read(value, budget, array);
    if (value && value->kind == PICKLE_LIST)
        return list_read(value, array);
    return GPUT_ERROR_FORMAT;
}

static uint64_t cost_of(const struct pickle_array *array)
{
    uint64_t cost = COST_ARRAY + array->count;
    for (size_t i = 0; i < array->count; i++)
        cost += array->items[i].text ? strlen(array->items[i].text) / COST_BYTES : 0;
    return cost;
}

int pickle_array_read(
    const struct pickle_value *value, struct pickle_budget *budget, struct pickle_array *array)
{
    *array = (struct pickle_array){0};
    int code = read(value, budget, array);
    if (code == GPUT_OK) /* afterwards is soon enough: what one takes is bounded */
        code = pickle_spend(budget, cost_of(array));
    if (code != GPUT_OK)
        pickle_array_finish(array);
    return code;
}
