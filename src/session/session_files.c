#include "session/session_files.h"

#include "machine/os/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The most that are kept: each has about 5 KB in the kernel. */
#define MAX_KEPT 20000
/* The limit that is asked for: as many descriptors again stay free for everything else. */
#define WANTED_LIMIT (2 * MAX_KEPT + 1000)
/* Of what is left to gpu-tracker itself: drivers of GPUs open dozens. */
#define LEFT_SHARE 8
#define MIN_LEFT 64
/* The fewest with which a command can be tracked: a pipe while it is started, then its files. */
#define MIN_FILES 5

/* Counts the descriptors that are open; returns the limit where that is not known. Since Linux 6.2
 * the folder's size says it. */
static rlim_t open_files(rlim_t limit)
{
    int fd;
    struct stat info;
    struct pid_vector numbers = {0};
    if (stat("/proc/self/fd", &info) == 0 && info.st_size > 0)
        return (rlim_t)info.st_size;
    if (procfs_open("/proc", PROCFS_SYSTEM, "self/fd", &fd, NULL) != GPUT_OK)
        return limit;
    rlim_t count = procfs_list_fd(fd, &numbers) == GPUT_OK ? numbers.count : limit;
    close(fd);
    pid_vector_finish(&numbers);
    return count;
}

unsigned session_files_kept(bool raises_limit)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    rlim_t open = open_files(limit.rlim_cur);
    rlim_t wanted = limit.rlim_max < WANTED_LIMIT ? limit.rlim_max : WANTED_LIMIT;
    struct rlimit raised = {.rlim_cur = wanted, .rlim_max = limit.rlim_max};
    if (raises_limit && limit.rlim_cur < wanted && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    rlim_t free = limit.rlim_cur > open ? limit.rlim_cur - open : 0;
    rlim_t left = free / LEFT_SHARE > MIN_LEFT ? free / LEFT_SHARE : MIN_LEFT;
    if (!raises_limit || left >= free / 2)
        left = free - free / 2;
    rlim_t kept = free - left;
    return kept < MAX_KEPT ? (unsigned)kept : MAX_KEPT;
}

int session_files_check(struct gput_error *error)
{
    int files[MIN_FILES], count = 0;
    while (count < MIN_FILES && (files[count] = open("/", O_PATH | O_CLOEXEC)) >= 0)
        count++;
    int failure = errno;
    for (int i = 0; i < count; i++)
        close(files[i]);
    if (count == MIN_FILES)
        return GPUT_OK;
    return error_set_errno(error, failure,
        "Tracking needs %d more open files, and only %d are allowed (ulimit -n)", MIN_FILES, count);
}
