#include "machine/os/environment.h"

#include "machine/os/procfs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

int environment_read(struct bounded_calls *calls, const char *root, pid_t pid,
    struct environment *environment, struct gput_error *error)
{
    return procfs_read_bounded(calls, root, pid, "environ", &environment->text, error);
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

/* Finds the variables as they were when this program was started; the kernel put them in one piece.
 */
static const char *find_given(const char **end)
{
    char text[PROCFS_TEXT_SIZE];
    uintptr_t first = 0, last = 0;
    if (procfs_read("/proc", PROCFS_SYSTEM, "self/stat", text, sizeof text, NULL, NULL) != GPUT_OK)
        return NULL;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 50; field++) /* to env_start, env_end: see proc(5) */
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%" SCNuPTR " %" SCNuPTR, &first, &last) != 2)
        return NULL;
    *end = (const char *)last; /* NOLINT(performance-no-int-to-ptr) */
    return (const char *)first;
}

/* Returns whether one of `count` variables has the same name as "NAME=value". */
static bool has_name_of(char *const *variables, size_t count, const char *wanted)
{
    size_t length = strcspn(wanted, "=") + 1;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(variables[i], wanted, length) == 0)
            return true;
    }
    return false;
}

char **environment_with_removed(void)
{
    const char *end = NULL, *at = find_given(&end);
    size_t count = 0, n_given = 0;
    while (environ && environ[count])
        count++;
    for (const char *given = at; given && given < end; given += strlen(given) + 1)
        n_given++;
    char **variables = calloc(count + n_given + 1, sizeof *variables);
    if (!variables)
        return NULL;
    if (count > 0)
        memcpy(variables, environ, count * sizeof *variables);
    for (; at && at < end; at += strlen(at) + 1) {
        if (strchr(at, '=') && strncmp(at, "GPUT_", 5) != 0 && !has_name_of(variables, count, at))
            variables[count++] = (char *)at;
    }
    return variables;
}

bool environment_was_cut(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *environment_own_variable(void *nothing, const char *name)
{
    (void)nothing;
    return getenv(name);
}
