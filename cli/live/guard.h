/*
 * A small process that restores the terminal when gpu-tracker is killed by what no program can
 * handle. It then goes on copying what the command prints to the terminal, as gpu-tracker did.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct guard_state {
    atomic_bool is_shown;        /* the view, or a line below the command's output */
    atomic_bool has_settings;    /* the terminal's settings were changed */
    atomic_llong replayed_bytes; /* of the spool: are on the terminal already */
};

struct guard {
    pid_t pid; /* 0: there is none */
    int fd;
    struct guard_state *state; /* owned; never NULL after guard_start() succeeded */
};

struct guard_options {
    int terminal;
    const struct termios *before; /* the terminal's settings */
    const char *leave;            /* what is written where something is shown */
    int spool, master;            /* see command_output.h; -1: none */
};

/* Starts it; to be called while there is one thread and few descriptors are open. False: there is
 * none, or no memory; errno says why. */
bool guard_start(struct guard *guard, const struct guard_options *options);

/* Ends it. `goes_on`: it stays, as a process of its own, to copy what is still printed by those
 * that the command left. */
void guard_end(struct guard *guard, bool goes_on);
