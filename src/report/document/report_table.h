/*
 * Tables of figures in a report's document.
 */
#pragma once

#include "base/doc.h"

#include <gputracker/table.h>

/* Appends a table to an array: id, title, columns (name, unit, type) and rows; null is missing. */
void report_table_add(
    struct doc *list, const char *id, const char *title, const struct gput_table *table);
