#include "views/report/document/report_payload.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>

int report_payload_init(
    struct report_payload *payload, const char *folder, struct gput_error *error)
{
    *payload = (struct report_payload){.root = doc_create_object()};
    report_spool_init(&payload->spool, folder);
    return payload->root ? GPUT_OK : error_memory(error);
}

void report_payload_finish(struct report_payload *payload)
{
    for (size_t i = 0; i < payload->part_count; i++)
        report_bytes_finish(&payload->parts[i]);
    free(payload->parts);
    doc_destroy(payload->root);
    report_spool_finish(&payload->spool);
}

/* ---- Columns ---- */

static uint64_t padding_of(uint64_t length)
{
    return (REPORT_ALIGNMENT - length % REPORT_ALIGNMENT) % REPORT_ALIGNMENT;
}

void report_payload_warn(struct report_payload *payload, const char *message)
{
    if (!payload->warnings)
        payload->warnings = doc_add_array(payload->root, "warnings");
    doc_add_string(payload->warnings, NULL, message);
}

void report_payload_begin_session(struct report_payload *payload)
{
    payload->first_shared = payload->part_count;
    payload->shared_from = payload->length;
}

/* Where the same bytes are already; UINT64_MAX: nowhere. */
static int find_same(const struct report_payload *payload, const struct report_bytes *bytes,
    uint64_t *offset, struct gput_error *error)
{
    *offset = payload->shared_from;
    for (size_t i = payload->first_shared; i < payload->part_count; i++) {
        const struct report_bytes *part = &payload->parts[i];
        bool is_same;
        TRY(report_bytes_compare(part, bytes, &is_same, error));
        if (is_same)
            return GPUT_OK;
        *offset += part->length + padding_of(part->length);
    }
    *offset = UINT64_MAX;
    return GPUT_OK;
}

/* Takes the bytes, and says where they will be. */
static int add_part(struct report_payload *payload, struct report_bytes *bytes, uint64_t *offset,
    struct gput_error *error)
{
    TRY(find_same(payload, bytes, offset, error));
    if (*offset != UINT64_MAX) {
        report_bytes_finish(bytes);
        return GPUT_OK;
    }
    if (!ARRAY_EXTEND(payload->parts, payload->part_count))
        return error_memory(error);
    *offset = payload->length;
    payload->length += bytes->length + padding_of(bytes->length);
    payload->parts[payload->part_count++] = *bytes;
    report_bytes_init(bytes, &payload->spool);
    return GPUT_OK;
}

static void describe_place(struct doc *object, uint64_t offset, uint64_t length)
{
    doc_add_int(object, "offset", (int64_t)offset);
    doc_add_int(object, "bytes", (int64_t)length);
}

/* Adds the bytes of a column, and says where they are. */
static int add_bytes(struct report_payload *payload, struct doc *object,
    struct report_column *column, struct gput_error *error)
{
    bool is_delta = column->encoding == REPORT_DELTA;
    uint64_t offset, length = column->bytes.length;
    TRY(add_part(payload, &column->bytes, &offset, error));
    doc_add_string(object, "encoding", is_delta ? "delta" : "f64");
    describe_place(object, offset, length);
    if (is_delta && column->step != 1)
        doc_add_double(object, "scale", column->step);
    if (!is_delta || column->missing_count == 0)
        return GPUT_OK;
    length = column->missing.length;
    TRY(add_part(payload, &column->missing, &offset, error));
    describe_place(doc_add_object(object, "missing"), offset, length);
    return GPUT_OK;
}

int report_payload_add_column(struct report_payload *payload, struct doc *parent, const char *key,
    struct report_column *column, struct gput_error *error)
{
    struct doc *object = doc_add_object(parent, key);
    int code = report_column_end(column, error);
    doc_add_int(object, "count", (int64_t)column->count);
    if (code == GPUT_OK && column->encoding != REPORT_CONSTANT) {
        code = add_bytes(payload, object, column, error);
    } else if (code == GPUT_OK) {
        doc_add_string(object, "encoding", "constant");
        doc_add_double(object, "value", column->constant);
    }
    report_column_finish(column);
    return code;
}

int report_payload_add_interleaved(struct report_payload *payload, struct doc *parent,
    const char *const *names, unsigned count, struct report_column *column,
    struct gput_error *error)
{
    struct doc *described = doc_create_object();
    int code = described && report_column_end(column, error) == GPUT_OK
                   ? add_bytes(payload, described, column, error)
                   : error_memory(error);
    for (unsigned i = 0; code == GPUT_OK && i < count; i++) {
        struct doc *object = doc_add_object(parent, names[i]);
        doc_add_int(object, "count", (int64_t)(column->count / count));

        /* The place and the scale of all are those of the first. */
        for (const struct doc *member = described->first; member; member = member->next)
            doc_add_copy(object, member->key, member);

        doc_add_int(object, "every", count);
        doc_add_int(object, "at", i);
    }
    doc_destroy(described);
    report_column_finish(column);
    return code;
}

const struct report_bytes *report_payload_part(
    const struct report_payload *payload, uint64_t offset)
{
    uint64_t at = 0;
    for (size_t i = 0; i < payload->part_count; i++) {
        const struct report_bytes *part = &payload->parts[i];
        if (at == offset)
            return part;
        at += part->length + padding_of(part->length);
    }
    return NULL;
}

/* ---- Passing it on ---- */

int report_payload_pass(const struct report_payload *payload, report_receiver *receive, void *user,
    struct gput_error *error)
{
    static const char zeros[REPORT_ALIGNMENT];
    CLEANUP_STR struct str json = {0};
    doc_write_json(payload->root, -1, &json);
    if (doc_failed(payload->root) || json.failed || json.length > UINT32_MAX - REPORT_ALIGNMENT)
        return error_memory(error);

    /* The document, with blanks that align what follows. */
    uint32_t spaces = (uint32_t)padding_of(sizeof(uint32_t) + json.length);
    uint32_t length = (uint32_t)json.length + spaces;
    unsigned char head[sizeof length];
    for (size_t i = 0; i < sizeof head; i++)
        head[i] = (unsigned char)(length >> 8 * i);
    TRY(receive(user, head, sizeof head, error));
    TRY(receive(user, json.data, json.length, error));
    TRY(receive(user, "        ", spaces, error));

    for (size_t i = 0; i < payload->part_count; i++) {
        const struct report_bytes *part = &payload->parts[i];
        TRY(report_bytes_pass(part, receive, user, error));
        TRY(receive(user, zeros, padding_of(part->length), error));
    }
    return GPUT_OK;
}

void report_table_add(struct doc *list, const char *id, const char *title,
    const struct gput_table *table,
    bool (*is_shown)(const struct gput_table *table, size_t row, const void *user),
    const void *user)
{
    size_t n_columns = gput_table_column_count(table);
    struct doc *object = doc_add_object(list, NULL);
    doc_add_string(object, "id", id);
    doc_add_string(object, "title", title);
    struct doc *columns = doc_add_array(object, "columns");
    for (size_t i = 0; i < n_columns; i++) {
        struct doc *column = doc_add_object(columns, NULL);
        const char *unit = gput_table_column_unit(table, i);
        bool is_text = gput_table_column_type(table, i) == GPUT_COLUMN_TEXT;
        doc_add_string(column, "name", gput_table_column_name(table, i));
        doc_add_string(column, "unit", unit ? unit : "");
        doc_add_string(column, "type", is_text ? "text" : "number");
    }
    struct doc *rows = doc_add_array(object, "rows");
    for (size_t i = 0; i < gput_table_row_count(table); i++) {
        struct doc *row = is_shown && !is_shown(table, i, user) ? NULL : doc_add_array(rows, NULL);
        for (size_t j = 0; row && j < n_columns; j++) {
            if (gput_table_is_missing(table, i, j))
                doc_add_null(row, NULL);
            else if (gput_table_column_type(table, j) == GPUT_COLUMN_TEXT)
                doc_add_string(row, NULL, gput_table_text(table, i, j));
            else if (gput_table_column_type(table, j) == GPUT_COLUMN_INT)
                doc_add_int(row, NULL, gput_table_int(table, i, j));
            else
                doc_add_double(row, NULL, gput_table_double(table, i, j));
        }
    }
}

void report_payload_add_names(struct doc *object, const char *key, const struct names *names)
{
    struct doc *list = doc_add_array(object, key);
    for (uint32_t i = 0; i < names->count; i++)
        doc_add_string(list, NULL, names_text(names, i));
}
