/*
 * The work of the process that passes a command's output on: a thread a stream reads it, searches
 * it for lines that begin a phase, and writes it to where it goes.
 */
#pragma once

#include "output_stream.h"
#include "phase_log.h"
#include "phase_matcher.h"

#include <pthread.h>
#include <stdbool.h>

struct output_pump {
    struct phase_log log;
    const struct phase_matcher *matcher;
    int ended_fd; /* can be read when the command has ended */
    int over_fd;  /* counts streams that hold nothing more of the command */
    int n_streams;
    struct output_pump_stream {
        struct output_pump *pump;
        struct output_stream *stream;
        pthread_t thread;
    } streams[2];
};

/* `pump` has its log already. False without memory or threads: nothing is passed on. */
bool output_pump_start(struct output_pump *pump, struct output_stream *streams, int count,
    const struct phase_matcher *matcher);

/* Until `control` says that the command has ended, and all that it printed is passed on. Where that
 * goes away without a word gpu-tracker was killed: until the streams end. */
void output_pump_wait(struct output_pump *pump, int control);

/* errno of an output that took no more; 0: none, or its reader left. */
int output_pump_failure(const struct output_pump *pump);

/* Until the streams end. */
void output_pump_finish(struct output_pump *pump);
