#include "common/history_place.h"

#include "base/error.h"
#include "common/environment.h"

#include <stdio.h>
#include <stdlib.h>

int history_place_find(char path[PATH_MAX], struct gput_error *error)
{
    const char *named = secure_getenv("GPUT_HISTORY"), *state = secure_getenv("XDG_STATE_HOME");
    const char *home = secure_getenv("HOME");
    int length = -1;
    if (environment_is_untrusted())
        return error_set(error, GPUT_ERROR_PERMISSION,
            "This gpu-tracker has capabilities of its file (setcap), so it follows no path of the "
            "environment and has no history. 'sudo setcap -r' on the file takes them away.");
    if (named && named[0])
        length = snprintf(path, PATH_MAX, "%s", named);
    else if (state && state[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/gpu-tracker", state);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.local/state/gpu-tracker", home);
    if (length > 0 && length < PATH_MAX)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        length < 0 ? "There is no place for a history: HOME is not set. GPUT_HISTORY=FOLDER names "
                     "one."
                   : "The name of the history's folder is too long. GPUT_HISTORY=FOLDER names "
                     "another one.");
}
