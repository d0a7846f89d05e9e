#include "os/environment.h"

#include "os/procfs.h"

#include <stdlib.h>
#include <string.h>

int environment_read(
    const char *root, pid_t pid, struct environment *environment, struct gput_error *error)
{
    return procfs_read_all(root, pid, "environ", &environment->text, error);
}

void environment_finish(struct environment *environment)
{
    str_finish(&environment->text);
}

const char *environment_variable(void *user, const char *name)
{
    const struct environment *environment = user;
    const char *at = str_text(&environment->text), *end = at + environment->text.length;
    size_t length = strlen(name);
    for (; at < end; at += strlen(at) + 1) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

const char *environment_own_variable(void *nothing, const char *name)
{
    (void)nothing;
    return getenv(name);
}
