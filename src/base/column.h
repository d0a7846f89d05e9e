/*
 * Columns: what is known of each item of a list, described once for every format that shows it.
 *
 *     static const struct column columns[] = {
 *         {"cpu_seconds", "seconds", "CPU time", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct item, cpu)},
 *         {"name", NULL, "what it calls itself", GPUT_COLUMN_TEXT, .text = item_name},
 *     };
 */
#pragma once

#include "base/doc.h"

#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>

/* Type of a member of an item. */
enum column_member {
    COLUMN_MEMBER_DOUBLE,
    COLUMN_MEMBER_TEXT,  /* const char *; NULL: missing */
    COLUMN_MEMBER_ARRAY, /* of chars; "": missing */
    COLUMN_MEMBER_BOOL,
    COLUMN_MEMBER_INT,
    COLUMN_MEMBER_LONG,
    COLUMN_MEMBER_UNSIGNED_LONG,
};

struct column {
    const char *name;
    const char *unit;    /* NULL: a count, a text, or what the item itself says */
    const char *meaning; /* NULL: the name says it */
    enum gput_column_type type;
    /* The value: a member of an item or, where one of these is not NULL, what a function makes of
     * the item. Numbers are NaN and texts NULL when they are missing; integers are whole doubles.
     */
    double (*number)(const void *item);
    const char *(*text)(const void *item);
    size_t offset; /* this and the next by COLUMN_OF() */
    enum column_member member;
    bool is_required; /* an object without it cannot be read back */
    bool hides_zero;  /* documents lack it while it is 0 */
};

/* For a member of the item. */
#define COLUMN_OF(item, name) .offset = offsetof(item, name), .member = COLUMN_MEMBER_OF(item, name)
#define COLUMN_MEMBER_OF(item, name)                                                               \
    _Generic(&((item *)0)->name,                                                                   \
        double *: COLUMN_MEMBER_DOUBLE,                                                            \
        const char **: COLUMN_MEMBER_TEXT,                                                         \
        char **: COLUMN_MEMBER_TEXT,                                                               \
        bool *: COLUMN_MEMBER_BOOL,                                                                \
        int *: COLUMN_MEMBER_INT,                                                                  \
        long *: COLUMN_MEMBER_LONG,                                                                \
        unsigned long *: COLUMN_MEMBER_UNSIGNED_LONG,                                              \
        default: COLUMN_MEMBER_ARRAY)

#define COLUMN_COUNT(columns) (sizeof(columns) / sizeof *(columns))

/* The value of a column of numbers. */
double column_number(const struct column *column, const void *item);
/* The same of texts. */
const char *column_text(const struct column *column, const void *item);

/* Adds each column as a member of its name; null for what is missing. */
void columns_add_to_doc(
    const struct column *columns, size_t count, const void *item, struct doc *object);

/*
 * Reads columns of numbers back into the members of an item, each by its name. What the object
 * lacks is NaN, or 0 where the member is a whole number, which has to be 0 or more. Returns the
 * required column that is missing, or NULL.
 */
const struct column *columns_read_doc(
    const struct column *columns, size_t count, const struct doc *object, void *item);
