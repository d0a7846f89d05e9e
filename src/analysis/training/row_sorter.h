/*
 * Puts rows of one size in order with bounded memory: what does not fit is sorted in runs, kept in
 * an unnamed temporary file, and merged while the rows are walked through. They can be walked
 * through again and again.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct row_sorter;

/* How much may be held, and where the rest goes. */
struct row_memory {
    size_t bytes;       /* of rows, by each sorter; as much again while they are sorted */
    const char *folder; /* for temporary files */
};

/* What options say: the memory of a view is shared out between the sorters it has at a time. 0
 * bytes: 192 MiB; no folder: /var/tmp, which is on a disk where /tmp may be memory. */
struct row_memory row_memory_of(size_t bytes, const char *folder);

/* As for qsort(). The order of equal rows is unspecified. */
typedef int row_compare(const void *left, const void *right);

struct row_order {
    size_t row_size;
    row_compare *compare;
    bool once; /* of equal rows one is given */
};

/* The texts of `memory` are the caller's as long as the sorter. To be freed by
 * row_sorter_destroy(). */
int row_sorter_create(const struct row_memory *memory, const struct row_order *order,
    struct row_sorter **sorter, struct gput_error *error);

/* Copies a row. Not after the first walk. */
int row_sorter_add(struct row_sorter *sorter, const void *row, struct gput_error *error);

/* Begins a walk: the first row, NULL when there is none. */
int row_sorter_first(struct row_sorter *sorter, const void **row, struct gput_error *error);

/* The next row, NULL after the last. Rows hold until the next call. */
int row_sorter_next(struct row_sorter *sorter, const void **row, struct gput_error *error);

void row_sorter_destroy(struct row_sorter *sorter); /* NULL is fine */

CLEANUP_DEFINE(struct row_sorter, row_sorter_destroy)
