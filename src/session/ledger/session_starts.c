#include "session/ledger/session_starts.h"

#include "base/number.h"
#include "machine/os/procfs.h"
#include "machine/os/system_stat.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* The first pids are allocated only once, after boot. */
#define RESERVED_PIDS 300

/* A container may have emulated files mounted over these (lxcfs). */
static bool is_of_the_kernel(const char *procfs_root, const char *file)
{
    char path[PROCFS_PATH_SIZE];
    struct statfs system;
    procfs_path(procfs_root, PROCFS_SYSTEM, file, path);
    return statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* The kernel numbers the first pid namespace so. */
#define INITIAL_PID_NAMESPACE 0xeffffffc

static bool is_initial_namespace(void)
{
    struct stat namespace;
    return stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino == INITIAL_PID_NAMESPACE;
}

void session_starts_read(const char *procfs_root, struct session_starts *starts)
{
    char text[PROCFS_TEXT_SIZE];
    struct loadavg loadavg;
    struct system_stat stat;
    *starts = (struct session_starts){0};
    if (!is_of_the_kernel(procfs_root, "stat") || !is_of_the_kernel(procfs_root, "loadavg") ||
        system_stat_read(procfs_root, &stat, NULL) != GPUT_OK)
        return;
    starts->is_known = true;
    starts->is_initial = is_initial_namespace();
    starts->started = stat.processes_started;
    if (loadavg_read(procfs_root, &loadavg, NULL) != GPUT_OK ||
        procfs_read(procfs_root, PROCFS_SYSTEM, "sys/kernel/pid_max", text, sizeof text, NULL,
            NULL) != GPUT_OK)
        return;
    starts->threads = loadavg.threads;
    starts->last_pid = (uint64_t)loadavg.last_pid;
    number_parse_uint64(text, text + strlen(text), &starts->pid_max);
}

/*
 * Pids are allocated in order, skipping those in use: they can only have wrapped around if as many
 * were allocated or in use as there are.
 */
static bool may_have_wrapped(const struct session_starts *before, uint64_t started)
{
    return before->pid_max == 0 || before->threads + 2 * started + RESERVED_PIDS >= before->pid_max;
}

/* Pids are given out in order: these must have been after the first reading. */
static bool are_chosen(const struct session_starts *before, const struct session_starts *after,
    struct found_pids found, uint64_t started)
{
    bool is_out_of_order = found.highest > 0 && ((uint64_t)found.lowest <= before->last_pid ||
                                                    (uint64_t)found.highest > after->last_pid);
    return is_out_of_order || (before->is_initial && after->last_pid - before->last_pid < started);
}

uint64_t session_starts_between(const struct session_starts *before,
    const struct session_starts *after, struct found_pids found, uint64_t min)
{
    uint64_t started = after->started - before->started;
    uint64_t given_out = after->last_pid - before->last_pid;
    if (!before->is_known || !after->is_known || after->started < before->started || started < min)
        return UINT64_MAX;
    bool is_whole = after->last_pid >= before->last_pid && given_out >= min &&
                    after->pid_max == before->pid_max && !may_have_wrapped(before, started) &&
                    !are_chosen(before, after, found, started);
    return is_whole && given_out < started ? given_out : started;
}
