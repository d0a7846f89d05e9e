/*
 * Sorts records by time in bounded memory. What does not fit is sorted in runs, kept in an unnamed
 * temporary file, and merged on output.
 *
 * The order: by start; of equal starts the longer first, so that an enclosing event precedes the
 * enclosed; of equal durations, too, pairs in the reverse order of addition, then all others in
 * that order.
 */
#pragma once

#include "base/error.h"
#include "base/sorted_runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_sorter;

#define SORTER_PADDING SORTED_RUNS_PADDING

struct sorted_record {
    int64_t start_ns;
    int64_t duration_ns;
    uint32_t length;
    const void *bytes; /* until the next call; SORTER_PADDING bytes after them can be read */
};

/*
 * `folder` is where the temporary file goes once more than `memory_bytes` (at least 1 MiB) are
 * held; it must have space for all records. The sorter is freed by event_sorter_destroy().
 */
int event_sorter_create(const char *folder, size_t memory_bytes, struct event_sorter **sorter,
    struct gput_error *error);

/*
 * Reserves space for a record of `length` bytes and returns where to write it before the next call
 * (aligned to 8). NULL on failure, with `error` set.
 */
void *event_sorter_add(struct event_sorter *sorter, int64_t start_ns, int64_t duration_ns,
    size_t length, struct gput_error *error);

/* The same for what is made of a begin and an end: it is added at its end, after all in it. */
void *event_sorter_add_pair(struct event_sorter *sorter, int64_t start_ns, int64_t duration_ns,
    size_t length, struct gput_error *error);

/* Takes the next record out; `*there` is false after the last. No adding after the first call. */
int event_sorter_next(struct event_sorter *sorter, struct sorted_record *record, bool *there,
    struct gput_error *error);

void event_sorter_destroy(struct event_sorter *sorter); /* NULL is fine */
