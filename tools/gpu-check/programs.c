#include "programs.h"

#include "monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_NS (2 * NS_PER_MS)
#define GRACE_S 10.0 /* between SIGTERM and SIGKILL, and after that */

void programs_init(struct programs *programs)
{
    memset(programs, 0, sizeof *programs);
    pthread_mutex_init(&programs->lock, NULL);
    programs->progressed_ns = monotonic_now_ns();
}

static void replace(struct programs *programs, pid_t from, pid_t to)
{
    pthread_mutex_lock(&programs->lock);
    for (int i = 0; i < MAX_PROGRAMS; i++)
        if (programs->running[i] == from) {
            programs->running[i] = to;
            break;
        }
    pthread_mutex_unlock(&programs->lock);
}

static void become(const char *log_path, const char *const *command)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    int null = open("/dev/null", O_RDONLY);
    if (log < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0)
        _exit(126);
    for (const char *const *word = command; *word; word++)
        dprintf(log, "%s%s", word == command ? "$ " : " ", *word);
    dprintf(log, "\n");
    close(log);
    close(null);
    execvp(command[0], (char *const *)command);
    dprintf(STDERR_FILENO, "%s: %s\n", command[0], strerror(errno));
    _exit(127);
}

pid_t programs_start(struct programs *programs, const char *log_path, const char *const *command)
{
    pid_t pid = fork();
    if (pid == 0)
        become(log_path, command);
    if (pid > 0)
        replace(programs, 0, pid);
    return pid;
}

/* It stays a zombie, so that its process group is still its own. */
static bool ends_within(struct programs *programs, pid_t pid, double seconds)
{
    uint64_t end_ns = monotonic_now_ns() + (uint64_t)(seconds * 1e9);
    for (;;) {
        siginfo_t info = {0};
        int code = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        programs->progressed_ns = monotonic_now_ns();
        if ((code == 0 && info.si_pid == pid) || (code < 0 && errno != EINTR))
            return true;
        if (programs->progressed_ns >= end_ns)
            return false;
        monotonic_sleep_until(programs->progressed_ns + POLL_NS);
    }
}

static int collect(struct programs *programs, pid_t pid)
{
    int status;
    kill(-pid, SIGKILL); /* what it left behind */
    pid_t collected = waitpid(pid, &status, WNOHANG);
    replace(programs, pid, 0);
    if (collected != pid)
        return PROGRAM_LOST;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Its session, or itself where it has not made one yet. */
static void signal_session(pid_t pid, int number)
{
    if (kill(-pid, number) != 0)
        kill(pid, number);
}

void programs_end(struct programs *programs, pid_t pid)
{
    if (pid <= 0)
        return;
    signal_session(pid, SIGTERM);
    if (!ends_within(programs, pid, GRACE_S)) {
        signal_session(pid, SIGKILL);
        ends_within(programs, pid, GRACE_S);
    }
    collect(programs, pid);
}

int programs_wait(struct programs *programs, pid_t pid, double seconds)
{
    if (pid <= 0)
        return PROGRAM_LOST;
    if (ends_within(programs, pid, seconds))
        return collect(programs, pid);
    programs_end(programs, pid);
    return PROGRAM_ENDED_LATE;
}

void programs_kill_all(struct programs *programs)
{
    pthread_mutex_lock(&programs->lock);
    for (int i = 0; i < MAX_PROGRAMS; i++)
        if (programs->running[i] > 0)
            kill(-programs->running[i], SIGKILL);
    pthread_mutex_unlock(&programs->lock);
}
