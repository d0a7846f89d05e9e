#include "machine/os/own_cgroup.h"

#include "base/random.h"
#include "base/str.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_PREFIX "gpu-tracker-"
#define SUFFIX_LENGTH 16
#define MAKE_TRIES 3
/* The kernel releases a group a moment after its last process. */
#define REMOVE_TRIES 50
#define REMOVE_PAUSE_US 1000
/* Nested trackers; deeper nesting could only be an attempt to exhaust our stack. */
#define MAX_NESTED 32

/* ---- abandoned ones ---- */

static bool is_of_a_tracker(const char *name)
{
    return strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0;
}

/* Does it belong to a tracker that has ended? A living one holds a lock on its directory, which is
 * visible from every pid namespace. */
static bool is_abandoned(const char *name, int directory_fd)
{
    if (!is_of_a_tracker(name))
        return false;
    const char *number = name + strlen(NAME_PREFIX);
    const char *end = number + strspn(number, "0123456789");
    bool is_ours = end > number && *end == '-' &&
                   strspn(end + 1, "0123456789abcdef") == SUFFIX_LENGTH &&
                   end[1 + SUFFIX_LENGTH] == '\0';
    return is_ours && flock(directory_fd, LOCK_EX | LOCK_NB) == 0;
}

/* Opens a group to list those below it. NULL: there are none (it has two links), or they cannot be
 * listed. */
static DIR *open_group(const char *path, int depth)
{
    struct stat info;
    if (depth >= MAX_NESTED || stat(path, &info) != 0 || info.st_nlink == 2)
        return NULL;
    return opendir(path);
}

/* Removes the groups that the command made below `path`, the innermost first. One in which
 * something runs still stays, and with it those around it. */
static void remove_made_below(const char *path, int depth)
{
    DIR *directory = open_group(path, depth);
    if (!directory)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        struct str below = {0};
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || is_of_a_tracker(entry->d_name))
            continue;
        str_printf(&below, "%s/%s", path, entry->d_name);
        if (!below.failed) {
            remove_made_below(below.data, depth + 1);
            rmdir(below.data);
        }
        str_finish(&below);
    }
    closedir(directory);
}

/* Moves all processes of a group to another. */
static void move_processes(const char *from, int procs_fd)
{
    struct pid_vector processes = {0};
    if (cgroup_processes_read(from, &processes, NULL) == GPUT_OK) {
        /* 0 stands for a process outside our pid namespace; writing it would move ourselves. */
        for (size_t i = 0; i < processes.count; i++)
            if (processes.pids[i] > 0)
                dprintf(procs_fd, "%d", (int)processes.pids[i]);
    }
    pid_vector_finish(&processes);
}

/*
 * Removes groups that killed trackers left below `parent`, the innermost first. Their processes are
 * moved through `procs_fd`; where that is -1, a group in use stays.
 */
static void remove_abandoned(const char *parent, int procs_fd, int depth)
{
    DIR *directory = open_group(parent, depth);
    if (!directory)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        const char *name = entry->d_name;
        if (!is_of_a_tracker(name))
            continue;
        int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        int fd = openat(dirfd(directory), name, flags);
        struct str path = {0};
        str_printf(&path, "%s/%s", parent, name);
        if (fd >= 0 && !path.failed && is_abandoned(name, fd)) {
            remove_abandoned(path.data, procs_fd, depth + 1);
            if (procs_fd >= 0)
                move_processes(path.data, procs_fd);
            remove_made_below(path.data, depth);
            rmdir(path.data);
        }
        str_finish(&path);
        if (fd >= 0)
            close(fd);
    }
    closedir(directory);
}

/* ---- making ---- */

/* Gives 0 or an errno. */
static int make(struct own_group *group, const char *parent, pid_t pid)
{
    uint64_t suffix = 0;
    random_fill(&suffix, sizeof suffix);
    struct str path = {0};
    str_printf(&path, "%s/" NAME_PREFIX "%d-%0*" PRIx64, parent, (int)pid, SUFFIX_LENGTH, suffix);
    char *made = str_steal(&path);
    if (!made)
        return ENOMEM;
    int fd = -1, failure = 0;
    if (mkdir(made, 0755) == 0) {
        fd = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        /* Until it is locked another tracker may consider it abandoned and remove it. */
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && access(made, F_OK) == 0) {
            *group = (struct own_group){.path = made, .directory_fd = fd};
            return 0;
        }
        failure = errno;
        rmdir(made);
    } else {
        failure = errno;
    }
    if (fd >= 0)
        close(fd);
    free(made);
    return failure;
}

/* Makes a group below a parent, after removing abandoned ones. */
static int make_below(struct own_group *group, const struct cgroup_directory *parent, pid_t pid)
{
    remove_abandoned(parent->path, -1, 0);
    int failure = make(group, parent->path, pid);
    for (int i = 1; i < MAKE_TRIES && failure != 0; i++)
        failure = make(group, parent->path, pid);
    return failure;
}

void own_cgroup_create(struct own_cgroup *own, const struct cgroup *here, pid_t pid)
{
    *own = (struct own_cgroup){0};
    bool is_v1 = here->memory.path && !here->memory.is_v2;
    if (!is_v1 && !here->unified.path) {
        text_fit(own->why_not, sizeof own->why_not, "no control group counts memory here");
        return;
    }
    int failure = here->unified.path ? make_below(&own->v2, &here->unified, pid) : 0;
    /* In version 1 use only memory: a group in the cpu hierarchy would change the scheduling. */
    if (is_v1)
        failure = make_below(&own->v1, &here->memory, pid);
    if (failure != 0)
        text_fit(own->why_not, sizeof own->why_not, "no control group can be made here: %s",
            strerror(failure));
}

/* ---- entering ---- */

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

/* Forks into the group, without handlers of signals; -1: there is no group. */
static pid_t fork_into(int directory_fd)
{
    struct clone_args arguments = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
    if (directory_fd >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (uint64_t)directory_fd;
    }
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

/* Writes one byte to a file of the group. */
static bool write_file(const struct own_group *group, const char *file, char byte)
{
    if (!group->path)
        return false;
    int fd = openat(group->directory_fd, file, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_written = write(fd, &byte, 1) == 1;
    close(fd);
    return is_written;
}

/* Moves this process into the group; own_cgroup_usage() checks whether that worked. */
static void enter(const struct own_group *group, const char *file)
{
    write_file(group, file, '0');
}

pid_t own_cgroup_fork(struct own_cgroup *own, bool *without_handlers)
{
    pid_t child = own && own->v2.path ? fork_into(own->v2.directory_fd) : -1;
    bool is_in_v2 = child >= 0;
    if (!is_in_v2)
        child = fork_into(-1);
    *without_handlers = child >= 0;
    if (child < 0)
        child = fork();
    if (own)
        own->entry_bytes = (own->v2.path && !is_in_v2) + (own->v1.path != NULL);
    if (child != 0 || !own)
        return child;
    if (!is_in_v2)
        enter(&own->v2, "cgroup.procs");
    /*
     * A fork has one thread. Moving a thread avoids the system-wide lock over forks that moving a
     * process takes: about 10 ms, an RCU grace period.
     */
    enter(&own->v1, "tasks");
    return child;
}

/* ---- using ---- */

/* Returns NaN for 0: any process in a group uses some, so 0 means that there was none. */
static double unless_zero(double figure)
{
    return figure > 0 ? figure : NAN;
}

/* Returns the directory that counts memory. */
static struct cgroup_directory memory_directory(const struct own_cgroup *own)
{
    bool is_v1 = own->v1.path != NULL;
    return (struct cgroup_directory){.path = is_v1 ? own->v1.path : own->v2.path, .is_v2 = !is_v1};
}

/* Reads usage of the group. What is still 0 was not counted. */
static void read_usage(
    const struct own_cgroup *own, const char *cpu_path, struct cgroup_usage *usage)
{
    struct cgroup cgroup = {
        .memory = memory_directory(own), .cpuacct = {.path = (char *)cpu_path, .is_v2 = true}};
    cgroup_usage_read(&cgroup, usage);
    usage->memory_peak_bytes = unless_zero(usage->memory_peak_bytes);
    usage->cpu_seconds = unless_zero(usage->cpu_seconds);
}

void own_cgroup_usage(const struct own_cgroup *own, struct cgroup_usage *usage)
{
    read_usage(own, own->v2.path, usage);
}

void own_cgroup_charged(const struct own_cgroup *own, struct cgroup_usage *usage)
{
    read_usage(own, NULL, usage);
}

void own_cgroup_memory(const struct own_cgroup *own, struct cgroup_memory *memory)
{
    struct cgroup_directory directory = memory_directory(own);
    if (directory.path)
        cgroup_memory_read(directory.path, directory.is_v2, memory);
    else
        *memory = (struct cgroup_memory){NAN, NAN};
}

/* Counts kills for lack of memory. Nothing was charged if the command could not enter the group. */
double own_cgroup_oom_kills(const struct own_cgroup *own)
{
    struct cgroup_directory directory = memory_directory(own);
    struct cgroup_usage usage;
    own_cgroup_charged(own, &usage);
    return isnan(usage.memory_peak_bytes) && isnan(unless_zero(usage.memory_current_bytes))
               ? NAN
               : cgroup_oom_kills_read(&directory);
}

bool own_cgroup_has_living(const struct own_cgroup *own)
{
    char text[128] = "";
    int fd =
        own->v2.path ? openat(own->v2.directory_fd, "cgroup.events", O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    (void)!read(fd, text, sizeof text - 1);
    close(fd);
    return strstr(text, "populated 1") != NULL;
}

bool own_cgroup_kill(const struct own_cgroup *own)
{
    return write_file(&own->v2, "cgroup.kill", '1');
}

/* ---- removing ---- */

static bool is_in_use(int failure)
{
    return failure == EBUSY || failure == ENOTEMPTY;
}

/* Removes a group. Processes that are still in it are moved to its parent first. */
static bool empty_and_remove(const char *path)
{
    for (int i = 0; i < REMOVE_TRIES; i++) {
        if (rmdir(path) == 0)
            return true;
        if (!is_in_use(errno))
            return false;

        /* Move its processes, and those of groups that killed trackers left below it, to its
         * parent. */
        struct str procs = {0};
        str_append_bytes(&procs, path, (size_t)(strrchr(path, '/') - path));
        str_append(&procs, "/cgroup.procs");
        int procs_fd = procs.failed ? -1 : open(procs.data, O_WRONLY | O_CLOEXEC);
        remove_abandoned(path, procs_fd, 0);
        if (procs_fd >= 0) {
            move_processes(path, procs_fd);
            close(procs_fd);
        }
        str_finish(&procs);

        remove_made_below(path, 0);
        usleep(REMOVE_PAUSE_US);
    }
    return false;
}

/* Removes a group and its abandoned parents, and releases the lock. */
static void remove_group(struct own_group *group)
{
    if (!group->path)
        return;
    bool is_removed = empty_and_remove(group->path);
    close(group->directory_fd); /* this releases the lock */
    if (is_removed) {
        /* Remove groups around `path` of trackers that ended while it was in use; truncates `path`.
         */
        char *path = group->path;
        is_removed = true;
        while (is_removed) {
            *strrchr(path, '/') = '\0';
            const char *name = strrchr(path, '/');
            int fd = name ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
            is_removed = fd >= 0 && is_abandoned(name + 1, fd) && empty_and_remove(path);
            if (fd >= 0)
                close(fd);
        }
    }

    free(group->path);
    *group = (struct own_group){0};
}

void own_cgroup_remove(struct own_cgroup *own)
{
    remove_group(&own->v1);
    remove_group(&own->v2);
}
