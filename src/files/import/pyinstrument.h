/*
 * Sessions of pyinstrument, a sampling profiler of Python, as it writes them in JSON.
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
    double total_seconds; /* and in what it called; recursion counts once */
    uint64_t open;        /* how often it is on the way from the root while frames are read */
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
    double at; /* how much of the session the frames before took */

    /* Called for each frame, before those that it called: "file:line(function)", and which part of
     * the session it has when frames follow each other. NULL: not called. */
    void (*visit)(void *user, const char *name, double start_seconds, double seconds);
    void *user;
};

/* Whether a text begins as what pyinstrument saves to load again (-r pyisession), also as its pages
 * have it: samples without a tree of frames. */
bool pyinstrument_is_saved(const char *text, size_t length);

/* Says how such a file becomes one that is read. Returns GPUT_ERROR_FORMAT. */
int pyinstrument_refuse_saved(const char *name, struct gput_error *error);

/* Adds a session. A session without frames is fine. Errors: GPUT_ERROR_FORMAT. */
int pyinstrument_add(struct pyinstrument *sum, const char *text, size_t length, const char *name,
    struct gput_error *error);

/* Two tables: the session as a record, and the first `limit` functions by their own time, or by the
 * time of all that they called. */
int pyinstrument_put(const struct pyinstrument *sum, bool by_total, size_t limit,
    struct gput_tables *tables, struct gput_error *error);

void pyinstrument_finish(struct pyinstrument *sum);
