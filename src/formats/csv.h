/*
 * CSV files: records in at hundreds of megabytes a second and in constant memory, cells out.
 *
 * The form is what Python's csv module and pandas write and read: cells separated by commas, quoted
 * with "…" where they hold a comma, a quote (doubled) or a line end; lines end in LF or CRLF; a
 * byte order mark at the start is skipped, as are empty lines.
 */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No record is longer; what is, is no CSV file. */
#define CSV_RECORD_MAX (16u << 20)

struct csv_reader;

/* The bytes of a record between its line ends. Valid, and the caller's to change, until the next
 * record is read. */
struct csv_record {
    char *text;
    char *end;       /* past its last byte */
    uint64_t line;   /* of the file, from 1, that it starts on */
    bool terminated; /* false for a last line without a line end: it may be cut off anywhere */
};

/* The content of a cell, quotes taken off. Not terminated. */
struct csv_cell {
    const char *text;
    size_t length;
};

/* On success the caller owns `*reader`. `path` is copied, for messages. */
int csv_reader_open(const char *path, struct csv_reader **reader, struct gput_error *error);
void csv_reader_close(struct csv_reader *reader); /* NULL is fine */

/* From here on a line end ends a record also within quotes: a quote that is damage does then not
 * take the lines after it along. For files whose cells have no line ends. */
void csv_reader_end_at_lines(struct csv_reader *reader);

/*
 * Reads the next record that is not empty. At the end of the file `*end` is true and `*record` is
 * all zeroes.
 * Errors: GPUT_ERROR_IO, GPUT_ERROR_MEMORY, GPUT_ERROR_FORMAT (longer than CSV_RECORD_MAX).
 */
int csv_reader_next(
    struct csv_reader *reader, struct csv_record *record, bool *end, struct gput_error *error);

/*
 * Gives back all lines of the record just read but its first one: they are read anew. For a record
 * that turned out to be none: a quote that is damage took lines along. False: it is one line. Its
 * bytes must be as they were read.
 */
bool csv_reader_give_back(struct csv_reader *reader, const struct csv_record *record);

/* How far reading has come, and the size of the file (0 when it is no regular file), in bytes. */
void csv_reader_progress(const struct csv_reader *reader, uint64_t *done, uint64_t *total);

/* The number of cells of a record, at least 1. */
size_t csv_count_cells(const struct csv_record *record);

/*
 * Splits a record into at most `capacity` cells, unquoting them in place (the record is used up).
 * Returns the number of cells; more than `capacity` when there were more.
 */
size_t csv_split(struct csv_record *record, struct csv_cell *cells, size_t capacity);

/* Appends a cell, quoted when its content asks for it. Separators are the caller's. */
void csv_append_cell(struct str *text, const char *content, size_t length);

#endif
