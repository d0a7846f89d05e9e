#include "common/screen.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Writes all bytes to a stream that may block. Returns errno of a failure, or 0. */
static int write_waiting(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno != EINTR)
            return errno;
        bytes += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/*
 * Writes to what has space for PIPE_BUF bytes. Of a pipe others can take that space first; its
 * descriptor is shared with them, so that it cannot be made non-blocking, but a single call can
 * be (older kernels: not).
 */
static ssize_t write_some(int fd, const char *bytes, size_t length, bool is_pipe)
{
    struct iovec part = {
        .iov_base = (void *)bytes, .iov_len = length < PIPE_BUF ? length : PIPE_BUF};
    if (is_pipe) {
        ssize_t done = syscall(SYS_pwritev2, fd, &part, 1, -1L, -1L, RWF_NOWAIT);
        if (done >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
            return done;
    }
    return write(fd, part.iov_base, part.iov_len);
}

/* 0 when `fd` has space, else an errno. */
static int wait_for_space(int fd, int stop_fd)
{
    struct pollfd events[] = {
        {.fd = fd, .events = POLLOUT},
        {.fd = stop_fd, .events = POLLIN}, /* poll() skips what is below 0 */
    };
    int ready;
    do
        ready = poll(events, 2, stop_fd == SCREEN_NEVER_WAITS ? 0 : -1);
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return errno;
    return events[0].revents ? 0 : ECANCELED;
}

int screen_write(int fd, const char *bytes, size_t length, int stop_fd)
{
    if (stop_fd == SCREEN_WAITS)
        return write_waiting(fd, bytes, length);
    struct stat info;
    bool is_pipe = fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
    while (length > 0) {
        int failure = wait_for_space(fd, stop_fd);
        if (failure)
            return failure;
        ssize_t done = write_some(fd, bytes, length, is_pipe);
        if (done < 0 && errno == EAGAIN && stop_fd == SCREEN_NEVER_WAITS)
            return ECANCELED;
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        bytes += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

bool screen_takes_escapes(int fd)
{
    const char *terminal = getenv("TERM");
    return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
}

bool screen_shows_progress(int fd)
{
    /* jupyter_client sets the one, ipykernel the other, whoever started it. */
    const char *backend = getenv("MPLBACKEND");
    bool is_notebook = getenv("JPY_PARENT_PID") || (backend && strstr(backend, "backend_inline"));
    return !is_notebook && screen_takes_escapes(fd);
}

unsigned screen_columns(int fd, unsigned otherwise)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}
