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

#include <stddef.h>

struct column {
    const char *name;
    const char *unit;    /* NULL: a count, a text, or what the item itself says */
    const char *meaning; /* NULL: the name says it */
    enum gput_column_type type;
    /* The value in an item: a double or a const char * of it or, where that is not NULL, what a
     * function makes of it. Numbers are NaN and texts NULL when they are missing; integers are
     * whole doubles. */
    size_t offset;
    double (*number)(const void *item);
    const char *(*text)(const void *item);
};

/* For a member of the item. */
#define COLUMN_OF(type, member) .offset = offsetof(type, member)

#define COLUMN_COUNT(columns) (sizeof(columns) / sizeof *(columns))

/* The value of a column of numbers. */
double column_number(const struct column *column, const void *item);
/* The same of texts. */
const char *column_text(const struct column *column, const void *item);

/* Adds each column as a member of its name; null for what is missing. */
void columns_add_to_doc(
    const struct column *columns, size_t count, const void *item, struct doc *object);
