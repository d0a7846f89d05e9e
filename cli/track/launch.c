/*
 * The command runs in gpu-tracker's process group, with its standard streams, as if gpu-tracker
 * were not there.
 *
 * Signals. What a terminal sends (Ctrl-C, Ctrl-\, a new window size) reaches the command directly.
 * What another process sends to gpu-tracker alone is meant for the command and is passed on.
 * si_code distinguishes the two. What the command or a descendant sends (`kill 0` in a script) has
 * reached the command already. A signal of another process to the whole process group cannot be
 * distinguished from one to gpu-tracker alone; the command then gets it twice. When gpu-tracker
 * leads the session, it alone gets a hang-up of the terminal, and passes it on.
 *
 * Ctrl-C. After the first one gpu-tracker keeps waiting: the command decides what it means, and the
 * report is printed when it ends. A second one within ten seconds ends gpu-tracker at once, with
 * the report so far.
 *
 * Job control. gpu-tracker never stops by itself: Ctrl-Z stops the command unless the command
 * handles it, and then gpu-tracker stops the same way, so that the shell sees the job stopped. When
 * gpu-tracker is continued, it continues the command. If the command is stopped by its pid in the
 * background, tracking goes on, since no user would know to continue gpu-tracker.
 */
#include "track/launch.h"

#include "base/clock.h"
#include "base/error.h"
#include "common/environment.h"
#include "track/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Two SIGINTs closer than this are one (timeout(1) signals gpu-tracker and its group). Two farther
 * apart than SECOND_INTERRUPT_MS each count as a first one (Ctrl-C in an interactive program). */
#define SAME_INTERRUPT_MS 50
#define SECOND_INTERRUPT_MS 10000
/* Between two polls of what outlives the command while it is being ended. */
#define POLL_MS 50

/* One command and what is known about it. */
struct follower {
    struct gput_session *session;
    struct signals signals;
    const struct display *display;
    pid_t pid;
    int stopped_by;       /* the signal that stopped the command; 0: it runs */
    bool stop_requested;  /* gpu-tracker was sent a stop signal since it last ran */
    int64_t interrupt_ms; /* when the last SIGINT came; 0: never */
    struct launch_end *end;
};

/* The parent of a process, or 0. */
static pid_t parent_of(pid_t pid)
{
    char path[4096];
    char line[512];
    const char *procfs = environment_path("GPUT_PROCFS");
    snprintf(path, sizeof path, "%s/%d/stat", procfs && procfs[0] ? procfs : "/proc", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    const char *name_end = strrchr(line, ')'); /* the name may hold anything, blanks too */
    int parent = 0;
    if (!name_end || sscanf(name_end + 1, " %*c %d", &parent) != 1)
        return 0;
    return parent;
}

static bool is_command_or_descendant(const struct follower *follower, pid_t pid)
{
    while (pid > 1 && pid != follower->pid && pid != getpid())
        pid = parent_of(pid);
    return pid == follower->pid;
}

/* True when it has, while others that it started are still being ended for a limit. */
static bool command_has_ended(const struct follower *follower)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)follower->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

static bool is_stop_signal(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* See the head of this file. */
static bool is_to_be_forwarded(const struct follower *follower, const struct signal_event *event)
{
    if (event->number == SIGCHLD || event->sender == getpid()) /* SIGPIPE of what we write */
        return false;
    if (event->from_terminal)
        return (event->number == SIGHUP || event->number == SIGCONT) && getsid(0) == getpid();
    return !is_command_or_descendant(follower, event->sender);
}

/* Learns whether the command stopped or continued. */
static void check_stops(struct follower *follower)
{
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)follower->pid, &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
           info.si_pid != 0) {
        follower->stopped_by = info.si_code == CLD_STOPPED ? info.si_status : 0;
        info.si_pid = 0;
    }
}

/* Returns whether the terminal is that of our process group. */
static bool is_in_foreground(void)
{
    int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (terminal < 0)
        return false;
    bool foreground = tcgetpgrp(terminal) == getpgrp();
    close(terminal);
    return foreground;
}

/* Stops this process when the terminal stopped the command, and continues the command afterwards.
 */
static void follow_stop(struct follower *follower)
{
    check_stops(follower);
    if (!follower->stopped_by || (!follower->stop_requested && !is_in_foreground()))
        return;
    display_suspend(follower->display);
    signals_do_to_self(follower->stopped_by);
    display_resume(follower->display);
    follower->stop_requested = false;
    check_stops(follower);
    if (follower->stopped_by)
        kill(follower->pid, SIGCONT);
    follower->stopped_by = 0;
}

/*
 * A limit of CPU time (`ulimit -t`) is for each process: the command has its own, and gpu-tracker's
 * is for the tracker's work. We go on to a second before the hard limit, at which the kernel kills,
 * and then write the report so far and only wait. False: that moment has come.
 */
static bool raise_cpu_limit(void)
{
    struct rlimit limit;
    struct timespec used;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max < 2 ||
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
        return false;
    rlim_t max_seconds = limit.rlim_max == RLIM_INFINITY ? RLIM_INFINITY : limit.rlim_max - 1;
    if ((rlim_t)used.tv_sec >= max_seconds)
        return false;
    limit.rlim_cur = max_seconds; /* which the kernel raises by a second at each signal */
    return setrlimit(RLIMIT_CPU, &limit) == 0;
}

/* Forwards a signal to the command, and remembers what it asks of the tracker. */
static void handle_signal(struct follower *follower, const struct signal_event *event)
{
    if (signals_asks_to_end(event->number) && !is_command_or_descendant(follower, event->sender))
        follower->end->asked_by = event->number;
    if (event->number == SIGINT) {
        int64_t now = clock_monotonic_ms();
        if (follower->interrupt_ms && now - follower->interrupt_ms < SECOND_INTERRUPT_MS) {
            follower->end->abandoned = true;
            follower->end->killed_by = SIGINT;
        }
        follower->interrupt_ms = now;
    }
    if (event->number == SIGXCPU && event->from_terminal && !raise_cpu_limit())
        follower->end->goes_on = follower->end->abandoned = true;
    if (is_stop_signal(event->number))
        follower->stop_requested = true;
    if (event->number == SIGCONT && !follower->stopped_by)
        return;
    if (is_to_be_forwarded(follower, event))
        signals_forward(event, follower->pid);
    if (event->number == SIGINT) {
        /*
         * Take the SIGINTs that come at the same moment as one that was handled: all that are there
         * when that moment is over, however late this thread runs. A busy machine may run it long
         * after the second one came.
         */
        const struct timespec moment = {.tv_nsec = SAME_INTERRUPT_MS * 1000000L}, none = {0};
        sigset_t interrupt;
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        nanosleep(&moment, NULL);
        while (sigtimedwait(&interrupt, NULL, &none) == SIGINT)
            ;
    }
}

/* Waits until the command ended or is abandoned. */
static int follow(struct follower *follower, struct gput_error *error)
{
    for (;;) {
        bool ended = false;
        int code = gput_session_wait(follower->session, 0, &ended, &follower->end->status, error);
        if (code != GPUT_OK || ended || follower->end->abandoned)
            return code;
        follow_stop(follower);
        struct signal_event event;
        int timeout = follower->display->update(follower->display->user);
        if (command_has_ended(follower))
            timeout = POLL_MS;
        bool came = signals_next(&follower->signals, follower->display->fd, timeout, &event);
        /* All that is there, before polling the command: SIGCHLD is handed out before the stop
         * signal that caused it. */
        for (; came; came = signals_next(&follower->signals, -1, 0, &event)) {
            check_stops(follower);
            handle_signal(follower, &event);
        }
    }
}

int launch_start(struct gput_session *session, char *const argv[], struct signals *signals,
    struct gput_error *error)
{
    TRY(signals_catch(signals, error));
    return gput_session_launch(session, argv, error);
}

int launch_follow(struct gput_session *session, struct signals *signals,
    const struct display *display, struct launch_end *end, struct gput_error *error)
{
    *end = (struct launch_end){.stop_fd = -1};
    struct follower follower = {.session = session,
        .signals = *signals,
        .display = display,
        .pid = gput_session_pid(session),
        .end = end};
    signals_receive(&follower.signals);
    raise_cpu_limit();
    int code = follow(&follower, error);
    end->stop_fd = signals_release(&follower.signals, end->goes_on ? NULL : &end->asked_by);
    return code;
}

int launch_wait(pid_t pid, int stop_fd)
{
    int status;
    int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        struct pollfd events[] = {{.fd = pid_fd, .events = POLLIN}, {stop_fd, POLLIN, 0}};
        struct signal_event event;
        if (poll(events, 2, pid_fd < 0 ? POLL_MS : -1) > 0 && events[1].revents &&
            signals_take_stop(stop_fd, &event))
            signals_forward(&event, pid);
    }
    if (pid_fd >= 0)
        close(pid_fd);
    return ended == pid ? status : 0;
}
