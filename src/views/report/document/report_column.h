/*
 * A column of numbers of a report, encoded as it comes, row by row: as differences in variable
 * length integers, as doubles, or as one value where all rows have the same. docs/report-format.md
 * has the encodings.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* The value of `step` for a column of doubles. */
#define REPORT_DOUBLES 0.0

enum report_encoding { REPORT_CONSTANT, REPORT_DELTA, REPORT_F64 };

struct report_column {
    double step; /* values are kept as multiples of this; REPORT_DOUBLES: as they are */
    enum report_encoding encoding; /* constant until two rows differ */
    uint64_t count;                /* rows */
    uint64_t missing_count;
    double min, max, sum; /* of all that is not missing, as it is kept; NaN and 0 when all is */
    double constant;      /* while constant: the value of all rows so far; NaN: missing */
    int64_t last;         /* DELTA: the last value that was not missing, in steps */
    struct report_bytes bytes;
    struct report_bytes missing; /* a bit a row, from the first that is missing on */
    unsigned char missing_byte;  /* the bits of the last, incomplete byte */
};

/* Bytes, counts and times exactly, percent and watts to 0.001, figures of unknown size as doubles.
 */
void report_column_init(struct report_column *column, struct report_spool *spool, double step);
void report_column_finish(struct report_column *column);

/* Adds a row. NaN is missing; so is what does not fit: see report_column_fits(). Errors:
 * GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_column_add(struct report_column *column, double value, struct gput_error *error);

/* Whether a value can be kept: infinities cannot, nor more than 2^53 steps. NaN can. */
bool report_column_fits(const struct report_column *column, double value);

/* Completes the last byte. Nothing can be added afterwards. */
int report_column_end(struct report_column *column, struct gput_error *error);
