#include "files/import/marshal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 32
#define FLAG_REFERENCE 0x80
#define NOTHING UINT32_MAX /* stands for the end of a dict */

struct reader {
    struct marshal *marshal;
    const unsigned char *at;
    const unsigned char *end;
    const char *name;
    struct gput_error *error;
};

/* Fails because of bytes that a profile cannot have. */
static int damaged(struct reader *reader)
{
    return error_set(
        reader->error, GPUT_ERROR_FORMAT, "%s is not a profile, or a damaged one", reader->name);
}

static int truncated(struct reader *reader)
{
    return error_set(reader->error, GPUT_ERROR_FORMAT, "%s ends too early", reader->name);
}

static size_t left(const struct reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

/* Adds an empty item for a tuple or a dict. */
static int add_item(struct reader *reader, uint32_t *place)
{
    struct marshal *marshal = reader->marshal;
    if (!ARRAY_EXTEND(marshal->items, marshal->item_count))
        return error_memory(reader->error);
    *place = marshal->item_count++;
    marshal->items[*place] = (struct marshal_item){NOTHING, NOTHING, MARSHAL_END};
    return GPUT_OK;
}

/* Reads a little-endian number of `size` bytes. */
static int read_number(struct reader *reader, size_t size, uint64_t *number)
{
    *number = 0;
    if (left(reader) < size)
        return truncated(reader);
    for (size_t i = 0; i < size; i++)
        *number |= (uint64_t)reader->at[i] << 8 * i;
    reader->at += size;
    return GPUT_OK;
}

/* Reads a count of `size` bytes. At least `count` bytes must follow. */
static int read_count(struct reader *reader, size_t size, uint32_t *count)
{
    uint64_t number;
    TRY(read_number(reader, size, &number));
    if (number > INT32_MAX)
        return damaged(reader);
    if (number > left(reader))
        return truncated(reader);
    *count = (uint32_t)number;
    return GPUT_OK;
}

/* Reads an int of 15-bit digits; the sign of their count is its sign. */
static int read_long(struct reader *reader, int64_t *number)
{
    uint64_t word, sum = 0;
    TRY(read_number(reader, 4, &word));
    int64_t count = (int32_t)(uint32_t)word, digits = count < 0 ? -count : count;
    if (digits > 5) /* more than 64 bits, which no count of a profile has */
        return damaged(reader);
    for (int64_t i = 0; i < digits; i++) {
        TRY(read_number(reader, 2, &word));
        if (word > 0x7fff || (i == 4 && word > 7))
            return damaged(reader);
        sum |= word << 15 * i;
    }
    if (sum > INT64_MAX)
        return damaged(reader);
    *number = count < 0 ? -(int64_t)sum : (int64_t)sum;
    return GPUT_OK;
}

static int read_value(struct reader *reader, int depth, uint32_t *place);

/* Reads a tuple. Its items are adjacent, so all are added before the first one is read. */
static int read_tuple(struct reader *reader, size_t count_size, uint32_t place, int depth)
{
    uint32_t count = 0, first = reader->marshal->item_count, item;
    TRY(read_count(reader, count_size, &count));
    for (uint32_t i = 0; i < count; i++)
        TRY(add_item(reader, &item));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value;
        TRY(read_value(reader, depth + 1, &value));
        if (value == NOTHING)
            return damaged(reader);
        reader->marshal->items[first + i].value = value;
    }
    reader->marshal->values[place] =
        (struct marshal_value){.kind = MARSHAL_TUPLE, .count = count, .first = first};
    return GPUT_OK;
}

/* Reads pairs of keys and values up to the end mark. */
static int read_dict(struct reader *reader, uint32_t place, int depth)
{
    uint32_t count = 0, first = MARSHAL_END, last = MARSHAL_END;
    for (;; count++) {
        uint32_t key, value, item = 0;
        TRY(read_value(reader, depth + 1, &key));
        if (key == NOTHING)
            break;
        TRY(read_value(reader, depth + 1, &value));
        if (value == NOTHING)
            return damaged(reader);
        TRY(add_item(reader, &item));
        reader->marshal->items[item] = (struct marshal_item){key, value, MARSHAL_END};
        if (last == MARSHAL_END)
            first = item;
        else
            reader->marshal->items[last].next = item;
        last = item;
    }
    reader->marshal->values[place] =
        (struct marshal_value){.kind = MARSHAL_DICT, .count = count, .first = first};
    return GPUT_OK;
}

/* Reads a text, as a reference to the input. */
static int read_text(struct reader *reader, size_t count_size, uint32_t place)
{
    uint32_t count = 0;
    TRY(read_count(reader, count_size, &count));
    reader->marshal->values[place] = (struct marshal_value){
        .kind = MARSHAL_TEXT, .count = count, .text = (const char *)reader->at};
    reader->at += count;
    return GPUT_OK;
}

/* Reads the content of a value, whose type letter was read. */
static int read_body(struct reader *reader, unsigned char type, uint32_t place, int depth)
{
    struct marshal_value value = {.kind = MARSHAL_NONE};
    uint64_t word;
    switch (type) {
    case 'N':
        return GPUT_OK;
    case 'T':
    case 'F':
        value.kind = MARSHAL_BOOL;
        value.integer = type == 'T';
        break;
    case 'i':
        TRY(read_number(reader, 4, &word));
        value.kind = MARSHAL_INT;
        value.integer = (int32_t)(uint32_t)word;
        break;
    case 'l':
        value.kind = MARSHAL_INT;
        TRY(read_long(reader, &value.integer));
        break;
    case 'g':
        TRY(read_number(reader, 8, &word));
        value.kind = MARSHAL_DOUBLE;
        memcpy(&value.number, &word, sizeof word);
        break;
    case 'z':
    case 'Z':
        return read_text(reader, 1, place);
    case 'a':
    case 'A':
    case 'u':
    case 't':
    case 's':
        return read_text(reader, 4, place);
    case ')':
        return read_tuple(reader, 1, place, depth);
    case '(':
        return read_tuple(reader, 4, place, depth);
    case '{':
        return read_dict(reader, place, depth);
    default:
        return damaged(reader);
    }
    reader->marshal->values[place] = value;
    return GPUT_OK;
}

/* Reads a value with everything inside it; NOTHING: it is the end mark of a dict. */
static int read_value(struct reader *reader, int depth, uint32_t *place)
{
    struct marshal *marshal = reader->marshal;
    *place = NOTHING;
    if (left(reader) == 0)
        return truncated(reader);
    if (depth > MAX_DEPTH)
        return damaged(reader);
    unsigned char code = *reader->at++, type = code & (FLAG_REFERENCE - 1);
    if (type == '0')
        return GPUT_OK;
    if (type == 'r') {
        /* Return a value that was read before. */
        uint64_t index;
        TRY(read_number(reader, 4, &index));
        if (index >= reader->marshal->reference_count)
            return damaged(reader);
        *place = reader->marshal->references[index];
        /* A container that contains itself would never end. */
        return reader->marshal->values[*place].whole ? GPUT_OK : damaged(reader);
    }

    /* Add a value, which is read below. */
    if (!ARRAY_EXTEND(marshal->values, marshal->value_count))
        return error_memory(reader->error);
    *place = marshal->value_count++;
    marshal->values[*place] = (struct marshal_value){.kind = MARSHAL_NONE};
    if (code & FLAG_REFERENCE) {
        if (!ARRAY_EXTEND(marshal->references, marshal->reference_count))
            return error_memory(reader->error);
        marshal->references[marshal->reference_count++] = *place;
    }
    TRY(read_body(reader, type, *place, depth));
    marshal->values[*place].whole = true;
    return GPUT_OK;
}

int marshal_read(const void *bytes, size_t length, const char *name, struct marshal *marshal,
    struct gput_error *error)
{
    struct reader reader = {.marshal = marshal,
        .at = bytes,
        .end = (const unsigned char *)bytes + length,
        .name = name,
        .error = error};
    *marshal = (struct marshal){0};
    int code = read_value(&reader, 0, &marshal->root);
    if (code == GPUT_OK && marshal->root == NOTHING)
        code = damaged(&reader);
    if (code != GPUT_OK)
        marshal_finish(marshal);
    return code;
}

void marshal_finish(struct marshal *marshal)
{
    free(marshal->values);
    free(marshal->items);
    free(marshal->references);
    *marshal = (struct marshal){0};
}

bool marshal_int(const struct marshal *marshal, uint32_t value, int64_t *number)
{
    const struct marshal_value *found = marshal->values + value;
    if (found->kind != MARSHAL_INT && found->kind != MARSHAL_BOOL)
        return false;
    *number = found->integer;
    return true;
}

bool marshal_double(const struct marshal *marshal, uint32_t value, double *number)
{
    const struct marshal_value *found = marshal->values + value;
    int64_t integer;
    if (marshal_int(marshal, value, &integer)) {
        *number = (double)integer;
        return true;
    }
    *number = found->kind == MARSHAL_DOUBLE ? found->number : 0;
    return found->kind == MARSHAL_DOUBLE;
}
