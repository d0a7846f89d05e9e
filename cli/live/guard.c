#include "guard.h"

#include "line_ends.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PART 4096

enum { WORD_END = 'e', WORD_GO_ON = 'g' };

/* The descriptors of the guard, from here on. */
enum { GUARD_PIPE = 3, GUARD_TERMINAL, GUARD_SPOOL, GUARD_MASTER, GUARD_COUNT };

/* False: there is no reader any more. */
static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        struct pollfd space = {.fd = fd, .events = POLLOUT};
        if (done < 0 && errno == EAGAIN)
            poll(&space, 1, -1);
        else if (done < 0 && errno != EINTR)
            return false;
        bytes += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static bool copy(struct line_ends *ends, const char *bytes, size_t length)
{
    char stripped[PART + 1];
    return write_all(GUARD_TERMINAL, stripped, line_ends_strip(ends, bytes, length, stripped));
}

/* Copies what is in the spool and was not shown to the terminal. */
static void replay(const struct guard_state *state, struct line_ends *ends)
{
    char bytes[PART];
    off_t at = (off_t)atomic_load(&state->replayed_bytes);
    ssize_t got;
    while ((got = pread(GUARD_SPOOL, bytes, sizeof bytes, at)) > 0) {
        if (!copy(ends, bytes, (size_t)got))
            return;
        at += got;
    }
}

/* Until no process has the other end open, or the terminal has hung up: then the command gets what
 * it would get from that. */
static void copy_output(struct line_ends *ends)
{
    char bytes[PART];
    for (;;) {
        struct pollfd sources[] = {{.fd = GUARD_MASTER, .events = POLLIN}, {.fd = GUARD_TERMINAL}};
        if ((poll(sources, 2, -1) < 0 && errno != EINTR) || sources[1].revents)
            return;
        ssize_t got = read(GUARD_MASTER, bytes, sizeof bytes);
        if (got > 0 ? !copy(ends, bytes, (size_t)got) : errno != EAGAIN && errno != EINTR)
            return;
    }
}

/* Waits for the end of gpu-tracker. If it was killed, the terminal is set back to what it was. */
static _Noreturn void run(
    int pipe_fd, const struct guard_state *state, const struct guard_options *options)
{
    struct termios before = *options->before;
    struct line_ends ends = line_ends_of(&before);
    bool has_master = options->master >= 0;
    setsid(); /* a signal to the group of gpu-tracker is not for the guard */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    /* Close all other descriptors: the guard may live longer than gpu-tracker, and must not keep a
     * pipe or a lock. */
    int wanted[GUARD_COUNT] = {
        -1, -1, -1, pipe_fd, options->terminal, options->spool, options->master};
    int copies[GUARD_COUNT];
    for (int i = GUARD_PIPE; i < GUARD_COUNT; i++)
        copies[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, GUARD_COUNT);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < GUARD_COUNT; i++) {
        int source = i < GUARD_PIPE ? null : copies[i];
        if (source < 0 || dup2(source, i) < 0)
            close(i);
    }
    if (syscall(SYS_close_range, (unsigned)GUARD_COUNT, UINT_MAX, 0) != 0)
        for (int fd = GUARD_COUNT; fd < 4096; fd++)
            close(fd);
    char word = 0;
    ssize_t got;
    do
        got = read(GUARD_PIPE, &word, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1 && word == WORD_END)
        _exit(0);
    if (got != 1) { /* gpu-tracker was killed */
        if (atomic_load(&state->is_shown))
            write_all(GUARD_TERMINAL, options->leave, strlen(options->leave));
        if (atomic_load(&state->has_settings))
            tcsetattr(GUARD_TERMINAL, TCSANOW, &before);
        replay(state, &ends);
    }
    if (has_master)
        copy_output(&ends);
    _exit(0);
}

bool guard_start(struct guard *guard, const struct guard_options *options)
{
    int ends[2];
    *guard = (struct guard){.fd = -1};
    void *state =
        mmap(NULL, sizeof *guard->state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        munmap(state, sizeof *guard->state);
        return false;
    }
    guard->state = state;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        run(ends[0], guard->state, options);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        munmap(state, sizeof *guard->state);
        guard->state = NULL;
        return false;
    }
    guard->pid = pid;
    guard->fd = ends[1];
    return true;
}

void guard_end(struct guard *guard, bool goes_on)
{
    if (!guard->state)
        return;
    char word = goes_on ? WORD_GO_ON : WORD_END;
    ssize_t done = write(guard->fd, &word, 1);
    (void)done;
    close(guard->fd);
    if (!goes_on)
        while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    munmap(guard->state, sizeof *guard->state);
    *guard = (struct guard){.fd = -1};
}
