#include "machine/os/outer_procfs.h"

#include "base/number.h"
#include "machine/os/mountinfo.h"
#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void outer_procfs_finish(struct outer_procfs *outer)
{
    free(outer->root);
    *outer = (struct outer_procfs){0};
}

/* Reads the target of a link; false when it does not exist or does not fit. */
static bool read_link(const char *root, pid_t pid, const char *file, char *target, size_t size)
{
    char path[PROCFS_PATH_SIZE];
    if (!procfs_path(root, pid, file, path))
        return false;
    ssize_t length = readlink(path, target, size - 1);
    if (length <= 0 || (size_t)length == size - 1)
        return false;
    target[length] = '\0';
    return true;
}

/* Reads the pid of this process in a procfs. False: it is not visible there. */
static bool read_self(const char *root, struct proc_status *status)
{
    char self[32];
    if (!read_link(root, PROCFS_SYSTEM, "self", self, sizeof self))
        return false;
    int64_t pid;
    return number_parse_int64(self, self + strlen(self), &pid) && pid > 0 &&
           proc_status_read(root, (pid_t)pid, status, NULL) == GPUT_OK;
}

/* Returns whether two procfs show the same process: all of these figures agree. Pids of two
 * namespaces may be equal. */
static bool is_same_process(const char *root, pid_t pid, const char *other_root, pid_t other_pid)
{
    struct proc_stat stat, other_stat;
    char space[64], other_space[64];
    if (proc_stat_read(root, pid, &stat, NULL) != GPUT_OK ||
        proc_stat_read(other_root, other_pid, &other_stat, NULL) != GPUT_OK ||
        stat.start_time_ticks != other_stat.start_time_ticks ||
        strcmp(stat.name, other_stat.name) != 0)
        return false;
    /* Not readable for processes of other users: those are not tracked. */
    return read_link(root, pid, "ns/pid", space, sizeof space) &&
           read_link(other_root, other_pid, "ns/pid", other_space, sizeof other_space) &&
           strcmp(space, other_space) == 0;
}

/* Returns how many levels `ours` is below the namespace of a procfs that shows us as `seen`; 0: it
 * is not below. */
static uint32_t depth_of(const struct proc_status *ours, const struct proc_status *seen)
{
    if (ours->namespace_count == 0 || seen->namespace_count <= ours->namespace_count)
        return 0;
    uint32_t depth = seen->namespace_count - ours->namespace_count;
    for (uint32_t i = 0; i < ours->namespace_count; i++)
        if (seen->namespace_pids[depth + i] != ours->namespace_pids[i])
            return 0;
    return depth;
}

void outer_procfs_find(const char *procfs_root, struct outer_procfs *outer)
{
    struct proc_status ours;
    struct mountinfo_entry entry;
    struct str text = {0};
    *outer = (struct outer_procfs){0};
    if (read_self(procfs_root, &ours) &&
        procfs_read_all(procfs_root, PROCFS_SYSTEM, "self/mountinfo", &text, NULL) == GPUT_OK) {
        const char *position = str_text(&text), *end = position + text.length;
        while (mountinfo_next(&position, end, &entry))
            if (mountinfo_is(entry.type, "proc") && mountinfo_is(entry.root, "/")) {
                /* Use a procfs mount when its namespace is further out than the best so far. */
                struct proc_status seen;
                char *root = mountinfo_unescape(entry.mount_point);
                uint32_t depth = root && read_self(root, &seen) ? depth_of(&ours, &seen) : 0;
                if (depth > outer->depth &&
                    is_same_process(procfs_root, ours.pid, root, seen.pid)) {
                    free(outer->root);
                    *outer = (struct outer_procfs){.root = root, .depth = depth};
                } else {
                    free(root);
                }
            }
    }
    str_finish(&text);
}

pid_t outer_procfs_translate(
    const struct outer_procfs *outer, const char *procfs_root, pid_t outer_pid)
{
    struct proc_status status;
    if (!outer->root || proc_status_read(outer->root, outer_pid, &status, NULL) != GPUT_OK)
        return -1;
    if (status.namespace_count <= outer->depth)
        return 0;
    pid_t pid = status.namespace_pids[outer->depth];
    return is_same_process(outer->root, outer_pid, procfs_root, pid) ? pid : 0;
}
