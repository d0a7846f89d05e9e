/*
 * Pickles as data. A pickle is a program that makes Python call whatever it names; this reader
 * calls nothing. It follows the program with values of its own: an object is its class, the
 * arguments it was to be made with and the state it was to be given. Only classes of a list that
 * the caller gives are accepted, everything else is an error that names it.
 *
 * Protocols 2 to 5, in-band. Memory is bounded by the length of the file (results take 5 to 8 times
 * as much; what takes PICKLE_MEMORY_PER_BYTE times as much is not one) and by PICKLE_MEMORY_MAX.
 * Nothing recurses. Values may refer to each other in circles: who walks them has to bound the
 * walk.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PICKLE_FILE_MAX (64u << 20)
#define PICKLE_MEMORY_MAX (512u << 20)
#define PICKLE_MEMORY_MIN (256u << 10)
#define PICKLE_MEMORY_PER_BYTE 16
#define PICKLE_KEYS_MAX 64 /* in a dict that keys are looked up in; results have up to 10 */

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_FLOAT,
    PICKLE_TEXT,  /* str, UTF-8 */
    PICKLE_BYTES, /* bytes or bytearray */
    PICKLE_TUPLE,
    PICKLE_LIST, /* also sets */
    PICKLE_DICT,
    PICKLE_CLASS,
    PICKLE_OBJECT,
};

struct pickle_value {
    enum pickle_kind kind;
    bool boolean;
    short class_id; /* of a class or an object: that of struct pickle_class */
    union {
        int64_t integer;
        double number;
        struct {
            const char *bytes; /* terminated by a NUL that `length` does not count */
            size_t length;
        } text;
        struct {
            struct pickle_value **items; /* of a dict: keys and values by turns */
            size_t count;
            size_t capacity;
        } list;
        struct {
            struct pickle_value *arguments; /* a tuple */
            struct pickle_value *state;     /* NULL: none was given */
        } object;
    };
};

/* A class or function that pickles may name. */
struct pickle_class {
    const char *module;
    const char *name;
    int id; /* several names may mean the same */
};

struct pickle;

/*
 * Reads a pickle. `name` is used in messages; `classes` ends with a NULL module. Text and bytes of
 * the values are copies: `bytes` may go.
 *
 * On success the caller owns `*pickle`.
 * Errors: GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY.
 */
int pickle_read(const char *bytes, size_t length, const char *name,
    const struct pickle_class *classes, struct pickle **pickle, struct gput_error *error);

void pickle_destroy(struct pickle *pickle); /* NULL is fine */

/* The value that was pickled. It and all it leads to live as long as the pickle. */
const struct pickle_value *pickle_root(const struct pickle *pickle);

/* What walking a pickle may cost, counted in values: a few bytes can lead to the same large value
 * again and again. */
struct pickle_budget {
    uint64_t left; /* 0: spent, and for good */
};

/* That for a pickle of `length` bytes: results need a tenth of it. */
struct pickle_budget pickle_budget_of(size_t length);

/* Takes `cost` away. Errors: GPUT_ERROR_FORMAT without a message once there is nothing left. */
int pickle_spend(struct pickle_budget *budget, uint64_t cost);

/* The value of a text key in a dict, the last if there are several; NULL when there is none, or
 * when `dict` is NULL, no dict or one of more than PICKLE_KEYS_MAX keys. */
const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key);

/* The item of a tuple or list; NULL when there is none, or when `list` is NULL or neither. */
const struct pickle_value *pickle_item(const struct pickle_value *list, size_t index);

/* Whether it is an object of that class; NULL is not. */
bool pickle_is_object(const struct pickle_value *value, int class_id);
