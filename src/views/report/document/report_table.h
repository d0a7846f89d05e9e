/*
 * Tables of figures in a report's document.
 */
#pragma once

#include "base/doc.h"

#include <gputracker/table.h>

#include <stdbool.h>

/* Appends a table to an array: id, title, columns (name, unit, type) and rows; null is missing.
 * `is_shown` says which rows it has; NULL: all. */
void report_table_add(struct doc *list, const char *id, const char *title,
    const struct gput_table *table,
    bool (*is_shown)(const struct gput_table *table, size_t row, const void *user),
    const void *user);
