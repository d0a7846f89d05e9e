#include "common/environment.h"

#include "base/error.h"
#include "common/message.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

bool environment_is_untrusted(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *environment_path(const char *name)
{
    const char *value = environment_is_untrusted() ? NULL : getenv(name);
    return value && value[0] ? value : NULL;
}

void environment_drop_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    syscall(SYS_capset, &header, none);
}

int environment_check_rights(bool needs_rights, struct gput_error *error)
{
    if (geteuid() != getuid() || getegid() != getgid())
        return error_set(error, GPUT_ERROR_PERMISSION,
            "gpu-tracker must not be set-user-ID or set-group-ID: the commands that it starts "
            "would run as another user. 'chmod ug-s' on the file takes that away.");
    if (!environment_is_untrusted())
        return GPUT_OK;
    if (!needs_rights)
        environment_drop_rights();
    /* Name the variables that are set but ignored: otherwise nobody would know why a GPU is
     * missing. */
    static const char *const names[] = {"GPUT_BLOCKS_FILE", "GPUT_COLLECTORS", "GPUT_CONFIG",
        "GPUT_HISTORY", "GPUT_NVML", "GPUT_PROCFS", "GPUT_PYTHON", "GPUT_REPORT_PAGE",
        "GPUT_SYSFS"};
    char list[256] = "", line[MESSAGE_LINE_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        size_t used = strlen(list);
        if (value && value[0])
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", names[i]);
    }
    snprintf(line, sizeof line,
        "This gpu-tracker has capabilities of its file (setcap), so it follows no path of the "
        "environment: %s. 'sudo setcap -r' on the file takes them away.",
        list);
    if (list[0])
        message_warning(NULL, line);
    return GPUT_OK;
}

/* ---- The folder of the history ---- */

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
