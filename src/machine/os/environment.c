#include "machine/os/environment.h"

#include "base/random.h"
#include "base/text.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
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

/* ---- The variable that names the session ---- */

/* Trees of processes are not as deep. */
#define MAX_ANCESTORS 10000

/* Returns the inode of the pid namespace; 0: it is not known. */
static unsigned long namespace_of(const char *root, pid_t pid)
{
    char path[PROCFS_PATH_SIZE];
    struct stat info;
    return procfs_path(root, pid, "ns/pid", path) && stat(path, &info) == 0
               ? (unsigned long)info.st_ino
               : 0;
}

void session_variable_make_id(const char *root, pid_t pid, char id[SESSION_ID_SIZE])
{
    uint64_t number;
    random_fill(&number, sizeof number);
    text_fit(
        id, SESSION_ID_SIZE, "%016" PRIx64 "-%d-%lu", number, (int)pid, namespace_of(root, pid));
}

/* Returns whether a process is `ancestor` or descends from it. True if that cannot be read: it
 * inherited the variable somehow. */
static bool descends_from(const char *root, pid_t pid, pid_t ancestor)
{
    struct proc_stat stat = {.ppid = pid};
    for (int i = 0; i < MAX_ANCESTORS && stat.ppid != ancestor; i++) {
        if (stat.ppid == 0)
            return false;
        if (proc_stat_read(root, stat.ppid, &stat, NULL) != GPUT_OK)
            return true;
    }
    return true;
}

/* Returns whether that session includes this process. False: the text is no id. */
static bool is_in_session(const char *id, size_t length, const char *root, pid_t pid)
{
    char text[SESSION_ID_SIZE];
    uint64_t number;
    int ancestor, end = 0;
    unsigned long space, own = namespace_of(root, pid);
    if (length >= sizeof text)
        return false;
    text_fit(text, sizeof text, "%.*s", (int)length, id);
    if (sscanf(text, "%16" SCNx64 "-%d-%lu%n", &number, &ancestor, &space, &end) != 3 ||
        (size_t)end != length || ancestor <= 0)
        return false;
    return (space != own && space && own) || descends_from(root, pid, ancestor);
}

void session_variable_parse(
    const char *value, const char *root, pid_t pid, char ids[SESSION_IDS_SIZE])
{
    ids[0] = '\0';
    for (const char *at = value ? value : "", *next; *at; at = next) {
        size_t length = strcspn(at, "/"), used = strlen(ids);
        next = at + length + (at[length] == '/');
        if (!is_in_session(at, length, root, pid))
            continue;
        while (used > 0 && used + 1 + length >= SESSION_IDS_SIZE) {
            const char *rest = strchr(ids, '/');
            memmove(ids, rest ? rest + 1 : ids + used, rest ? strlen(rest) : 1);
            used = strlen(ids);
        }
        snprintf(ids + used, SESSION_IDS_SIZE - used, "%s%.*s", used ? "/" : "", (int)length, at);
    }
}

char **session_variable_add(char *const *environment, const char *ids, const char *id)
{
    static const char begin[] = "GPUT_SESSION=";
    size_t count = 0, kept = 0;
    while (environment[count])
        count++;
    size_t size = sizeof begin + strlen(ids) + 1 + strlen(id);
    char **copy = malloc((count + 2) * sizeof *copy + size), *own = (char *)(copy + count + 2);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!text_begins_with(environment[i], begin))
            copy[kept++] = environment[i];
    }
    text_fit(own, size, "%s%s%s%s", begin, ids, ids[0] ? "/" : "", id);
    copy[kept] = own;
    copy[kept + 1] = NULL;
    return copy;
}
