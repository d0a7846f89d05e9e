#include "machine/process/launch.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signal state of the child. */
struct launch_signals {
    sigset_t mask;
    bool are_reset; /* no handler of ours is left */
};

/* In the child: waits for a byte from `go`, or the end of the tracker. Sends an errno through
 * `report_fd`, which execve() closes when it succeeds. */
static void exec_in_child(char *const argv[], char *const environment[],
    const struct launch_options *options, const struct launch_signals *signals, const int go[2],
    int report_fd)
{
    char byte;
    if (!signals->are_reset) {
        /*
         * Reset handlers as execve() will. A signal that arrives earlier must act on the child as
         * on the program, and must not reach a handler of ours.
         */
        for (int number = 1; number < NSIG; number++) {
            struct sigaction action;
            if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
                signal(number, SIG_DFL);
        }
    }
    if (options->ignores_sigchld)
        signal(SIGCHLD, SIG_IGN);
    if (options->streams) {
        /* In the child: gives it other standard streams. They are 3 or more, so that none is
         * overwritten.
         */
        for (int fd = 0; fd < 3; fd++) {
            if (options->streams[fd] >= 0)
                dup2(options->streams[fd], fd);
        }
    }
    close(go[1]);
    while (read(go[0], &byte, 1) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
    execvpe(argv[0], argv, environment);
    int failure = errno;
    ssize_t done = write(report_fd, &failure, sizeof failure);
    (void)done;
    _exit(127);
}

/* Opens what execvp() tried last: the file itself, or the first of that name in PATH. -1: none. */
static int open_program(const char *name)
{
    const char *folders = strchr(name, '/') ? NULL : getenv("PATH");
    int fd = folders ? -1 : open(name, O_RDONLY | O_CLOEXEC);
    for (const char *at = folders ? folders : ""; fd < 0 && *at;) {
        char path[PATH_MAX];
        size_t length = strcspn(at, ":");
        text_fit(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (length > 0 && access(path, X_OK) == 0)
            fd = open(path, O_RDONLY | O_CLOEXEC);
        at += length + (at[length] == ':');
    }
    return fd;
}

/* The file may be there, and what it needs to run is not: a script of a folder that was moved, or a
 * program of another C library. */
static int set_not_found(const char *name, struct gput_error *error)
{
    char start[256] = "";
    int fd = open_program(name);
    ssize_t length = fd >= 0 ? read(fd, start, sizeof start - 1) : -1;
    if (fd >= 0)
        close(fd);
    const char *interpreter = start + 2 + strspn(start + 2, " \t");
    size_t size = strcspn(interpreter, " \t\r\n");
    bool is_script = length > 2 && text_begins_with(start, "#!");
    if (is_script && interpreter[size] == '\r')
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "Command not found: \"%s\" exists, but its shebang line ends with a carriage return, "
            "as in Windows",
            name);
    if (is_script)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "Command not found: \"%s\" exists, but its interpreter \"%.*s\" does not", name,
            (int)size, interpreter);
    if (length > 0 && text_begins_with(start, "\177ELF"))
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "Command not found: \"%s\" exists, but the loader that it needs does not: it was built "
            "for another C library or machine",
            name);
    return error_set(error, GPUT_ERROR_NOT_FOUND, "Command not found: \"%s\"", name);
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

/* Two pipes that execve() closes. */
static int open_pipes(int report[2], int go[2])
{
    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    /* When standard streams are closed, the pipe must not become one of the command's. */
    int report_fd = fcntl(report[1], F_DUPFD_CLOEXEC, 3);
    int failure = report_fd < 0 ? errno : 0;
    close(report[1]);
    report[1] = report_fd;
    if (!failure && pipe2(go, O_CLOEXEC) != 0) {
        failure = errno;
        close(report_fd);
    }
    if (failure)
        close(report[0]);
    return failure;
}

/* Never PERMISSION or NOT_FOUND: these are for a command that is not executable, or missing. */
static int set_start_error(int failure, const char *name, struct gput_error *error)
{
    enum gput_code code = error_code_of_errno(failure);
    if (code != GPUT_ERROR_MEMORY && code != GPUT_ERROR_FILES)
        code = GPUT_ERROR_IO;
    return error_set_errno_as(error, code, failure, "Cannot start %s", name);
}

int launch_begin(char *const argv[], char *const environment[], struct own_cgroup *cgroup,
    const struct launch_options *options, struct launch *launch, struct gput_error *error)
{
    int report[2], go[2];
    int failure = open_pipes(report, go);
    if (failure)
        return set_start_error(failure, argv[0], error);

    sigset_t all;
    struct launch_signals signals = {0};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &signals.mask);
    pid_t child = own_cgroup_fork(cgroup, &signals.are_reset);
    if (child == 0)
        exec_in_child(argv, environment, options, &signals, go, report[1]);
    failure = errno;
    pthread_sigmask(SIG_SETMASK, &signals.mask, NULL);
    close(report[1]);
    if (child < 0) {
        close(report[0]);
        close(go[0]);
        close(go[1]);
        return set_start_error(failure, argv[0], error);
    }
    *launch = (struct launch){
        .pid = child, .name = argv[0], .go = {go[0], go[1]}, .report_fd = report[0]};
    return GPUT_OK;
}

int launch_exec(struct launch *launch, struct gput_error *error)
{
    /* Not by closing it: a process that another thread forks may have it open, too. */
    ssize_t done = write(launch->go[1], "", 1);
    (void)done;
    close(launch->go[0]);
    close(launch->go[1]);
    int failure = wait_for_exec(launch->report_fd);
    close(launch->report_fd);
    if (failure == 0)
        return GPUT_OK;
    waitpid(launch->pid, NULL, 0);
    const char *name = launch->name;
    if (failure == ENOENT || failure == ENOTDIR)
        return set_not_found(name, error);
    if (failure == EACCES || failure == EISDIR)
        return error_set(error, GPUT_ERROR_PERMISSION,
            "Command not executable: \"%s\". Is it a program, with the execute permission set?",
            name);
    return error_set_errno_as(
        error, GPUT_ERROR_PERMISSION, failure, "Command not executable: \"%s\"", name);
}
