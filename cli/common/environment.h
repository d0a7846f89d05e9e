/*
 * What the environment may decide, and the rights that the file of this program gives. With
 * capabilities of its file (setcap) whoever starts gpu-tracker has the environment, and gpu-tracker
 * has rights that they lack: docs/security.md.
 */
#pragma once

#include <gputracker/error.h>

#include <limits.h>
#include <stdbool.h>

/* Whether the system gave this program rights that its user lacks (AT_SECURE). */
bool environment_is_untrusted(void);

/* The value of a variable that names a file or folder. NULL: it is not set, is empty, or the
 * environment is untrusted. */
const char *environment_path(const char *name);

/*
 * Call it once, at the start: it warns of variables that environment_path() ignores, and gives
 * all capabilities up unless `needs_rights`. GPUT_ERROR_PERMISSION: the file is set-user-ID or
 * set-group-ID, so the tracked command would run as another user, too.
 */
int environment_check_rights(bool needs_rights, struct gput_error *error);

/* Gives all capabilities up, for good: of this process alone. */
void environment_drop_rights(void);

/*
 * Where the history of this user is: GPUT_HISTORY, or gpu-tracker in $XDG_STATE_HOME or
 * ~/.local/state.
 */

/*
 * Finds the folder, which need not be there. GPUT_ERROR_NOT_FOUND: the environment names no folder.
 * GPUT_ERROR_PERMISSION: this program has rights of its file, so the environment is not followed.
 */
int history_place_find(char path[PATH_MAX], struct gput_error *error);
