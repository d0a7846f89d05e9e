#include "machine/gpu/device_files.h"

#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum finding { ABSENT, PRESENT, UNKNOWN };

/* The last part of a path. In another mount namespace the folder can differ. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether one of these descriptors is a device file whose name begins with `prefix`, `but` for one
 * name. */
static enum finding find_in_folder(
    int folder, const struct pid_vector *descriptors, const char *prefix, const char *but)
{
    char number[16], path[PATH_MAX];
    for (size_t i = 0; i < descriptors->count; i++) {
        snprintf(number, sizeof number, "%d", (int)descriptors->pids[i]);
        ssize_t length = readlinkat(folder, number, path, sizeof path - 1);
        if (length < 0 && errno == ENOENT)
            continue; /* closed since */
        if (length < 0)
            return UNKNOWN;
        path[length] = '\0';
        const char *name = name_of(path);
        if (path[0] == '/' && strncmp(name, prefix, strlen(prefix)) == 0 &&
            !(but && strcmp(name, but) == 0))
            return PRESENT;
    }
    return ABSENT;
}

/* An ended process has nothing open; until it is waited for, root alone may list that. */
static bool has_ended(const char *procfs_root, pid_t pid)
{
    struct proc_stat stat;
    return proc_stat_read(procfs_root, pid, &stat, NULL) == GPUT_OK && stat.state == 'Z' &&
           stat.thread_count <= 1;
}

/* Whether a process has such a device file open. */
static enum finding find(const char *procfs_root, pid_t pid, const char *prefix, const char *but)
{
    char path[PROCFS_PATH_SIZE];
    struct pid_vector descriptors = {0};
    enum finding finding = UNKNOWN;
    int folder = procfs_path(procfs_root, pid, "fd", path)
                     ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                     : -1;
    if (folder < 0)
        return errno == ENOENT || errno == ESRCH || has_ended(procfs_root, pid) ? ABSENT : UNKNOWN;
    if (procfs_list_fd(folder, &descriptors) == GPUT_OK)
        finding = find_in_folder(folder, &descriptors, prefix, but);
    pid_vector_finish(&descriptors);
    close(folder);
    return finding;
}

bool device_files_are_own(const char *name)
{
    return find("/proc", getpid(), name, NULL) == PRESENT;
}

bool device_files_any_gpu(const char *procfs_root, pid_t pid)
{
    static const char *const prefixes[] = {"nvidia", "kfd", "renderD", "dxg"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (find(procfs_root, pid, prefixes[i], NULL) == PRESENT)
            return true;
    return false;
}

bool device_files_none_open(
    const char *procfs_root, const struct gpu_tracked *tracked, const char *prefix, const char *but)
{
    for (size_t i = 0; i < tracked->count; i++)
        if (find(procfs_root, tracked->pids[i], prefix, but) != ABSENT)
            return false;
    return tracked->count > 0;
}

bool device_files_prove_pids(const char *procfs_root, const struct gpu_process_list *list,
    const char *prefix, const char *but, const char *own_prefix)
{
    bool has_file = list->count == 0;
    for (size_t i = 0; i < list->count; i++) {
        char path[PROCFS_PATH_SIZE];
        pid_t pid = list->entries[i].pid;
        bool is_own = pid == getpid();
        if (!procfs_path(procfs_root, pid, "", path) || access(path, F_OK) != 0)
            return false;
        if (!has_file)
            has_file = find(procfs_root, pid, is_own ? own_prefix : prefix, but) == PRESENT;
    }
    return has_file;
}
