/*
 * Reads a column of a payload back, row by row, in bounded memory.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "base/str.h"
#include "views/report/document/report_payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte string that is read from its begin to its end. */
struct report_bytes_reader {
    const struct report_bytes *bytes; /* NULL: empty */
    unsigned char *buffer;            /* a block of the spool; owned */
    const unsigned char *at, *end;
    size_t next_place;
};

struct report_column_reader {
    uint64_t count, row;  /* rows of the column; those that were read, with columns next to it */
    uint64_t next, every; /* its next row, and how many there are to the one after it */
    bool is_constant, is_delta, has_missing;
    double constant, scale;
    int decimals; /* what values are kept to; -1: any number of places */
    int64_t last;
    unsigned char missing_byte;
    struct report_bytes_reader bytes, missing;
};

/* Whether a value of the document is a column. */
bool report_is_column(const struct doc *value);

/* Begins to read a column of the payload's document. To be ended by report_column_reader_finish(),
 * also on failure. Errors: GPUT_ERROR_MEMORY. */
int report_column_reader_init(struct report_column_reader *reader,
    const struct report_payload *payload, const struct doc *column, struct gput_error *error);

/* The value of the next row; NaN where it is missing, and after the last row. Errors: GPUT_ERROR_IO
 * (the temporary file). */
int report_column_reader_next(
    struct report_column_reader *reader, double *value, struct gput_error *error);

/* Whether there is no next row. */
bool report_column_reader_at_end(const struct report_column_reader *reader);

void report_column_reader_finish(struct report_column_reader *reader);

/* Appends a number with at most that many decimals (-1: all that it has), whole numbers without
 * any. */
void report_append_number(struct str *text, double value, int decimals);
