#include "machine/os/cpu_clock.h"

#include "base/clock.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel's id of a process's CPU clock. glibc's clock_getcpuclockid() computes the same, after
 * a system call that checks whether the process exists. */
#define PROCESS_CPU_CLOCK(pid) ((clockid_t)((~(unsigned)(pid) << 3) | 2))

/* Reads a CPU clock by the system call: the C library is no faster, and libfaketime's version gives
 * no CPU time. */
static int read_clock(clockid_t clock, struct timespec *time)
{
#ifdef __LP64__
    return (int)syscall(SYS_clock_gettime, clock, time);
#else /* the call takes another struct where time_t has 64 bits */
    return clock_gettime(clock, time);
#endif
}

int cpu_clock_read(pid_t pid, int64_t *ns)
{
    struct timespec time;

    /* Pid 0 would be the caller. */
    if (pid <= 0 || read_clock(PROCESS_CPU_CLOCK(pid), &time) != 0)
        return GPUT_ERROR_GONE;
    *ns = clock_ns_of_timespec(time);
    return GPUT_OK;
}

bool cpu_clock_usable(const char *procfs_root)
{
    char path[PROCFS_PATH_SIZE];
    char target[32];
    uint64_t pid;

    if (!procfs_path(procfs_root, PROCFS_SYSTEM, "self", path))
        return false;
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    const char *end = scan_uint64(target, &pid);
    if (!end || *end != '\0' || pid != (uint64_t)getpid())
        return false;
    /* An outer namespace may give us the same pid; there NSpid lists more than one. */
    struct proc_status status;
    int code = proc_status_read(procfs_root, (pid_t)pid, &status, NULL);
    return code != GPUT_OK || status.namespace_count <= 1;
}
