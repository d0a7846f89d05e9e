/*
 * The terminal on which the view is shown: its other screen, its settings, its size. Writing never
 * waits for it.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <termios.h>

/* A part of a command's output. */
#define TERMINAL_PART 16384

/* What it receives to show the view, and to be as before. The other screen, which is erased again:
 * terminals that have one screen alone (the console of Linux, GNU screen by default) would keep it;
 * without cursor; lines do not wrap; text is not reordered from right to left; the mouse is
 * reported.
 */
#define TERMINAL_ENTER "\033[?1049h\033[?25l\033[?7l\033[8l\033[?1000h\033[?1006h"
#define TERMINAL_LEAVE                                                                             \
    "\033[?1006l\033[?1000l\033[0m\033[1;1H\033[J\033[8h\033[?7h\033[?25h\033[?1049l"

struct terminal {
    int fd; /* of our own: what is set for it is not set for others */
    struct termios before;
    bool is_ascii;   /* it, or the user's locale, has no other characters */
    bool is_coarse;  /* see grid.h */
    bool has_colors; /* and the user wants them */
    bool is_shown;
    int columns;        /* when it was shown */
    struct str pending; /* what it did not take yet; one part always fits when it is empty */
};

/* Opens the terminal of the standard error, or of the standard output. NULL, or why there is none
 * that can show a view; static text. */
const char *terminal_open(struct terminal *terminal);
void terminal_close(struct terminal *terminal);

/* True of a descriptor that is this terminal. */
bool terminal_is(const struct terminal *terminal, int fd);

/* Whether this process group may use it now. */
bool terminal_is_foreground(const struct terminal *terminal);

void terminal_size(const struct terminal *terminal, int *columns, int *rows);

/* Shows the other screen; keys then come one by one. Signals of keys (Ctrl-C) are sent as before.
 */
void terminal_show(struct terminal *terminal);

/* Back to the first screen. Keys go on to come one by one. */
void terminal_hide(struct terminal *terminal);

/* Keys come one by one, without the other screen, to be passed on. */
void terminal_pass_keys(const struct terminal *terminal);

/* As before terminal_show(). What was typed and not read is discarded. */
void terminal_restore(struct terminal *terminal);

/* Writes what it takes at once of `pending`. False: it is gone. */
bool terminal_flush(struct terminal *terminal);
