/*
 * The threads of the process that passes a command's output on. A thread for each stream reads it,
 * finds the lines that begin a phase, and writes it to its target.
 */
#pragma once

#include "output_stream.h"
#include "phase_matcher.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gputracker/blocks.h>
#include <gputracker/error.h>

/* Maximum number of names; further ones become "(other names)". */
enum { PHASE_LOG_NAMES = 10000 };

struct phase_log {
    pthread_mutex_t lock;
    struct gput_blocks *blocks; /* NULL: nothing is recorded */
    struct gput_block_call call;
    char current[PHASE_NAME_SIZE + 8]; /* "": no phase runs */
    uint64_t *hashes;                  /* hash table of the names; 0: free */
    size_t n_names;
    uint64_t n_phases;
};

/* Initializer of a log that records nothing. */
#define PHASE_LOG_NONE                                                                             \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

struct output_pump {
    struct phase_log log;
    const struct phase_matcher *matcher;
    int ended_fd; /* readable when the command has ended */
    int over_fd;  /* counts the streams that have no more output of the command */
    int n_streams;
    struct output_pump_stream {
        struct output_pump *pump;
        struct output_stream *stream;
        pthread_t thread;
    } streams[2];
};

/* Starts the threads; `pump->log` must be initialized. Returns false without memory or threads:
 * nothing is passed on. */
bool output_pump_start(struct output_pump *pump, struct output_stream *streams, int count,
    const struct phase_matcher *matcher);

/* Waits until `control` reports that the command has ended, and all of its output is passed on. If
 * gpu-tracker was killed, `control` is closed without a report; then waits until the streams
 * end. */
void output_pump_wait(struct output_pump *pump, int control);

/* Returns the errno of an output that could not be written; 0: none, or its reader has gone. */
int output_pump_failure(const struct output_pump *pump);

/* Waits until the streams end. */
void output_pump_finish(struct output_pump *pump);

/* Creates the file of an empty log; marks are those of process `pid`. On failure nothing is
 * recorded. Errors: those of gput_blocks_open(). */
int phase_log_open(struct phase_log *log, const char *path, pid_t pid, struct gput_error *error);

/* Ends the last phase and completes the file. Nothing is recorded any more. */
void phase_log_close(struct phase_log *log);
