#include "process/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Resets handlers as execve() will: a signal that arrives before it must act on the child as it
 * will on the program, and not be caught by a handler of ours.
 */
static void reset_handlers(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(number, SIG_DFL);
    }
}

/* In the child: sends an errno through the pipe, which execve() closes when it succeeds. */
static void exec_in_child(char *const argv[], const sigset_t *mask, int report_fd)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    int failure = errno;
    ssize_t done = write(report_fd, &failure, sizeof failure);
    (void)done;
    _exit(127);
}

static int set_exec_error(int failure, const char *name, struct gput_error *error)
{
    if (failure == ENOENT || failure == ENOTDIR)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Command not found: \"%s\"", name);
    if (failure == EACCES || failure == EISDIR)
        return error_set(error, GPUT_ERROR_PERMISSION,
            "Command not executable: \"%s\". Is it a program, with the execute permission set?",
            name);
    return error_set_errno_as(
        error, GPUT_ERROR_PERMISSION, failure, "Command not executable: \"%s\"", name);
}

/* 0 when execve() succeeded, else its errno. */
static int wait_for_exec(int report_fd)
{
    int failure = 0;
    ssize_t got;
    do
        got = read(report_fd, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof failure ? failure : 0;
}

int launch(char *const argv[], struct own_cgroup *cgroup, pid_t *pid, struct gput_error *error)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return error_set_errno(error, errno, "Cannot start %s", argv[0]);
    /* When standard streams are closed, the pipe must not become one of the command's. */
    int report_fd = fcntl(report[1], F_DUPFD_CLOEXEC, 3);
    close(report[1]);
    if (report_fd < 0) {
        int code = error_set_errno(error, errno, "Cannot start %s", argv[0]);
        close(report[0]);
        return code;
    }

    sigset_t all;
    sigset_t mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    bool without_handlers;
    pid_t child = own_cgroup_fork(cgroup, &without_handlers);
    if (child == 0 && !without_handlers)
        reset_handlers();
    if (child == 0)
        exec_in_child(argv, &mask, report_fd);
    int fork_error = errno;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    close(report_fd);
    int failure = child > 0 ? wait_for_exec(report[0]) : 0;
    close(report[0]);

    if (child < 0)
        return error_set_errno(error, fork_error, "Cannot start %s", argv[0]);
    if (failure != 0) {
        waitpid(child, NULL, 0);
        return set_exec_error(failure, argv[0], error);
    }
    *pid = child;
    return GPUT_OK;
}
