/*
 * A table as text, laid out as pandas prints a data frame: row names to the left, everything else
 * to the right, columns as wide as their widest cell, one blank between them.
 */
#pragma once

#include "base/str.h"

#include <stddef.h>

struct pandas_table;

/* Empty cells throughout. NULL without memory. */
struct pandas_table *pandas_table_create(size_t n_rows, size_t n_columns);
void pandas_table_destroy(struct pandas_table *table); /* NULL is fine */

/* Texts are copied. Without memory the table turns failed, which pandas_table_write() passes on. */
void pandas_table_set_row_name(struct pandas_table *table, size_t row, const char *name);
void pandas_table_set_column_name(struct pandas_table *table, size_t column, const char *name);
/* The same of a column of numbers: one wider than its name, as pandas has it. */
void pandas_table_set_number_column_name(
    struct pandas_table *table, size_t column, const char *name);
void pandas_table_set(struct pandas_table *table, size_t row, size_t column, const char *cell);

/* A number rounded to 8 decimals, as the Python tool shows it: "0.08691302", "0.0", "NaN". */
void pandas_table_set_number(struct pandas_table *table, size_t row, size_t column, double value);

/* An integer, one wider than its digits, as pandas has it. */
void pandas_table_set_integer(struct pandas_table *table, size_t row, size_t column, double value);

/* Appends the lines, each after `indent` tabs. A NULL table makes `text` failed. */
void pandas_table_write(const struct pandas_table *table, int indent, struct str *text);

/* Appends a name as a title: "main_n_threads" as "Main N Threads". */
void pandas_table_append_title(struct str *text, const char *name);
