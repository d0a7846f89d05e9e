/*
 * Reads sessions of pyinstrument, a sampling profiler of Python, in its JSON form.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pyinstrument_function {
    double self_seconds;  /* in the function itself */
    double total_seconds; /* in the function and all that it called; recursion counts once */
    uint64_t open;        /* number of its frames that are open while frames are read */
};

/* One session, or several added up. */
struct pyinstrument {
    struct names functions; /* "file:line(function)" */
    struct pyinstrument_function *times;
    size_t count;
    int64_t sessions;
    int64_t samples;
    double duration_seconds;
    double cpu_seconds;
    double at; /* time of all frames before the current one */

    /* Called for each frame before those that it called, with "file:line(function)" and the part of
     * the session that it takes if frames follow each other. NULL: not called. */
    void (*visit)(void *user, const char *name, double start_seconds, double seconds);
    void *user;
};

/* Whether a text is a session that pyinstrument saved to be loaded again (-r pyisession, or in its
 * HTML pages): samples without a tree of frames. */
bool pyinstrument_is_saved(const char *text, size_t length);

/* Sets the error that explains how to convert such a file. Returns GPUT_ERROR_FORMAT. */
int pyinstrument_refuse_saved(const char *name, struct gput_error *error);

/* Adds a session, which may have no frames. Errors: GPUT_ERROR_FORMAT. */
int pyinstrument_add(struct pyinstrument *sum, const char *text, size_t length, const char *name,
    struct gput_error *error);

/* Adds two tables: the session as a record, and the first `limit` functions by their own time, or
 * by the time including all that they called. */
int pyinstrument_put(const struct pyinstrument *sum, bool by_total, size_t limit,
    struct gput_tables *tables, struct gput_error *error);

void pyinstrument_finish(struct pyinstrument *sum);
