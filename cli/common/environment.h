/*
 * What the environment may decide, and the rights that the file of this program gives. With
 * capabilities of its file (setcap) whoever starts gpu-tracker has the environment, and gpu-tracker
 * has rights that they lack: docs/security.md.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>

/* Whether the system gave this program rights that its user lacks (AT_SECURE). */
bool environment_is_untrusted(void);

/* The value of a variable that names a file or folder. NULL: it is not set, is empty, or the
 * environment is untrusted. */
const char *environment_path(const char *name);

/*
 * To be called once, at the start: warns of variables that environment_path() leaves out, and gives
 * all capabilities up unless `needs_rights`.
 *
 * GPUT_ERROR_PERMISSION: the file is set-user-ID or set-group-ID, so the tracked command, too,
 * would run as another user.
 */
int environment_check_rights(bool needs_rights, struct gput_error *error);

/* Gives all capabilities up, for good: of this process alone. */
void environment_drop_rights(void);
