/*
 * Files of marks, read whole and written, for tests of their formats.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"
#include "files/temporary.h"

/* All rows of a file, read two at a time so that every reader has to stop and go on. */
struct content {
    struct sub_tracking_names *names;
    struct sub_tracking_mark rows[64];
    size_t count;
    unsigned columns;
    char warning[512];
    struct sub_tracking_lost lost;
    struct gput_error error;
};

static inline int read_file(const char *path, struct content *content)
{
    memset(content, 0, sizeof *content);
    content->names = sub_tracking_names_create();
    struct sub_tracking_reader *reader;
    int code = sub_tracking_reader_open(path, content->names, &reader, &content->error);
    if (code != GPUT_OK)
        return code;
    content->columns = sub_tracking_reader_columns(reader);
    size_t got;
    do {
        assert_true(content->count + 2 <= 64);
        code = sub_tracking_reader_next(
            reader, content->rows + content->count, 2, &got, &content->error);
        content->count += got;
    } while (code == GPUT_OK && got > 0);
    content->lost = *sub_tracking_reader_lost(reader);
    const char *warning = sub_tracking_reader_warning(reader);
    snprintf(content->warning, sizeof content->warning, "%s", warning ? warning : "");
    sub_tracking_reader_close(reader);
    return code;
}

static inline void forget(struct content *content)
{
    sub_tracking_names_destroy(content->names);
}

static inline const char *name_of(const struct content *content, size_t row)
{
    return sub_tracking_names_text(content->names, content->rows[row].name);
}

static const struct sub_tracking_exact unknown = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

static inline void fill_rows(struct content *content)
{
    memset(content, 0, sizeof *content);
    content->names = sub_tracking_names_create();
    uint32_t a = sub_tracking_names_add(content->names, "a,\"b\"", 5);
    uint32_t b = sub_tracking_names_add(content->names, "b.py:12", 7);
    content->count = 4;
    content->rows[0] = (struct sub_tracking_mark){.process_id = 10,
        .thread_id = 11,
        .timestamp_ns = INT64_C(1745449609752822200),
        .timestamp = 1745449609.7528222,
        .name = a,
        .exact = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
    content->rows[1] = (struct sub_tracking_mark){.process_id = 10,
        .thread_id = INT64_C(140000000000000),
        .timestamp_ns = INT64_C(1745449610000000000),
        .timestamp = 1745449610.0,
        .name = b,
        .exact = unknown};
    content->rows[2] = content->rows[0];
    content->rows[2].process_id = 12;
    content->rows[2].position = SUB_TRACKING_STOP;
    content->rows[3] = content->rows[1];
    content->rows[3].thread_id = SUB_TRACKING_UNKNOWN;
    content->rows[3].position = SUB_TRACKING_STOP;
}

static inline void write_rows(const char *path, unsigned columns, const struct content *content)
{
    struct sub_tracking_writer *writer;
    assert_int_equal(sub_tracking_writer_create(path, columns, &writer, NULL), GPUT_OK);
    assert_int_equal(
        sub_tracking_writer_add(writer, content->rows, content->count, content->names, NULL),
        GPUT_OK);
    assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
}

/* Reads what can be salvaged of a file, and counts the rows. NULL: nothing can. */
static inline struct sub_tracking_reader *salvage(
    const char *path, struct sub_tracking_names *names, size_t *count)
{
    struct sub_tracking_reader *reader;
    struct sub_tracking_mark rows[3];
    size_t got;
    *count = 0;
    if (sub_tracking_reader_salvage(path, names, &reader, NULL) != GPUT_OK)
        return NULL;
    do {
        assert_int_equal(sub_tracking_reader_next(reader, rows, 3, &got, NULL), GPUT_OK);
        *count += got;
    } while (got > 0);
    return reader;
}
