/*
 * Tables as the Arrow C stream interface, by which pyarrow, polars, DuckDB, R, DataFusion and
 * others read tables without a file and without copies.
 *
 * The structures are those of the specification (arrow.apache.org/docs/format/CDataInterface.html),
 * a stable ABI that each program declares itself; the guards are the specification's, so that
 * another header may have declared it before. The owner of a structure calls its `release` once,
 * which sets that member to NULL. A structure whose `release` is NULL is empty.
 *
 *     struct ArrowArrayStream stream;
 *     if (gput_table_arrow_stream(gput_tables_get(tables, 0), &stream, &error) == GPUT_OK)
 *         stream.release(&stream); // pyarrow and other consumers do this
 */
#ifndef GPUTRACKER_ARROW_H
#define GPUTRACKER_ARROW_H

#include <gputracker/error.h>
#include <gputracker/table.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** The type of a column, or of the table with its columns as children. */
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

/** Cells of a column, or of the table with its columns as children. */
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/** Record batches one after the other. `get_next` gives an array whose `release` is NULL after the
 * last one. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/**
 * The schema of a table: a struct of int64, float64 and utf8 columns, all nullable. The metadata of
 * a column have its unit under "unit", those of the schema the table's name under "name".
 *
 * On success the caller owns `*schema`, by its `release`. Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_table_arrow_schema(
    const struct gput_table *table, struct ArrowSchema *schema, struct gput_error *error);

/**
 * The table as a stream of one record batch. Numbers are not copied: arrays keep a reference to the
 * table, which may be destroyed before them. Missing cells are null; bytes of a text that are not
 * UTF-8 are U+FFFD.
 *
 * On success the caller owns `*stream`, by its `release`; its arrays outlive it. A table may be
 * streamed any number of times, by any thread. Errors: GPUT_ERROR_MEMORY; reading the stream:
 * ENOMEM, and EOVERFLOW for a column of more than 2 GiB of text.
 */
GPUT_API int gput_table_arrow_stream(
    const struct gput_table *table, struct ArrowArrayStream *stream, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
