/*
 * Where the history of this user is: GPUT_HISTORY, or gpu-tracker in $XDG_STATE_HOME or
 * ~/.local/state.
 */
#pragma once

#include <gputracker/error.h>

#include <limits.h>

/*
 * Finds the folder, which need not be there. GPUT_ERROR_NOT_FOUND: the environment names no folder.
 * GPUT_ERROR_PERMISSION: this program has rights of its file, so the environment is not followed.
 */
int history_place_find(char path[PATH_MAX], struct gput_error *error);
