/*
 * A sink consumes what a session measures: the snapshot of each tick, and the results so far. Each
 * is one file, which defines a struct sink_class, and one row in sinks.c. Sinks know neither each
 * other nor the session.
 *
 * All but the functions of a sink's own thread are called with the session's lock held, or while no
 * thread runs. They must be quick: what waits for others (a network, a reader) belongs into a
 * thread of the sink's own. A sink that fails says so once (session_warn()), and goes on with what
 * it can. SIGXFSZ is blocked: writing past RLIMIT_FSIZE is an error like others.
 */
#ifndef SESSION_SINK_H
#define SESSION_SINK_H

#include "base/error.h"
#include "session/latest.h"
#include "session/session_accounting.h"
#include "session/session_settings.h"
#include "session/snapshot.h"

#include "model/processes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink_class;

/* The first member of each sink. */
struct sink {
    const struct sink_class *class;
    const struct session_settings *settings; /* borrowed */
    struct latest *latest;                   /* for the sink's own thread; borrowed */
    uint64_t rows_lost;                      /* that could not be written so far */
    bool has_thread;                         /* of its own */
    bool wants_processes;                    /* at its end */
    struct session_counts thread_counts;     /* of that thread, when it has ended */
};

/* How tracking ended. */
struct sink_end {
    bool is_unused;    /* it never began: the sink leaves nothing */
    bool is_abandoned; /* the caller did not stop the session, as when an error ends the program */
    const struct gput_processes *processes; /* NULL: no sink wants them */
};

/* Only `size`, `is_wanted` and `close` are there in every class; the others may be NULL. */
struct sink_class {
    size_t size; /* of the sink: memory for it is all zeroes */
    bool (*is_wanted)(const struct gput_session_options *options);

    /* Creates what it writes to, before anything is tracked. After an error it is closed, too. */
    int (*open)(struct sink *sink, struct gput_error *error);

    /* Tracking is about to begin: the mode is known, and a command not started yet. Again when the
     * first attempt failed. */
    int (*begin)(struct sink *sink, struct gput_error *error);

    /* After each tick. The snapshot is valid during the call alone. */
    void (*sample)(struct sink *sink, const struct snapshot *snapshot);

    /* At the first tick, and then after ticks, twice a second at most. */
    void (*results)(struct sink *sink, const struct gput_results *results);

    /* After the last tick: ends the sink's thread, so that what it used is known. */
    void (*stop)(struct sink *sink);

    /* CPU time of the sink's thread so far. From any thread. */
    int64_t (*cpu_ns)(const struct sink *sink);

    /* Completes what it wrote and releases what it holds. */
    void (*close)(struct sink *sink, const struct sink_end *end);
};

extern const struct sink_class sink_metrics, sink_power, sink_tracking, sink_callback, sink_results;

/* Where the page of metrics is served; NULL: nowhere, or not any more. Belongs to the sink. */
const char *sink_metrics_address(const struct sink *sink);

#endif
