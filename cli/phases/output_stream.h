/*
 * A stream of a command (standard output or error) that is passed on. The command gets a pipe in
 * its place, or a pseudo-terminal if it is a terminal. The output is then written to the original
 * stream, the target.
 */
#pragma once

#include "../live/line_ends.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/* Capacity of the pipe, and maximum size of a read. */
#define OUTPUT_PART (256 * 1024)

struct output_stream {
    int source;      /* read end; -1: not open */
    int command_end; /* the command's end; -1: not open */
    int target;      /* where output is written */
    bool is_terminal;
    bool is_pipe;            /* the target has readers, which may go away */
    bool can_tee;            /* both source and target are pipes */
    struct termios settings; /* settings of a terminal, as last seen */
    struct line_ends ends;   /* state of the line ends written to a terminal */
    int failure;             /* errno of a target that cannot be written; 0: none */
};

/* Opens a stream for output to `target`. Returns 0 or an errno; nothing is then open. */
int output_stream_open(struct output_stream *stream, int target);
void output_stream_close(struct output_stream *stream);

/* Copies the size of the terminal to the pseudo-terminal. Returns true if it had changed. */
bool output_stream_resize(const struct output_stream *stream);

/* Copies the settings that the command gave its pseudo-terminal to the terminal. */
void output_stream_follow_settings(struct output_stream *stream);

/* Reads available output, after poll(). Returns 0 at the end, -1 if there is none at the moment. */
ssize_t output_stream_read(struct output_stream *stream, char *bytes, size_t size);

/* Passes available output from pipe to pipe without copying it, after poll(), and then reads it.
 * Returns 0 at the end, or if this is not possible. */
ssize_t output_stream_tee(struct output_stream *stream, char *bytes, size_t size);

/* Writes all bytes, waiting for space. Returns false if the target cannot be written; `failure` is
 * the reason. */
bool output_stream_write(struct output_stream *stream, const char *bytes, size_t length);

/* Writes what was held back from a terminal at the end. */
void output_stream_end(struct output_stream *stream);
