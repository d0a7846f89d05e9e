#include "process_signal.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Field 22 of its stat; 0: it is not there. The name in field 2 may hold anything. */
static uint64_t start_of(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    uint64_t start = 0;
    return at && sscanf(at, " %" SCNu64, &start) == 1 ? start : 0;
}

static int send_by(int fd, const struct process_id *process, int number, struct gput_error *error)
{
    /* The pidfd was opened first: if the process is still the same now, it is of that one. */
    if (start_of(process->pid) != process->start_ticks)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Process %d has ended.", (int)process->pid);
    if (syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) == 0)
        return GPUT_OK;
    if (errno == EPERM)
        return error_set(
            error, GPUT_ERROR_PERMISSION, "Process %d belongs to another user.", (int)process->pid);
    if (errno == ESRCH)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Process %d has ended.", (int)process->pid);
    return error_set(error, GPUT_ERROR_IO, "Process %d cannot be signalled: %s.", (int)process->pid,
        strerror(errno));
}

int process_signal_send(const struct process_id *process, int number, struct gput_error *error)
{
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (fd < 0 && errno == ESRCH)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Process %d has ended.", (int)process->pid);
    if (fd < 0)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "No signal is sent: this kernel cannot prove which process %d is.", (int)process->pid);
    int code = send_by(fd, process, number, error);
    close(fd);
    return code;
}
