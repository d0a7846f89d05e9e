/*
 * Keeps a session that has ended in the history of this user, where that is wanted.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/results.h>

#include <stdbool.h>

struct tracking;

struct kept_history {
    bool is_wanted;
    char **size_of; /* files of --size-of, NULL at the end; the array is owned; NULL: none */
};

/* Finds out whether sessions are kept: --no-history, then GPUT_HISTORY, --history or the config
 * file, then what `gpu-tracker history on` set. Freed by kept_history_finish(). Errors:
 * GPUT_ERROR_MEMORY. */
int kept_history_begin(
    struct kept_history *history, const struct arguments *arguments, struct gput_error *error);

/* Adds the session, after its reports were written. A failure is one warning, unless warnings are
 * not wanted. `command` with its arguments; NULL: a process that was attached to. `stop_fd`: see
 * screen.h. */
void kept_history_add(const struct tracking *tracking, const struct gput_results *results,
    const char *const *command, int stop_fd);

void kept_history_finish(struct kept_history *history);
