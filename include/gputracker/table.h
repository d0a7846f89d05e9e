/*
 * Tables: results by columns, and their text, JSON and CSV forms. Functions named gput_…_tables()
 * make them; here the findings of the doctor:
 *
 *     struct gput_tables *tables;
 *     if (gput_doctor_tables(doctor, &tables, &error) != GPUT_OK)
 *         return;
 *     for (size_t i = 0; i < gput_tables_count(tables); i++) {
 *         const struct gput_table *table = gput_tables_get(tables, i);
 *         for (size_t column = 0; column < gput_table_column_count(table); column++)
 *             puts(gput_table_column_name(table, column));
 *     }
 *     gput_tables_destroy(tables);
 *
 * Rows and columns are counted from 0. A column beyond the last one has no name, and its cells are
 * missing, as are those of rows beyond the last one. The functions that read cells do not check the
 * type of the column.
 */
#ifndef GPUTRACKER_TABLE_H
#define GPUTRACKER_TABLE_H

#include <gputracker/error.h>
#include <gputracker/format.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The type of the cells of a column. Any cell can be missing. */
enum gput_column_type {
    GPUT_COLUMN_INT,    /**< int64_t: counts, ids, flags (0 or 1) */
    GPUT_COLUMN_DOUBLE, /**< double, in the column's unit */
    GPUT_COLUMN_TEXT, /**< ends with a 0; UTF-8, but for names that programs gave in other bytes */
};

struct gput_table;  /**< one table; owned by its list and by everyone who retained it */
struct gput_tables; /**< a list of named tables */

/** The number of tables in the list. */
GPUT_API size_t gput_tables_count(const struct gput_tables *tables);
/** The table at that index, or NULL. Valid as long as the list. */
GPUT_API const struct gput_table *gput_tables_get(const struct gput_tables *tables, size_t number);
/** The table of that name, or NULL. */
GPUT_API const struct gput_table *gput_tables_find(
    const struct gput_tables *tables, const char *name);
/** Removes all tables except the one of that name, for a format that holds one table. Pointers to
 * the others are no longer valid, unless they were retained. Errors: GPUT_ERROR_NOT_FOUND, whose
 * message names the tables there are; the list is then as before. */
GPUT_API int gput_tables_select(
    struct gput_tables *tables, const char *name, struct gput_error *error);
/** Sets the error of gput_tables_select(): no table of that name, and the names there are. Returns
 * GPUT_ERROR_NOT_FOUND. */
GPUT_API int gput_tables_not_found(
    const struct gput_tables *tables, const char *name, struct gput_error *error);
/** Frees the list, and those of its tables that were not retained. NULL is fine. */
GPUT_API void gput_tables_destroy(struct gput_tables *tables);

/** Keeps a table beyond its list, until gput_table_release(), once for each retain. May be called
 * from any thread; a table itself never changes. Returns `table`. */
GPUT_API const struct gput_table *gput_table_retain(const struct gput_table *table);
/** Releases one reference; the last one frees the table. May be called from any thread, also after
 * the list was destroyed. NULL is fine. */
GPUT_API void gput_table_release(const struct gput_table *table);

/** The name of the table. It and all other texts are valid as long as the table. */
GPUT_API const char *gput_table_name(const struct gput_table *table);
/** True for a table of exactly one row that is a set of named values, not a list. */
GPUT_API bool gput_table_is_record(const struct gput_table *table);
/** The number of rows; 0 where nothing was found. */
GPUT_API size_t gput_table_row_count(const struct gput_table *table);
/** The number of columns, also without a row. Later versions of the library may add some: find them
 * by name. */
GPUT_API size_t gput_table_column_count(const struct gput_table *table);
/** The name of a column, unique in its table: "cpu_seconds". */
GPUT_API const char *gput_table_column_name(const struct gput_table *table, size_t column);
/** The type of its cells, which says which of the functions below reads them. */
GPUT_API enum gput_column_type gput_table_column_type(
    const struct gput_table *table, size_t column);
/** "gigabytes", "seconds since the epoch" …; NULL: a plain number, or a text. */
GPUT_API const char *gput_table_column_unit(const struct gput_table *table, size_t column);
/** Its meaning in a few words; NULL where it is not described. */
GPUT_API const char *gput_table_column_meaning(const struct gput_table *table, size_t column);

/** True when the cell has no value. */
GPUT_API bool gput_table_is_missing(const struct gput_table *table, size_t row, size_t column);
/** A cell of a column of GPUT_COLUMN_INT; INT64_MIN when it is missing. */
GPUT_API int64_t gput_table_int(const struct gput_table *table, size_t row, size_t column);
/** A cell of a column of GPUT_COLUMN_DOUBLE; NaN when it is missing. */
GPUT_API double gput_table_double(const struct gput_table *table, size_t row, size_t column);
/** A cell of a column of GPUT_COLUMN_TEXT; NULL when it is missing. Valid as long as the table. */
GPUT_API const char *gput_table_text(const struct gput_table *table, size_t row, size_t column);

/** All cells of a column of that type as an array, one a row, missing ones as above. Valid as long
 * as the table; NULL when it has no row. */
GPUT_API const int64_t *gput_table_ints(const struct gput_table *table, size_t column);
GPUT_API const double *gput_table_doubles(const struct gput_table *table, size_t column);

/**
 * All tables as:
 *
 * - text: aligned columns;
 * - JSON: an array of rows, in an object where there are several tables. A record is one object.
 *   Missing values and infinities are null;
 * - CSV: one table only, else GPUT_ERROR_INVALID.
 *
 * Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_tables_render(const struct gput_tables *tables, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error);

/** Receives a part of a table, and owns it. Any result but GPUT_OK ends the delivery; set `error`
 * then. */
typedef int gput_table_receiver(void *user, struct gput_tables *part, struct gput_error *error);

struct gput_table_writer; /**< renders tables in parts */

/** Renders a list of `table_count` tables as gput_tables_render() does, except that text columns
 * are only as wide as the cells so far. The caller frees it by gput_table_writer_destroy(). */
GPUT_API int gput_table_writer_create(enum gput_format format, size_t table_count,
    struct gput_table_writer **writer, struct gput_error *error);

/** Fits text to a terminal of `width` columns: long texts are cut, and columns that have no space
 * follow in blocks of their own. 0, the default: no limit. JSON and CSV are never cut. */
GPUT_API void gput_table_writer_set_width(struct gput_table_writer *writer, unsigned width);

/** The text of the next rows: of the next table, or of the same one as in the previous call. Valid
 * until the next call. */
GPUT_API int gput_table_writer_add(struct gput_table_writer *writer, const struct gput_table *part,
    const char **text, struct gput_error *error);

/** The text after the last table. Valid until the next call. */
GPUT_API int gput_table_writer_end(
    struct gput_table_writer *writer, const char **text, struct gput_error *error);

GPUT_API void gput_table_writer_destroy(struct gput_table_writer *writer); /**< NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
