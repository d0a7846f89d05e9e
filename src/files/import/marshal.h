/*
 * Reads values that Python's marshal module wrote (Python 3): numbers, texts, tuples, dicts and
 * references to them. It reads data only: code objects and the like are refused, and nothing is
 * ever run. Depth is bounded, and memory is proportional to the input.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum marshal_kind {
    MARSHAL_NONE,
    MARSHAL_BOOL,
    MARSHAL_INT,
    MARSHAL_DOUBLE,
    MARSHAL_TEXT, /* bytes as they are in the input: ASCII, UTF-8 or anything else */
    MARSHAL_TUPLE,
    MARSHAL_DICT,
};

/* Values and items are identified by their indexes in the arrays, as one value may be in many
 * tuples. */
struct marshal_value {
    uint8_t kind;
    bool whole;     /* it was read completely */
    uint32_t count; /* number of items of a tuple, pairs of a dict, bytes of a text */
    union {
        int64_t integer;
        double number;
        const char *text; /* points into the input */
        uint32_t first;   /* index in `items` of the first item of a tuple, or the first pair of a
                             dict */
    };
};

/* Items of a tuple are adjacent, and only have `value`. Pairs of a dict are linked by `next`. */
struct marshal_item {
    uint32_t key;
    uint32_t value;
    uint32_t next; /* MARSHAL_END after the last pair */
};

#define MARSHAL_END UINT32_MAX

struct marshal {
    struct marshal_value *values;
    uint32_t value_count;
    struct marshal_item *items;
    uint32_t item_count;
    uint32_t *references;
    uint32_t reference_count;
    uint32_t root; /* index of the value that was read */
};

/*
 * Reads one value. `bytes` must outlive `marshal`, which is freed by marshal_finish() on success
 * and is empty on failure. `name` is used in messages. Errors: GPUT_ERROR_FORMAT,
 * GPUT_ERROR_MEMORY.
 */
int marshal_read(const void *bytes, size_t length, const char *name, struct marshal *marshal,
    struct gput_error *error);

void marshal_finish(struct marshal *marshal);

/* Return a number: an int as it is, or as a double. False for anything else. */
bool marshal_int(const struct marshal *marshal, uint32_t value, int64_t *number);
bool marshal_double(const struct marshal *marshal, uint32_t value, double *number);
