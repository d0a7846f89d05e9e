/*
 * The part of sorting that does not fit into memory: sorted runs of records in an unnamed temporary
 * file, walked through as one sorted list. They can be walked through again and again.
 *
 * Whoever sorts keeps records in memory, in a form of its own, and writes them as a run when there
 * are too many.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct sorted_runs;

struct record_order {
    size_t head_size; /* bytes at the start of each record that both functions need */
    /* The whole length of a record; NULL: all are `head_size` long. */
    size_t (*length)(const void *head);
    /* As for qsort(); equal records are in the order of their runs. */
    int (*compare)(const void *left, const void *right);
};

/* After a record, this many bytes can be read. */
#define SORTED_RUNS_PADDING 32

/* No file is made before the first run. `folder` is copied. Freed by sorted_runs_destroy(). */
int sorted_runs_create(const char *folder, const struct record_order *order,
    struct sorted_runs **runs, struct gput_error *error);
void sorted_runs_destroy(struct sorted_runs *runs); /* NULL is fine */

/* Writes the next bytes of a run: records in order, in pieces of any size. sorted_runs_end_run()
 * ends it. Neither after the first walk. */
int sorted_runs_write(
    struct sorted_runs *runs, const void *bytes, size_t length, struct gput_error *error);
int sorted_runs_end_run(struct sorted_runs *runs, struct gput_error *error);

/* How many runs there are. */
size_t sorted_runs_count(const struct sorted_runs *runs);

/* Begins a walk, with about `memory_bytes` for all runs together (at most 512 KiB each): the first
 * record, NULL when there is none. */
int sorted_runs_first(
    struct sorted_runs *runs, size_t memory_bytes, const void **record, struct gput_error *error);

/* The next record, NULL after the last. Valid until the next call. */
int sorted_runs_next(struct sorted_runs *runs, const void **record, struct gput_error *error);
