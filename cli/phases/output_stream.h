/*
 * A stream of a command (its standard output, its standard error) that is passed on. The command
 * gets a pipe in its place, or a pseudo-terminal where it is a terminal. What comes out of that is
 * written to where the stream went.
 */
#pragma once

#include "../live/line_ends.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/* What a pipe holds, and what is read at once. */
#define OUTPUT_PART (256 * 1024)

struct output_stream {
    int source;      /* where it is read; -1: not open */
    int command_end; /* what the command gets; -1: not open */
    int target;      /* where it goes */
    bool is_terminal;
    bool is_pipe;            /* the target has readers who may go away */
    bool can_tee;            /* both ends are pipes */
    struct termios settings; /* of a terminal, as last seen */
    struct line_ends ends;   /* of what goes to it */
    int failure;             /* errno of a target that takes no more; 0: it does */
};

/* For a stream that goes to `target`. 0, or an errno: then nothing is open. */
int output_stream_open(struct output_stream *stream, int target);
void output_stream_close(struct output_stream *stream);

/* The size of a terminal has changed, perhaps. True: it had. */
bool output_stream_resize(const struct output_stream *stream);

/* Gives the terminal the settings that the command has given its own. */
void output_stream_follow_settings(struct output_stream *stream);

/* Reads what there is, after poll(). 0: there will be no more, or for now there is none (-1). */
ssize_t output_stream_read(struct output_stream *stream, char *bytes, size_t size);

/* Passes on what there is, after poll(), from pipe to pipe without copying it, and reads it then.
 * 0: there will be no more, or this is not possible. */
ssize_t output_stream_tee(struct output_stream *stream, char *bytes, size_t size);

/* Writes all of it, and waits for space. False:
 * the target takes no more, `failure` says why. */
bool output_stream_write(struct output_stream *stream, const char *bytes, size_t length);

/* What a terminal has not got yet of the end. */
void output_stream_end(struct output_stream *stream);
