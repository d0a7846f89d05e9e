/*
 * Sorts records by time in bounded memory. Records that do not fit are sorted in runs, which are
 * written to an unnamed temporary file and merged on output.
 *
 * The order is by start. Among equal starts the longer one is first, so that an enclosing event
 * precedes the enclosed one. If the durations are equal, too, pairs come first, in reverse order of
 * addition, then all others in order of addition.
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
    const void *bytes; /* valid until the next call; SORTER_PADDING bytes after them can be read */
};

/*
 * Makes a sorter, which event_sorter_destroy() frees. Records beyond `memory_bytes` (at least 1
 * MiB) go to a temporary file in `folder`, which must have space for all of them.
 */
int event_sorter_create(const char *folder, size_t memory_bytes, struct event_sorter **sorter,
    struct gput_error *error);

/*
 * Reserves space for a record of `length` bytes. Returns where to write it before the next call
 * (aligned to 8). NULL on failure, with `error` set.
 */
void *event_sorter_add(struct event_sorter *sorter, int64_t start_ns, int64_t duration_ns,
    size_t length, struct gput_error *error);

/* The same for an event that is made of a begin and an end, and added at its end, after all events
 * inside it. */
void *event_sorter_add_pair(struct event_sorter *sorter, int64_t start_ns, int64_t duration_ns,
    size_t length, struct gput_error *error);

/* Reads the next record in order; `*there` is false after the last. Nothing can be added after the
 * first call. */
int event_sorter_next(struct event_sorter *sorter, struct sorted_record *record, bool *there,
    struct gput_error *error);

void event_sorter_destroy(struct event_sorter *sorter); /* NULL is fine */
