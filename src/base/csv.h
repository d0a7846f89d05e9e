/*
 * CSV: reads files record by record, at hundreds of megabytes a second and in constant memory, and
 * writes cells.
 *
 * The format is that of Python's csv module and pandas: cells separated by commas, quoted with "…"
 * where they contain a comma, a quote (doubled) or a line end; lines end in LF or CRLF; a byte
 * order mark at the start is skipped, as are empty lines.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest record; longer ones are an error. */
#define CSV_RECORD_MAX (16u << 20)

struct csv_reader;

/* The bytes of a record between its line ends. Valid until the next record is read; the caller may
 * change them. */
struct csv_record {
    char *text;
    char *end;       /* after its last byte */
    uint64_t line;   /* number of its first line, from 1 */
    bool terminated; /* false for a last line without a line end, which may be truncated */
};

/* The content of a cell without quotes. Not terminated. */
struct csv_cell {
    const char *text;
    size_t length;
};

/* On success the caller owns `*reader`. `path` is copied, for messages. */
int csv_reader_open(const char *path, struct csv_reader **reader, struct gput_error *error);
void csv_reader_close(struct csv_reader *reader); /* NULL is fine */

/* From here on a line end ends a record also inside quotes, so that a damaged quote does not affect
 * the lines after it. For files whose cells have no line ends. */
void csv_reader_end_at_lines(struct csv_reader *reader);

/*
 * Reads the next record that is not empty. At the end of the file `*end` is true and `*record` is
 * all zeroes.
 * Errors: GPUT_ERROR_IO, GPUT_ERROR_MEMORY, GPUT_ERROR_FORMAT (longer than CSV_RECORD_MAX).
 */
int csv_reader_next(
    struct csv_reader *reader, struct csv_record *record, bool *end, struct gput_error *error);

/*
 * Makes all lines of the last record except its first one be read again, when a damaged quote has
 * joined lines that are records. False: the record is one line. Its bytes must be unchanged.
 */
bool csv_reader_unread_lines(struct csv_reader *reader, const struct csv_record *record);

/* Goes on at a later offset of a file, after so many lines: where a record begins that another
 * thread has found. Errors: GPUT_ERROR_IO. */
int csv_reader_move(
    struct csv_reader *reader, uint64_t place, uint64_t lines, struct gput_error *error);

/* The offset in the file of the next record. */
uint64_t csv_reader_place(const struct csv_reader *reader);

/* The file's descriptor. Belongs to the reader. */
int csv_reader_fd(const struct csv_reader *reader);

/* Bytes read so far, and the size of the file (0 when it is not a regular file). */
void csv_reader_progress(const struct csv_reader *reader, uint64_t *done, uint64_t *total);

/* The number of cells of a record, at least 1. */
size_t csv_count_cells(const struct csv_record *record);

/*
 * Splits a record into at most `capacity` cells, unquoting them in place (the record is used up).
 * Returns the number of cells; more than `capacity` when there were more.
 */
size_t csv_split(struct csv_record *record, struct csv_cell *cells, size_t capacity);

/* Appends a cell, quoted when its content needs it. The caller appends separators. */
void csv_append_cell(struct str *text, const char *content, size_t length);

/*
 * A text in a table for people, which they open in spreadsheets: control characters become "?", and
 * a text that a spreadsheet would take for a formula, as it begins with =, +, -, @ or a tab and is
 * no number, has an apostrophe before it. Not for files that are read back.
 */
void csv_append_shown(struct str *text, const char *content);

/* A number in all its digits: empty for NaN. */
void csv_append_number(struct str *text, double value);
