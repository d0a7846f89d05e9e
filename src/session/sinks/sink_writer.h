/*
 * Writes for a sink, in a thread of its own: a disk that is slow or hangs delays neither a tick nor
 * another sink.
 *
 * What is to be written are items of one size, which wait in a queue of a bounded length; what no
 * longer fits is lost, and the caller says so. Items that come soon after others are written
 * together, since waking a thread costs more than writing a row. Where no thread can be started,
 * each item is written at once.
 *
 * All functions are called from one thread at a time, except those for the writer's own thread.
 */
#pragma once

#include "session/sampler/session_counts.h"

#include <gputracker/processes.h>
#include <gputracker/results.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink_writer;

#define SINK_TIMEOUT_SECONDS 30

/* How tracking ended. */
struct sink_end {
    bool is_unused;    /* it never began: the sink leaves nothing */
    bool is_abandoned; /* the caller did not stop the session, as when an error ends the program */
    bool results_stay; /* until remove_left() of a sink */
    const struct gput_processes *processes; /* NULL: no sink wants them */
    const struct gput_results *results;     /* final; NULL: there are none */
};

/*
 * Writing of one kind of sink; all functions are called in the writer's thread. They use
 * `output`, which is theirs alone, and nothing of the session. SIGXFSZ is blocked: writing past
 * RLIMIT_FSIZE is an error like others.
 */
struct sink_writer_job {
    size_t item_size;
    size_t max_items;
    unsigned timeout_seconds; /* after so long without a completed write a disk is abandoned, unless
                                 sink_writer_set_timeout() says another time */
    /* Writes an item, and frees what it owns. */
    void (*write)(struct sink_writer *writer, void *output, void *item);
    /* Called after items that were written together. NULL: nothing is left to do. */
    void (*flush)(struct sink_writer *writer, void *output);
    /* Completes what was written and frees `output`. Called once, after all items. */
    void (*end)(struct sink_writer *writer, void *output, const struct sink_end *end);
};

/* The caller calls sink_writer_destroy(). NULL without memory. */
struct sink_writer *sink_writer_create(const struct sink_writer_job *job);

/* Sets the output of the items, which the writer owns from here on. */
void sink_writer_set_output(struct sink_writer *writer, void *output);

/* Before sink_writer_start(). */
void sink_writer_set_timeout(struct sink_writer *writer, unsigned seconds);

/* Starts the thread, unless it runs; short sessions need none. `is_inside`: what it uses counts
 * with the tracked program, and is to be subtracted: see sink_writer_counts(). */
void sink_writer_start(struct sink_writer *writer, bool is_inside);

/* Hands an item on. False: it does not fit, and remains the caller's. */
bool sink_writer_put(struct sink_writer *writer, const void *item);

/* Waits until all items are written, or the disk has not answered for a while. */
void sink_writer_drain(struct sink_writer *writer);

/* Lets it complete what was written; without output it does nothing. */
void sink_writer_end(struct sink_writer *writer, const struct sink_end *end);

/* Waits for that. False: the disk has not answered for a while, and the thread goes on alone; it
 * still uses what `end` points to. */
bool sink_writer_await_end(struct sink_writer *writer);

/* Frees it, or lets its thread do so when that has ended. NULL is fine. */
void sink_writer_destroy(struct sink_writer *writer);

/* CPU time of the thread, as of the last items. */
int64_t sink_writer_cpu_ns(const struct sink_writer *writer);

/* Returns the counters of the thread as of the last sink_writer_drain(). */
struct session_counts sink_writer_counts(struct sink_writer *writer);

bool sink_writer_has_thread(const struct sink_writer *writer);

/* Rows that could not be written, as it says itself by sink_writer_set_rows_lost(). */
uint64_t sink_writer_rows_lost(const struct sink_writer *writer);

/* The next warning; the caller frees it. NULL: there is none. */
char *sink_writer_take_warning(struct sink_writer *writer);

/* ---- For the functions of the job ---- */

/* One line for the caller of the library. */
void sink_writer_warn(struct sink_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void sink_writer_set_rows_lost(struct sink_writer *writer, uint64_t count);
