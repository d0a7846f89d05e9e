#include "os/own_cgroup.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_PREFIX "gpu-tracker-"
/* The kernel lets go of a group a moment after its last process. */
#define REMOVE_TRIES 50
#define REMOVE_PAUSE_US 1000

/* ---- making ---- */

/* Removes what trackers that were killed have left; a directory in use refuses. */
static void remove_abandoned(const char *parent)
{
    DIR *directory = opendir(parent);
    if (!directory)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0)
            continue;
        pid_t pid = (pid_t)atol(entry->d_name + strlen(NAME_PREFIX));
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR);
    }
    closedir(directory);
}

static void make(struct own_cgroup *own, const char *parent, pid_t pid)
{
    struct str path = {0};
    str_printf(&path, "%s/" NAME_PREFIX "%d", parent, (int)pid);
    own->path = str_take(&path);
    if (!own->path)
        return;
    remove_abandoned(parent);
    if (mkdir(own->path, 0755) == 0)
        own->directory_fd = open(own->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own->directory_fd >= 0)
        return;
    snprintf(own->why_not, sizeof own->why_not, "no control group can be made here: %s",
        strerror(errno));
    rmdir(own->path);
    free(own->path);
    own->path = NULL;
}

void own_cgroup_create(struct own_cgroup *own, const struct cgroup *here, pid_t pid)
{
    *own = (struct own_cgroup){.directory_fd = -1};
    const struct cgroup_directory *parent = &here->memory;
    /* CPU time comes from wait4 too: it is not worth the cost of entering a version 1 group. */
    if (!parent->path && here->cpuacct.is_v2)
        parent = &here->cpuacct;
    if (!parent->path && here->unified.path)
        parent = &here->unified;
    if (!parent->path) {
        snprintf(own->why_not, sizeof own->why_not, "no control group counts memory here");
        return;
    }
    own->is_v2 = parent->is_v2;
    make(own, parent->path, pid);
}

/* ---- entering ---- */

static pid_t fork_into(int directory_fd)
{
    struct clone_args arguments = {
        .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)directory_fd};
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

/*
 * A fork has one thread. Where threads may be moved one by one, that spares the lock over all forks
 * of the machine that moving a process takes: some 10 ms, the time of an RCU grace period.
 */
static void enter(const struct own_cgroup *own)
{
    const char *file = own->is_v2 ? "cgroup.procs" : "tasks";
    int fd = openat(own->directory_fd, file, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t done = write(fd, "0", 1);
    (void)done; /* own_cgroup_usage() finds out */
    close(fd);
}

pid_t own_cgroup_fork(const struct own_cgroup *own)
{
    bool made = own && own->directory_fd >= 0;
    if (made && own->is_v2) {
        pid_t child = fork_into(own->directory_fd);
        if (child >= 0)
            return child;
    }
    pid_t child = fork();
    if (child == 0 && made)
        enter(own);
    return child;
}

/* ---- using ---- */

/* Whatever ran in a group used some: 0 says that nothing did. */
static double unless_zero(double figure)
{
    return figure > 0 ? figure : NAN;
}

void own_cgroup_usage(const struct own_cgroup *own, struct cgroup_usage *usage)
{
    struct cgroup_directory directory = {.path = own->path, .is_v2 = own->is_v2};
    struct cgroup cgroup = {.memory = directory};
    if (own->is_v2)
        cgroup.cpuacct = directory;
    cgroup_usage_read(&cgroup, usage);
    usage->memory_peak_bytes = unless_zero(usage->memory_peak_bytes);
    usage->cpu_seconds = unless_zero(usage->cpu_seconds);
}

/* ---- removing ---- */

static void move_back(const char *path)
{
    struct pid_vector processes = {0};
    struct str procs = {0};
    str_append_bytes(&procs, path, (size_t)(strrchr(path, '/') - path));
    str_append(&procs, "/cgroup.procs");
    int fd = procs.failed ? -1 : open(procs.data, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && cgroup_processes_read(path, &processes, NULL) == GPUT_OK) {
        for (size_t i = 0; i < processes.count; i++)
            dprintf(fd, "%d", (int)processes.pids[i]);
    }
    if (fd >= 0)
        close(fd);
    str_finish(&procs);
    pid_vector_finish(&processes);
}

void own_cgroup_remove(struct own_cgroup *own)
{
    if (own->directory_fd >= 0)
        close(own->directory_fd);
    own->directory_fd = -1;
    if (!own->path)
        return;
    for (int i = 0; i < REMOVE_TRIES && rmdir(own->path) != 0 && errno == EBUSY; i++) {
        move_back(own->path);
        usleep(REMOVE_PAUSE_US);
    }
    free(own->path);
    own->path = NULL;
}
