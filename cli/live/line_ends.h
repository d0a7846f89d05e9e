/*
 * A terminal puts a carriage return before each line end (ONLCR). The pseudo-terminal of a command
 * has done so when its output goes to the real one, which does it again: it is taken off, so that
 * the real terminal gets what it would have got from the command.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct line_ends {
    bool strips;     /* else bytes stay as they are */
    bool has_return; /* the last byte was one, and was not written yet */
};

/* For a terminal with these settings. */
struct line_ends line_ends_of(const struct termios *settings);

/* Writes what follows to `out`, which has space for one byte more. Returns the length. */
size_t line_ends_strip(struct line_ends *ends, const char *bytes, size_t length, char *out);
