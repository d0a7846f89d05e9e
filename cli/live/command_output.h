/*
 * What a command prints while the view has its terminal. The command gets a pseudo-terminal in its
 * place, so that it behaves as on a terminal; what it prints is kept in a file without a name and
 * is written to the terminal when the view is closed, whole and in order. Streams of the command
 * that are not a terminal, or are another one, stay as they are.
 */
#pragma once

#include "base/str.h"
#include "line_ends.h"
#include "terminal.h"
#include "transcript.h"

#include <stdbool.h>
#include <sys/types.h>

struct command_output {
    int master, slave, spool; /* -1: not open; without any stream of the command all are -1 */
    bool is_replaced[3];      /* which standard streams the command gets from us */
    int saved[3];             /* of gpu-tracker, meanwhile; -1: none */
    off_t length, replayed;   /* of the spool */
    struct str rest;          /* what follows the spool, which could not take it */
    struct line_ends ends;    /* of what goes to the terminal */
    bool is_over;             /* no process has the pseudo-terminal open, for now */
    struct transcript transcript;
};

/* Before anything is started. Errors are an errno; 0: fine. */
int command_output_open(struct command_output *output, const struct terminal *terminal);
void command_output_close(struct command_output *output);

/* The command that is started between these two has the pseudo-terminal. */
void command_output_give(struct command_output *output);
void command_output_take_back(struct command_output *output);

/* The pseudo-terminal gets the size of the terminal. True: it had another one. */
bool command_output_resize(const struct command_output *output, const struct terminal *terminal);

/* Reads what there is, a part at a time, and keeps it for later. False: the spool cannot take it
 * (`errno`), and the view should be closed. `*any`: something was read. */
bool command_output_read(struct command_output *output, bool *any);

/* Without a view: what was kept, then what comes, a part at a time, unless the terminal is busy.
 * `*any`: there was something. */
void command_output_pass(struct command_output *output, struct terminal *terminal, bool *any);

/* What was typed for the command. */
void command_output_send(const struct command_output *output, const char *bytes, size_t length);

/* Writes all that was kept and is not on the terminal yet. Waits for it no longer than until
 * `stop_fd` can be read (see screen.h). */
void command_output_replay(
    struct command_output *output, const struct terminal *terminal, int stop_fd);
