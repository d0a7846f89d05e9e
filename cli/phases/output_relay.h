/*
 * Passes a command's output on, byte for byte, and records the phases that its lines announce. A
 * separate process does so: it continues if gpu-tracker is killed, and if a process that the
 * command left running still prints. Nothing waits for its end.
 *
 *     output_relay_start()    before the session is created and has threads
 *     output_relay_give()     a command that is started now prints to the relay
 *     output_relay_take_back()
 *     output_relay_begin()    its phases are recorded
 *     output_relay_end()      after the command: waits until all its output is passed on
 */
#pragma once

#include "output_stream.h"
#include "phase_matcher.h"

#include "track/display.h"

#include <gputracker/error.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The result of a relay. */
struct output_relay_result {
    bool is_known; /* false: it was killed, or its reader still blocks */
    uint64_t n_phases;
    int failure;       /* errno of an output that could not be written; 0: none, or its reader has
                          gone */
    char message[200]; /* why nothing was recorded; "": phases were recorded */
};

struct output_relay {
    int control; /* a socket; -1: there is no relay */
    struct output_stream streams[2];
    int n_streams;
    int stream_of[3]; /* index of the stream of each standard stream; -1: none */
    int saved[3];     /* gpu-tracker's own standard streams meanwhile; -1: none */
    struct display inner;
};

#define OUTPUT_RELAY_NONE                                                                          \
    {                                                                                              \
        .control = -1                                                                              \
    }

/*
 * Starts the process. `targets`: descriptors of the command's standard output and error, by their
 * numbers. `log`: absolute path of the log. Errors: GPUT_ERROR_IO.
 */
int output_relay_start(struct output_relay *relay, const struct phase_matcher *matcher,
    const char *log, const int targets[3], struct gput_error *error);

/* Without a relay the functions below do nothing. */
void output_relay_give(struct output_relay *relay);
void output_relay_take_back(struct output_relay *relay);
void output_relay_begin(struct output_relay *relay, pid_t pid);

/* Returns a display that also passes the size of the terminal on. */
struct display output_relay_display(struct output_relay *relay, struct display inner);

/* Waits until all output is passed on, or until `stop_fd` is readable (see screen.h). Without
 * output_relay_begin() the process ends, and there is no result (NULL). */
void output_relay_end(struct output_relay *relay, int stop_fd, struct output_relay_result *result);
