/*
 * The sinks of a session, served together.
 */
#pragma once

#include "session/sinks/sink.h"

#include <stdatomic.h>

/* How many there are. */
#define ONE_MORE(name) +1
enum { SINK_COUNT = SINKS(ONE_MORE) };
#undef ONE_MORE

enum sinks_state { SINKS_ARE_IDLE, SINKS_ARE_FED, SINKS_ARE_CLOSED };

/* All zeroes: none. */
struct sinks {
    struct sink *sinks[SINK_COUNT]; /* owned; those that are wanted */
    size_t count;
    bool want_bytes;     /* some sink wants bytes read and written while processes run */
    bool want_processes; /* some sink wants the list of processes at its end */
    /* enum sinks_state: a sampling thread that was left alone finds them closed. */
    atomic_int state;
};

/* Opens those that the options ask for. Options that sinks name are theirs from then on, also in
 * `settings`. The caller calls sinks_close() and sinks_finish(), also after an error. Errors: those
 * of the sinks, GPUT_ERROR_MEMORY. */
int sinks_open(struct sinks *sinks, struct session_settings *settings, struct latest *latest,
    struct gput_error *error);

/* As the functions of struct sink_class, of all sinks. Those that are closed take nothing. */
int sinks_begin(struct sinks *sinks, struct gput_error *error);
void sinks_sample(struct sinks *sinks, const struct snapshot *snapshot);
void sinks_results(struct sinks *sinks, const struct gput_results *results);
void sinks_bytes(
    struct sinks *sinks, const struct snapshot *snapshot, const struct task_counts *bytes);
void sinks_stop(struct sinks *sinks);
int64_t sinks_cpu_ns(const struct sinks *sinks);

/* Completes what they write; once, else it does nothing. False: a disk does not answer, and a
 * thread still uses them, or what `end` points to. */
bool sinks_close(struct sinks *sinks, const struct sink_end *end);

/* How many threads they have of their own. */
unsigned sinks_threads(const struct sinks *sinks);

/* Says in results what became of what they wrote. */
void sinks_add_sources(const struct sinks *sinks, struct gput_results *results);

/* After sinks_stop(): subtracts what those threads counted. */
void sinks_subtract_thread_counts(const struct sinks *sinks, struct session_counts *counts);

/* Where the first that serves something does that; NULL: none does. Belongs to the sink. */
const char *sinks_address(const struct sinks *sinks);

/* Removes what they left for `results_stay`. */
void sinks_remove_left(const struct sinks *sinks);

/* Frees them. */
void sinks_finish(struct sinks *sinks);
