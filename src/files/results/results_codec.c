#include "files/results/results_codec.h"

#include "model/results_columns.h"

#include <endian.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

#define FORM 2
/* About what a copy takes, so that it need not grow. */
#define USUAL_BYTES 8191

/* clang-format off */
enum { AT_FORM = 16, AT_BODY_SIZE = 20, AT_CHECKSUM = 24, AT_VERSION = 28, AT_NUMBER = 48, AT_BODY = 56 };
/* clang-format on */

static const char magic[16] = {"gpu-tracker res\n"};
_Static_assert(RESULTS_COPIES *RESULTS_COPY_DISTANCE == 0x200000, "as RESULTS_HEAD says");

static void put_32(char *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof value);
}

static uint32_t get_32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static uint64_t get_64(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

/* Returns the CRC-32 of a copy, which covers all that follows it. */
static uint32_t checksum_of(const char *copy, size_t length)
{
    return (uint32_t)crc32(0, (const Bytef *)copy + AT_VERSION, (uInt)(length - AT_VERSION));
}

/* ---- Writing ---- */

/* Begins a field: its type and name. */
static void append_head(struct str *text, char type, const char *name)
{
    size_t length = strlen(name);
    if (!str_reserve(text, 2 + length))
        return;
    char *at = text->data + text->length;
    at[0] = type;
    at[1] = (char)length;
    memcpy(at + 2, name, length + 1);
    text->length += 2 + length;
}

/* Appends a double or a count, of 8 bytes. */
static void append_64(struct str *text, char type, const char *name, uint64_t value)
{
    value = htole64(value);
    append_head(text, type, name);
    str_append_bytes(text, (const char *)&value, sizeof value);
}

/* Appends the fields of an item. What is not known, 0 or empty is what a reader takes for what is
 * not there, and is left out. */
static void append_item(struct str *text, const struct results_list *list,
    const struct gput_results *results, size_t row)
{
    const void *item = list->at(results, row);
    for (size_t i = 0; i < list->n_columns; i++) {
        const struct results_column *column = &list->columns[i];
        const char *name = column->description.name;
        if (column->kind == RESULTS_DOUBLE) {
            uint64_t bits;
            double value = results_column_number(column, item);
            memcpy(&bits, &value, sizeof bits);
            if (!isnan(value))
                append_64(text, 'd', name, bits);
        } else if (column->kind < RESULTS_TEXT) {
            double value = results_column_number(column, item);
            if (value != 0)
                append_64(text, 'i', name, (uint64_t)value);
        } else {
            const char *value = results_column_text(column, item);
            size_t length = strlen(value);
            uint16_t stored = htole16((uint16_t)length);
            if (length == 0 || length > UINT16_MAX)
                continue;
            append_head(text, 't', name);
            str_append_bytes(text, (const char *)&stored, sizeof stored);
            str_append_bytes(text, value, length);
        }
    }
}

void results_encode(const struct gput_results *results, uint64_t number, struct str *copy)
{
    char head[AT_BODY] = {0};
    size_t n_lists;
    const struct results_list *lists = results_lists(&n_lists);
    memcpy(head, magic, sizeof magic);
    strncpy(head + AT_VERSION, GPUT_VERSION, RESULTS_VERSION_SIZE - 1);
    put_32(head + AT_FORM, FORM);
    uint64_t stored_number = htole64(number);
    memcpy(head + AT_NUMBER, &stored_number, sizeof stored_number);
    str_clear(copy);
    str_reserve(copy, USUAL_BYTES);
    str_append_bytes(copy, head, sizeof head);
    for (size_t i = 0; i < n_lists; i++) {
        for (size_t row = 0; row < lists[i].count(results); row++) {
            if (i > 0)
                append_head(copy, 'L', lists[i].name);
            append_item(copy, &lists[i], results, row);
        }
    }
    if (copy->failed)
        return;
    put_32(copy->data + AT_BODY_SIZE, (uint32_t)(copy->length - AT_BODY));
    put_32(copy->data + AT_CHECKSUM, checksum_of(copy->data, copy->length));
}

/* ---- Reading ---- */

static bool is_copy(const char *bytes, size_t length)
{
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

bool results_is_kept(const char *bytes, size_t length, size_t *at)
{
    bool has_head =
        length >= RESULTS_HEAD_SIZE && memcmp(bytes, RESULTS_HEAD, RESULTS_HEAD_SIZE) == 0;
    *at = has_head ? RESULTS_HEAD_SIZE : 0;
    return has_head || is_copy(bytes, length);
}

struct reader {
    const char *at, *end;
    struct gput_results *results;
    const struct results_list *list;
    void *item; /* NULL: of a list that is not known */
    size_t hint;
    bool failed; /* a list has more items than there is space for */
};

struct field {
    char type;
    const char *name;
    size_t name_length;
    const char *value;
    size_t length;
};

/* Reads the next field. Returns false at the end, and where the bytes end in a field. */
static bool next_field(struct reader *reader, struct field *field)
{
    size_t left = (size_t)(reader->end - reader->at);
    if (left < 2)
        return false;
    *field = (struct field){
        .type = reader->at[0], .name = reader->at + 2, .name_length = (unsigned char)reader->at[1]};
    size_t head = 2 + field->name_length + (field->type == 't' ? 2 : 0);
    if (head > left)
        return false;
    field->value = reader->at + head;
    if (field->type == 't')
        field->length = (unsigned char)field->value[-2] | (size_t)(unsigned char)field->value[-1]
                                                              << 8;
    else if (field->type != 'L')
        field->length = 8;
    if (field->length > left - head)
        return false;
    reader->at = field->value + field->length;
    return true;
}

/* Begins an item of the list of that name, which may be unknown. */
static void begin_item(struct reader *reader, const struct field *field)
{
    size_t count;
    const struct results_list *lists = results_lists(&count);
    reader->item = NULL;
    for (size_t i = 1; i < count; i++) {
        if (strlen(lists[i].name) != field->name_length ||
            memcmp(lists[i].name, field->name, field->name_length) != 0)
            continue;
        reader->list = &lists[i];
        reader->item = lists[i].add(reader->results);
        reader->hint = 0;
        reader->failed |= !reader->item;
        if (reader->item)
            results_forget_numbers(&lists[i], reader->item);
    }
}

/* Reads a field into the item; one of an unknown column is skipped. */
static void read_field(struct reader *reader, const struct field *field)
{
    const struct results_column *column =
        results_column_find(reader->list, field->name, field->name_length, &reader->hint);
    double value;
    if (!column)
        return;
    if (field->type == 't') {
        results_column_set_text(column, reader->item, field->value, field->length);
    } else if (field->type == 'd' && column->kind == RESULTS_DOUBLE) {
        uint64_t bits = get_64(field->value);
        memcpy(&value, &bits, sizeof value);
        results_column_set_number(column, reader->item, value);
    } else if (field->type == 'i') {
        results_column_set_number(column, reader->item, (double)get_64(field->value));
    }
}

/* Checks whether the bytes of a copy are as they were written, and gives their length. */
static enum results_decoded check(struct results_copy *copy, size_t *length)
{
    if (copy->length < AT_BODY || !is_copy(copy->bytes, copy->length))
        return RESULTS_DAMAGED;
    memcpy(copy->version, copy->bytes + AT_VERSION, sizeof copy->version);
    copy->version[sizeof copy->version - 1] = '\0';
    if (get_32(copy->bytes + AT_FORM) != FORM)
        return RESULTS_OTHER_FORM;
    *length = (size_t)get_32(copy->bytes + AT_BODY_SIZE) + AT_BODY;
    if (*length > copy->length ||
        get_32(copy->bytes + AT_CHECKSUM) != checksum_of(copy->bytes, *length))
        return RESULTS_DAMAGED;
    copy->number = get_64(copy->bytes + AT_NUMBER);
    return copy->number > copy->better_than ? RESULTS_DECODED : RESULTS_DAMAGED;
}

enum results_decoded results_decode(struct results_copy *copy, struct gput_results *results)
{
    size_t length, n_lists;
    enum results_decoded decoded = check(copy, &length);
    if (decoded != RESULTS_DECODED)
        return decoded;
    struct gput_results read = {0};
    struct reader reader = {.at = copy->bytes + AT_BODY,
        .end = copy->bytes + length,
        .results = &read,
        .list = results_lists(&n_lists),
        .item = &read};
    results_forget(&read); /* what is not in the file; counts are 0 and texts empty */
    for (struct field field; next_field(&reader, &field);) {
        if (field.type == 'L')
            begin_item(&reader, &field);
        else if (reader.item)
            read_field(&reader, &field);
    }
    if (reader.failed) {
        results_finish(&read);
        return RESULTS_DAMAGED;
    }
    results_finish(results);
    *results = read;
    return RESULTS_DECODED;
}
