/*
 * Writing to what people read: a terminal, a pipe, which may be full while its reader stands still.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For `stop_fd`: */
enum {
    SCREEN_WAITS = -1,       /* for ever */
    SCREEN_NEVER_WAITS = -2, /* writes what finds space at once */
};

/*
 * Writes all of it. Where that has to wait, it does so until `stop_fd` can be read. Returns 0 or an
 * errno: ECANCELED when it did not wait any longer; a part may then be written, but none of a line
 * or two (1 KiB).
 */
int screen_write(int fd, const char *bytes, size_t length, int stop_fd);

/* True of a terminal that understands escape sequences (TERM). */
bool screen_takes_escapes(int fd);

/*
 * True where a line can be shown for a while: on such a terminal, except on that of "!COMMAND" in a
 * notebook, which keeps all that was ever written.
 */
bool screen_shows_progress(int fd);

/* The columns of a terminal; `otherwise` elsewhere. */
unsigned screen_columns(int fd, unsigned otherwise);
