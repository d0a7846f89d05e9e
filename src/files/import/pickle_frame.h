/*
 * Data frames, series and arrays out of a pickle: what pandas 1.5 to 3 and numpy 1 and 2 leave in
 * one, and what gpu-tracker's writer does.
 */
#pragma once

#include "files/import/pickle_reader.h"

/* What objects and functions in a pickle of results mean; ids of struct pickle_class. */
enum pickle_meaning {
    PICKLE_RESULTS,    /* gpu_tracker SubTrackingResults */
    PICKLE_CODE_BLOCK, /* gpu_tracker CodeBlockResults */
    PICKLE_FRAME,
    PICKLE_SERIES,
    PICKLE_BLOCK_MANAGER,
    PICKLE_SINGLE_MANAGER,
    PICKLE_BLOCK,
    PICKLE_NEW_INDEX,
    PICKLE_INDEX,
    PICKLE_RANGE_INDEX,
    PICKLE_ARRAY, /* numpy's ndarray class */
    PICKLE_NEW_ARRAY,
    PICKLE_ARRAY_OF_BUFFER,
    PICKLE_SCALAR,
    PICKLE_DTYPE,
    PICKLE_SLICE,
    PICKLE_ENCODE, /* bytes of protocol 2: text, to be taken as latin1 */
    PICKLE_BYTEARRAY,
    PICKLE_QUOTED_NAME,
    PICKLE_STRING_DTYPE,
    PICKLE_STRING_ARRAY,
    PICKLE_NEW_STRING_ARRAY,
    PICKLE_ARROW_STRINGS,
    PICKLE_ARROW_ARRAY,
    PICKLE_ARROW_BUFFER,
    PICKLE_ARROW_TYPE,
};

/* All classes and functions that a pickle of results may name. */
extern const struct pickle_class pickle_result_classes[];

enum frame_cell_kind { FRAME_MISSING, FRAME_INT, FRAME_DOUBLE, FRAME_TEXT };

struct frame_cell {
    enum frame_cell_kind kind;
    int64_t integer;
    double number; /* also of an integer; NaN when it is not a number */
    char *text;    /* owned by the frame */
};

/* A table with names; a series is one of a single column without a name. Everything is owned. */
struct frame {
    char **row_names;
    size_t n_rows;
    char **column_names;
    size_t n_columns;
    struct frame_cell *cells; /* row by row */
};

/* Bounds that no results reach and that keep hostile pickles small. */
#define FRAME_CELLS_MAX 20000
#define FRAME_TEXT_MAX 4096

/*
 * Reads a data frame or a series, and charges `budget` for it. `what` says in messages what it is
 * ("overall").
 * On success `*frame` is to be freed by frame_finish(); on failure it holds nothing.
 * Errors: GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY.
 */
int frame_read(const struct pickle_value *value, const char *what, struct pickle_budget *budget,
    struct frame *frame, struct gput_error *error);
void frame_finish(struct frame *frame);
