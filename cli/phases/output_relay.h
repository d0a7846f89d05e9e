/*
 * Passes a command's output on, byte for byte, and records the phases that its lines announce. A
 * process of its own does so: it goes on when gpu-tracker is killed, and when a process
 * that the command left running still prints. Its end is not waited for.
 *
 *     output_relay_start()    before the session is created and has threads
 *     output_relay_give()     the command that is started now prints to the relay
 *     output_relay_take_back()
 *     output_relay_begin()    its phases are recorded
 *     output_relay_end()      it has ended: waits until all that it printed is passed on
 */
#pragma once

#include "output_stream.h"
#include "phase_matcher.h"

#include "track/display.h"

#include <gputracker/error.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What became of it. */
struct output_relay_result {
    bool is_known; /* else it was killed, or its reader is still blocked */
    uint64_t n_phases;
    int failure;       /* errno of an output that took no more; 0: it did, or its reader left */
    char message[200]; /* why nothing was recorded; "": it was */
};

struct output_relay {
    int control; /* a socket; -1: there is no relay */
    struct output_stream streams[2];
    int n_streams;
    int stream_of[3]; /* which stream each standard stream is; -1: none */
    int saved[3];     /* of gpu-tracker, meanwhile; -1: none */
    struct display inner;
};

#define OUTPUT_RELAY_NONE                                                                          \
    {                                                                                              \
        .control = -1                                                                              \
    }

/*
 * Starts the process. `targets`: where the standard output and error of the command go, by their
 * numbers. `log`: the absolute path of the log. Errors: GPUT_ERROR_IO.
 */
int output_relay_start(struct output_relay *relay, const struct phase_matcher *matcher,
    const char *log, const int targets[3], struct gput_error *error);

/* All that follow do nothing without a relay. */
void output_relay_give(struct output_relay *relay);
void output_relay_take_back(struct output_relay *relay);
void output_relay_begin(struct output_relay *relay, pid_t pid);

/* A display that also passes the size of the terminal on. */
struct display output_relay_display(struct output_relay *relay, struct display inner);

/* Waits no longer than until `stop_fd` can be read (see screen.h). Without output_relay_begin() the
 * process ends, and there is no result (NULL). */
void output_relay_end(struct output_relay *relay, int stop_fd, struct output_relay_result *result);
