/*
 * The live view of a session: connects the terminal, the command's output, the session's snapshots
 * and the view, one event after the other, in the thread that waits for what is tracked.
 *
 *     live_open(&live, error)            before the session is created and has threads
 *     live_give_streams(live)            the command that is started now has a pseudo-terminal
 *     live_take_streams(live)
 *     live_begin(live, session, title)   the view appears
 *     … live_display(live) …
 *     live_end(live, stop_fd)            the terminal is as before, with the command's output
 */
#pragma once

#include "track/display.h"

#include <gputracker/session.h>

#include <stdbool.h>

struct live;

struct live_options {
    bool runs_command; /* else processes that run already, or the machine */
    bool is_machine;
    double interval_seconds;       /* of the session */
    const char *sub_tracking_file; /* of which open code blocks are shown; NULL: none */
};

/*
 * Finds the terminal. On success the caller ends it by live_end(). Errors: GPUT_ERROR_UNSUPPORTED
 * (no terminal, or one that cannot show it; the message is the reason), GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
int live_open(const struct live_options *options, struct live **live, struct gput_error *error);

/* NULL is fine for all that follow. */

/* Where a standard stream of the command goes: the pseudo-terminal, or what it is. */
int live_target(const struct live *live, int fd);
void live_give_streams(struct live *live);
void live_take_streams(struct live *live);

void live_begin(struct live *live, struct gput_session *session, const char *title);

/* Returns what is shown while waiting; valid until live_end(). It shows nothing if `live` is
 * NULL. */
struct display live_display(struct live *live);

/* Whether the view was closed by its user. */
bool live_is_closed(const struct live *live);

/* What is tracked has ended; its last figures stay in view. */
void live_note_end(struct live *live);

/* Restores the terminal, writes what the command printed meanwhile, and frees it. Waits for the
 * terminal no longer than until `stop_fd` can be read (see screen.h). */
void live_end(struct live *live, int stop_fd);
