/*
 * A sink consumes what a session measures: the snapshot of each tick, and the results so far. Each
 * is one file, which defines a struct sink_class, and one row of SINKS below. Sinks know neither
 * each other nor the session.
 *
 * All but the functions of a sink's own thread are called with the session's lock held, or while no
 * thread runs. They must be quick. What writes to a disk does that in `job`, in a thread of the
 * sink's own (sink_writer.h): functions of the class make items of what they are given, and
 * sink_put() hands them on. What waits for a network or a reader has a thread, too. A sink that
 * fails says so once, and goes on with what it can.
 */
#pragma once

#include "base/error.h"
#include "model/results.h"
#include "session/ledger/session_settings.h"
#include "session/sampler/session_counts.h"
#include "session/sampler/snapshot.h"
#include "session/sinks/sink_writer.h"

#include <gputracker/snapshot.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The latest results and the latest snapshot, passed from the sampling thread to any other. Neither
 * waits for the other: while one of them is being taken, the sampling thread skips it and publishes
 * the next.
 */

struct latest {
    pthread_mutex_t lock;         /* held only while copying */
    uint64_t number;              /* of the results; 0: none yet */
    struct gput_results *results; /* owned; NULL: none yet */
    struct gput_results *next;    /* owned; the sampling thread's: results that it makes; or NULL */
    struct gput_snapshot *snapshot; /* NULL: none yet */
};

void latest_init(struct latest *latest);
void latest_finish(struct latest *latest);

/* Returns the results that the sampling thread fills next; NULL without memory. */
struct gput_results *latest_next_results(struct latest *latest);

/* The sampling thread publishes them, without a copy. It may read them until it makes the next. */
void latest_publish_results(struct latest *latest);

bool latest_has_results(struct latest *latest);

/* The number of the latest results; 0: none. When it is not `known`, they are copied to `results`;
 * without memory for that it is `known`. */
uint64_t latest_results(struct latest *latest, uint64_t known, struct gput_results *results);

/* The sampling thread publishes a snapshot, which becomes the latest's. */
void latest_set_snapshot(struct latest *latest, struct gput_snapshot *snapshot);

/* The latest snapshot, which the caller releases; NULL: none. */
struct gput_snapshot *latest_snapshot(struct latest *latest);

struct sink_class;

/* The first member of each sink. */
struct sink {
    const struct sink_class *class;
    const struct session_settings *settings; /* borrowed */
    struct latest *latest;                   /* for the sink's own thread; borrowed */
    char *option; /* the text of the option that the class names; owned; may be NULL */
    struct sink_writer *writer; /* NULL: the class has no job */
    uint64_t items_lost;        /* that the writer had no space for */
    bool is_left;               /* its writer did not end, and is not waited for any more */
    bool wants_processes;       /* at its end */
    bool wants_bytes;           /* while processes run: then `bytes` of its class is called */

    /* Figures of a thread other than the writer's: */
    bool has_thread;
    _Atomic int64_t thread_cpu_ns;       /* so far */
    struct session_counts thread_counts; /* when it has ended */
};

/* All but `name` and `size` may be 0 or NULL. */
struct sink_class {
    const char *name;      /* of what it writes to, for messages: "tracking file" */
    const char *waits_for; /* what may not answer, for messages; NULL: a disk */
    const char *source;    /* of the results, which add_source() adds */
    size_t size;           /* of the sink: memory for it is all zeroes */

    /* Its option: the offset of a text in struct gput_session_options. The sink has a copy of it.
     * It is wanted where `is_wanted` says so; without that where its option is given, and always if
     * it has none. */
    size_t option;
    bool (*is_wanted)(const struct gput_session_options *options);

    const struct sink_writer_job *job;

    /* Creates what it writes to, before anything is tracked; for a job it calls
     * sink_writer_set_output(). After an error it is closed, too. */
    int (*open)(struct sink *sink, struct gput_error *error);

    /* Tracking is about to begin: the mode is known, and a command not started yet. Again when the
     * first attempt failed. */
    int (*begin)(struct sink *sink, struct gput_error *error);

    /* After each tick. The snapshot is valid during the call alone. */
    void (*sample)(struct sink *sink, const struct snapshot *snapshot);

    /* After ticks at which they were counted, twice a second at most: bytes read and written since
     * tracking began. */
    void (*bytes)(
        struct sink *sink, const struct snapshot *snapshot, const struct task_counts *bytes);

    /* Called at the first tick, and then after ticks, twice a second at most. */
    void (*results)(struct sink *sink, const struct gput_results *results);

    /* After the last tick: ends the sink's thread, so that what it used is known. */
    void (*stop)(struct sink *sink);

    /* Where it serves what it has; NULL: nowhere, or not any more. Belongs to the sink. */
    const char *(*address)(const struct sink *sink);

    /* Releases what it holds, besides the output of its job. */
    void (*close)(struct sink *sink);

    /* Says in results what became of what it wrote; until finish(). */
    void (*add_source)(const struct sink *sink, struct gput_results *results);

    /* Removes what it left for `results_stay`; until finish(). */
    void (*remove_left)(const struct sink *sink);

    /* Releases what it held for that. */
    void (*finish)(struct sink *sink);
};

bool sink_is_wanted(const struct sink_class *class, const struct gput_session_options *options);

/* Hands an item to the sink's writer. False: it is lost, and remains the caller's. */
bool sink_put(struct sink *sink, const void *item);

/* Calls the open() of its class, which its memory is of, and makes its writer. */
int sink_open(struct sink *sink, struct gput_error *error);

/* Gives the caller the warnings of its writer. */
void sink_pass_warnings(struct sink *sink);

/* After sink_writer_end(): false when its disk does not answer, and a thread still uses it. */
bool sink_await_end(struct sink *sink);

/* Each sink, in the order in which they are served: sink_NAME is its class. */
#define SINKS(X)                                                                                   \
    X(metrics)                                                                                     \
    X(power)                                                                                       \
    X(tracking)                                                                                    \
    X(callback)                                                                                    \
    X(results)                                                                                     \
    X(otlp)                                                                                        \
    X(remote_write)                                                                                \
    X(textfile)

#define SINK_CLASS(name) extern const struct sink_class sink_##name;
SINKS(SINK_CLASS)
#undef SINK_CLASS
