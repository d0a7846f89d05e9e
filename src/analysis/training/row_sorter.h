/*
 * Sorts rows of one size with bounded memory. Rows that do not fit are sorted in runs, which are
 * written to an unnamed temporary file and merged while the rows are read. They can be read any
 * number of times.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct row_sorter;

/* How much memory to use, and where the rest goes. */
struct row_memory {
    size_t bytes;       /* bytes of rows in each sorter; sorting takes as much again */
    const char *folder; /* for temporary files */
};

/* The memory that options allow, divided among the sorters of a view. 0 bytes: 192 MiB; no folder:
 * /var/tmp, which is on a disk, whereas /tmp may be memory. */
struct row_memory row_memory_of(size_t bytes, const char *folder);

/* As for qsort(). The order of equal rows is unspecified. */
typedef int row_compare(const void *left, const void *right);

struct row_order {
    size_t row_size;
    row_compare *compare;
    bool once; /* return only one of equal rows */
};

/* Makes a sorter, which row_sorter_destroy() frees. The texts of `memory` must outlive it. */
int row_sorter_create(const struct row_memory *memory, const struct row_order *order,
    struct row_sorter **sorter, struct gput_error *error);

/* Adds a copy of a row. Not allowed after row_sorter_first(). */
int row_sorter_add(struct row_sorter *sorter, const void *row, struct gput_error *error);

/* Starts reading at the first row; NULL when there is none. */
int row_sorter_first(struct row_sorter *sorter, const void **row, struct gput_error *error);

/* Reads the next row; NULL after the last. A row is valid until the next call. */
int row_sorter_next(struct row_sorter *sorter, const void **row, struct gput_error *error);

void row_sorter_destroy(struct row_sorter *sorter); /* NULL is fine */

CLEANUP_DEFINE(struct row_sorter, row_sorter_destroy)
