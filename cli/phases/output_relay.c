#include "output_relay.h"

#include "base/error.h"
#include "common/environment.h"
#include "output_pump.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Maximum number of descriptors that are checked. */
#define MAX_DESCRIPTORS 65536

/* ---- The process ---- */

struct job {
    struct output_relay *relay;
    const struct phase_matcher *matcher;
    const char *log;
    int control;
};

/* Whether the relay needs a descriptor. */
static bool is_kept(const struct job *job, int fd)
{
    bool is_used = fd == job->control;
    for (int i = 0; i < job->relay->n_streams; i++)
        is_used |= fd == job->relay->streams[i].source || fd == job->relay->streams[i].target;
    return is_used;
}

/* Closes a range of descriptors. */
static void close_from_to(int first, int last)
{
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
    for (int fd = first; fd <= last; fd++)
        close(fd);
}

/* Waits for the report that the command runs. Returns false if it was not started. `*pid` stays 0
 * if gpu-tracker was killed before it could report: its command may run. */
static bool wait_for_start(int control, pid_t *pid)
{
    pid_t sent;
    ssize_t got = recv(control, &sent, sizeof sent, MSG_WAITALL);
    *pid = got == sizeof sent ? sent : 0;
    return got != 1;
}

/* Runs the process of the relay, from its start to the end of the output. */
static void work(const struct job *job)
{
    struct gput_error error = {0};
    struct output_relay_result result = {.is_known = true};
    struct output_pump pumps = {.log = PHASE_LOG_NONE};
    pid_t pid;
    sigset_t blocked;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGBUS); /* raised by a log on a full disk, and handled by the library */
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    setsid(); /* it must not get the terminal's signals */
    prctl(PR_SET_NAME, "gpu-tracker-out");

    /* Close all other descriptors, so that locks and pipes of others end with their owners. */
    struct rlimit limit;
    int first = 0, last = 1024;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        last = limit.rlim_cur < MAX_DESCRIPTORS ? (int)limit.rlim_cur : MAX_DESCRIPTORS;
    for (int fd = 0; fd < last; fd++) {
        if (!is_kept(job, fd))
            continue;
        if (fd > first)
            close_from_to(first, fd - 1);
        first = fd + 1;
    }
    close_from_to(first, last);
    for (int i = 0; i < job->relay->n_streams; i++)
        job->relay->streams[i].command_end = -1;

    if (!wait_for_start(job->control, &pid))
        return;
    if (pid && phase_log_open(&pumps.log, job->log, pid, &error) != GPUT_OK)
        snprintf(result.message, sizeof result.message, "%.190s", error.message);
    if (!output_pump_start(&pumps, job->relay->streams, job->relay->n_streams, job->matcher))
        return;
    output_pump_wait(&pumps, job->control);
    phase_log_close(&pumps.log);
    result.n_phases = pumps.log.n_phases;
    result.failure = output_pump_failure(&pumps);
    send(job->control, &result, sizeof result, MSG_NOSIGNAL);
    close(job->control);
    output_pump_finish(&pumps);
}

/* ---- Starting it ---- */

/* Whether two descriptors are one open file, so that output to both keeps its order. */
static bool are_same(int one, int other)
{
    struct stat first, second;
    long order = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, one, other);
    if (order >= 0)
        return order == 0;
    return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Whether two descriptors are one stream; some programs open a terminal twice. */
static bool are_one_stream(int one, int other)
{
    struct stat first, second;
    return are_same(one, other) ||
           (isatty(one) && isatty(other) && fstat(one, &first) == 0 && fstat(other, &second) == 0 &&
               first.st_rdev == second.st_rdev);
}

/* Whether a descriptor was open at the start. Closed ones were opened by us, so that no file gets
 * their number; see main.c. */
static bool is_open_for_command(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC);
}

/* Opens the streams that the command writes to, one for both if both are the same file. */
static int open_streams(struct output_relay *relay, const int targets[3])
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (!is_open_for_command(fd))
            continue;
        if (relay->n_streams > 0 && are_one_stream(targets[fd], relay->streams[0].target)) {
            relay->stream_of[fd] = 0;
            continue;
        }
        int failure = output_stream_open(&relay->streams[relay->n_streams], targets[fd]);
        if (failure)
            return failure;
        relay->stream_of[fd] = relay->n_streams++;
    }
    return 0;
}

/* Starts the process of the relay by two forks, since a child of this process would count as one of
 * the command's. */
static int start_process(
    struct output_relay *relay, const struct phase_matcher *matcher, const char *log)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        environment_drop_rights();
        if (grandchild == 0)
            work(&(struct job){relay, matcher, log, ends[1]});
        _exit(grandchild < 0);
    }
    int failure = child < 0 ? errno : 0, status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    close(ends[1]);
    if (failure || status) {
        close(ends[0]);
        return failure ? failure : EAGAIN;
    }
    relay->control = ends[0];
    return 0;
}

/* Closes all streams. */
static void close_streams(struct output_relay *relay)
{
    for (int i = 0; i < relay->n_streams; i++)
        output_stream_close(&relay->streams[i]);
    relay->n_streams = 0;
}

int output_relay_start(struct output_relay *relay, const struct phase_matcher *matcher,
    const char *log, const int targets[3], struct gput_error *error)
{
    *relay = (struct output_relay){.control = -1, .stream_of = {-1, -1, -1}, .saved = {-1, -1, -1}};
    int failure = open_streams(relay, targets);
    if (failure == 0)
        failure = start_process(relay, matcher, log);
    if (failure) {
        close_streams(relay);
        return error_set(error, GPUT_ERROR_IO, "--phase-token: the output cannot be passed on: %s",
            strerror(failure));
    }
    for (int i = 0; i < relay->n_streams; i++) {
        close(relay->streams[i].source);
        relay->streams[i].source = -1;
    }
    return GPUT_OK;
}

/* ---- The command ---- */

void output_relay_give(struct output_relay *relay)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && relay->control >= 0; fd++) {
        if (relay->stream_of[fd] < 0)
            continue;
        relay->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (relay->saved[fd] >= 0)
            dup2(relay->streams[relay->stream_of[fd]].command_end, fd);
    }
}

void output_relay_take_back(struct output_relay *relay)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && relay->control >= 0; fd++) {
        if (relay->saved[fd] < 0)
            continue;
        dup2(relay->saved[fd], fd);
        close(relay->saved[fd]);
        relay->saved[fd] = -1;
    }
    for (int i = 0; i < relay->n_streams && relay->control >= 0; i++) {
        /* The end of a terminal stays open, for its size, and so that it does not hang up while the
         * command's processes replace each other. */
        if (!relay->streams[i].is_terminal)
            output_stream_close(&relay->streams[i]);
    }
}

void output_relay_begin(struct output_relay *relay, pid_t pid)
{
    if (relay->control >= 0)
        send(relay->control, &pid, sizeof pid, MSG_NOSIGNAL);
}

/* ---- The size of a terminal ---- */

/* Passes the size of the terminal on. The kernel signals the terminal's processes before the
 * pseudo-terminal has its new size, so they are signalled again. */
static int update(void *user)
{
    struct output_relay *relay = user;
    for (int i = 0; i < relay->n_streams; i++) {
        struct output_stream *stream = &relay->streams[i];
        if (output_stream_resize(stream) && tcgetpgrp(stream->target) == getpgrp())
            kill(0, SIGWINCH);
    }
    return relay->inner.update(relay->inner.user);
}

/* Suspends the command's display. */
static void suspend(void *user)
{
    display_suspend(&((struct output_relay *)user)->inner);
}

/* Resumes the command's display. */
static void resume(void *user)
{
    display_resume(&((struct output_relay *)user)->inner);
}

struct display output_relay_display(struct output_relay *relay, struct display inner)
{
    if (relay->control < 0)
        return inner;
    relay->inner = inner;
    return (struct display){
        .fd = inner.fd, .update = update, .suspend = suspend, .resume = resume, .user = relay};
}

/* ---- The end ---- */

/* Waits for the result. Updates the display meanwhile, since output goes there. Returns false if no
 * result came. */
static bool wait_for_result(const struct output_relay *relay, int stop_fd)
{
    for (;;) {
        int timeout = relay->inner.update ? relay->inner.update(relay->inner.user) : -1;
        struct pollfd events[] = {
            {.fd = relay->control, .events = POLLIN},
            {.fd = stop_fd, .events = POLLIN}, /* poll() skips negative descriptors */
            {.fd = relay->inner.update ? relay->inner.fd : -1, .events = POLLIN},
        };
        if (poll(events, 3, timeout) < 0 && errno != EINTR)
            return false;
        if (events[0].revents || events[1].revents)
            return events[0].revents != 0;
    }
}

void output_relay_end(struct output_relay *relay, int stop_fd, struct output_relay_result *result)
{
    struct output_relay_result got = {0};
    if (relay->control >= 0) {
        close_streams(relay);
        bool is_sent = send(relay->control, "", 1, MSG_NOSIGNAL) == 1;
        shutdown(relay->control, SHUT_WR);
        if (!is_sent || !wait_for_result(relay, stop_fd) ||
            recv(relay->control, &got, sizeof got, MSG_WAITALL) != sizeof got)
            got = (struct output_relay_result){0};
        close(relay->control);
        relay->control = -1;
    }
    if (result)
        *result = got;
}
