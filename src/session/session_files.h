/*
 * Descriptors of a session: whether there are enough to begin, and how many files of procfs may
 * stay open, which takes half of what opening them again would.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* How many may be kept. Half of what may still be opened is left to the caller. With `raises_limit`
 * the soft limit of this process is raised first, towards the hard one, and an eighth is left. */
unsigned session_files_kept(bool raises_limit);

/* Checked before a command is started: without them it could be started but not read. */
int session_files_check(struct gput_error *error);
