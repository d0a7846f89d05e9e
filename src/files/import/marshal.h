/*
 * Values that Python's marshal module wrote (versions of Python 3): numbers, texts, tuples, dicts
 * and references to them. Data only: code objects and the like are refused, nothing is ever run.
 * Depth, and memory in proportion to the input, are bounded.
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
    MARSHAL_TEXT, /* bytes as they stand in the input: ASCII or UTF-8, or whatever is there */
    MARSHAL_TUPLE,
    MARSHAL_DICT,
};

/* Values and items are known by their places in the arrays: the same value may be in many tuples.
 */
struct marshal_value {
    uint8_t kind;
    bool whole;     /* all of it was read */
    uint32_t count; /* items of a tuple, pairs of a dict, bytes of a text */
    union {
        int64_t integer;
        double number;
        const char *text; /* in the input */
        uint32_t first;   /* into `items`: of a tuple its first item, of a dict its first pair */
    };
};

/* Items of a tuple stand side by side: only `value` counts. Pairs of a dict are chained. */
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
    uint32_t root; /* the value itself */
};

/*
 * Reads one value. `bytes` must outlive `marshal`, which is freed by marshal_finish() on success
 * and is empty on failure. `name` is used in messages. Errors: GPUT_ERROR_FORMAT,
 * GPUT_ERROR_MEMORY.
 */
int marshal_read(const void *bytes, size_t length, const char *name, struct marshal *marshal,
    struct gput_error *error);

void marshal_finish(struct marshal *marshal);

/* A number of a value: an int as it is, or a double. False for anything else. */
bool marshal_int(const struct marshal *marshal, uint32_t value, int64_t *number);
bool marshal_double(const struct marshal *marshal, uint32_t value, double *number);
