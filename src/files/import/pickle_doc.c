#include "files/import/pickle_doc.h"

#include "files/import/pickle_array.h"

#define DEPTH_MAX 4

int pickle_spend_or_say(struct pickle_budget *budget, uint64_t cost, struct gput_error *error)
{
    if (pickle_spend(budget, cost) == GPUT_OK)
        return GPUT_OK;
    return error_set(
        error, GPUT_ERROR_FORMAT, "it leads to more values than a file of its size can hold");
}

/* ---- Values ---- */

/* Of an object its state, or the text that it was made of. */
static const struct pickle_value *content_of(const struct pickle_value *value)
{
    if (value->kind != PICKLE_OBJECT)
        return value;
    return value->object.state ? value->object.state : pickle_item(value->object.arguments, 0);
}

static int add(const struct pickle_value *value, struct pickle_budget *budget, int depth,
    struct doc *object, const char *key, struct gput_error *error);

/* Of a key that is there twice the last value counts. */
static int add_dict(const struct pickle_value *dict, struct pickle_budget *budget, int depth,
    struct doc *object, struct gput_error *error)
{
    for (size_t i = 0; i + 1 < dict->list.count; i += 2) {
        const struct pickle_value *key = dict->list.items[i], *value = dict->list.items[i + 1];
        if (key->kind != PICKLE_TEXT || pickle_get(dict, key->text.bytes) != value)
            continue;
        TRY(pickle_spend_or_say(budget, key->text.length, error));
        TRY(add(value, budget, depth, object, key->text.bytes, error));
    }
    return GPUT_OK;
}

static int add(const struct pickle_value *value, struct pickle_budget *budget, int depth,
    struct doc *object, const char *key, struct gput_error *error)
{
    int64_t integer;
    bool is_integer = value->kind != PICKLE_BOOL && pickle_integer(value, &integer);
    if (!is_integer)
        value = content_of(value);
    TRY(pickle_spend_or_say(budget, 1, error));
    if (is_integer) {
        doc_add_int(object, key, integer);
    } else if (value && value->kind == PICKLE_BOOL) {
        doc_add_bool(object, key, value->boolean);
    } else if (value && value->kind == PICKLE_FLOAT) {
        doc_add_double(object, key, value->number);
    } else if (value && value->kind == PICKLE_TEXT) {
        TRY(pickle_spend_or_say(budget, value->text.length, error));
        doc_add_string(object, key, value->text.bytes);
    } else if (value && value->kind == PICKLE_DICT && depth < DEPTH_MAX) {
        return add_dict(value, budget, depth + 1, doc_add_object(object, key), error);
    } else {
        doc_add_null(object, key);
    }
    return GPUT_OK;
}

int pickle_add_to_doc(const struct pickle_value *value, struct pickle_budget *budget,
    struct doc *object, const char *key, struct gput_error *error)
{
    return add(value, budget, 0, object, key, error);
}

/* ---- Frames ---- */

static void add_cell(const struct frame_cell *cell, struct doc *object, const char *key)
{
    if (cell->kind == FRAME_INT)
        doc_add_int(object, key, cell->integer);
    else if (cell->kind == FRAME_DOUBLE)
        doc_add_double(object, key, cell->number);
    else if (cell->kind == FRAME_TEXT)
        doc_add_string(object, key, cell->text);
    else
        doc_add_null(object, key);
}

static void add_rows(const struct frame *frame, struct doc *object)
{
    for (size_t i = 0; i < frame->n_rows; i++) {
        if (!frame->column_names) {
            add_cell(&frame->cells[i], object, frame->row_names[i]);
            continue;
        }
        struct doc *row = doc_add_object(object, frame->row_names[i]);
        for (size_t k = 0; k < frame->n_columns; k++)
            add_cell(&frame->cells[i * frame->n_columns + k], row, frame->column_names[k]);
    }
}

static int add_frame(const struct pickle_value *value, enum pickle_shape shape,
    struct pickle_budget *budget, struct doc *object, const char *key, struct gput_error *error)
{
    struct frame frame;
    int code = frame_read(value, key, budget, &frame, error);
    if (code == GPUT_ERROR_FORMAT) /* an exhausted budget also fails as an invalid frame */
        TRY(pickle_spend_or_say(budget, 0, error));
    TRY(code);
    bool is_table = frame.column_names != NULL;
    if (is_table == (shape == PICKLE_MANY_ROWS))
        add_rows(&frame, doc_add_object(object, key));
    else
        code = error_set(error, GPUT_ERROR_FORMAT,
            is_table ? "it has a table where a series belongs"
                     : "it has a series where a table belongs");
    frame_finish(&frame);
    return code;
}

int pickle_add_members_to_doc(const struct pickle_value *dict, const struct pickle_member *members,
    struct pickle_budget *budget, struct doc *object, struct gput_error *error)
{
    for (const struct pickle_member *member = members; member->key; member++) {
        const struct pickle_value *value = pickle_get(dict, member->key);
        if (member->shape != PICKLE_VALUE)
            TRY(add_frame(value, member->shape, budget, object, member->key, error));
        else if (value)
            TRY(pickle_add_to_doc(value, budget, object, member->key, error));
    }
    return doc_failed(object) ? error_memory(error) : GPUT_OK;
}
