/*
 * Tables, as tests look into them.
 */
#pragma once

#include "testing.h"

#include <gputracker/table.h>

#include <string.h>

/* The number of a column; the test fails where there is none. */
static inline size_t column_of(const struct gput_table *table, const char *name)
{
    for (size_t i = 0; i < gput_table_column_count(table); i++)
        if (strcmp(gput_table_column_name(table, i), name) == 0)
            return i;
    fail_msg("no column %s", name);
    return 0;
}
