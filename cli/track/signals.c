#include "track/signals.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef NSIG
#define NSIG 65
#endif

/*
 * What came between signals_catch() and signals_receive(). A handler has nowhere else to put it:
 * this is the only global state of the program.
 */
static struct {
    volatile sig_atomic_t came;
    volatile sig_atomic_t code;
    volatile sig_atomic_t sender;
} early[NSIG];

/* All that the kernel, a terminal or a person may send, and SIGCHLD, which says that the command
 * ended or stopped. Real-time signals are added in watched_signals(). */
static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
    SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGXCPU, SIGWINCH, SIGURG, SIGCONT, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGCHLD, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSTKFLT, SIGSYS, SIGTRAP, SIGPIPE,
    SIGXFSZ};

/* Of these, the ones with which the kernel ends a program for a fault of its own; a watchdog sends
 * them for a core dump. A fault of ours ends us although they are blocked. */
static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSTKFLT, SIGSYS, SIGTRAP};

/* What ends waiting for somebody to read a report. */
static const int stopping[] = {SIGTERM, SIGHUP};

/* How long a report waits for a reader when gpu-tracker is to end: less than what stops services
 * waits before it sends SIGKILL. */
#define LAST_SECONDS 5

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_fault(int number)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        if (faults[i] == number)
            return true;
    }
    return false;
}

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void do_nothing(int number)
{
    (void)number;
}

static void survive(int number)
{
    /* A handler, not SIG_IGN: exec() resets it, so that the command has the default action. */
    struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    if (!is_ignored(number))
        sigaction(number, &action, NULL);
}

/* The library's handler, which signals_catch() replaces. */
static struct sigaction bus_before;

void signals_survive_full_files(void)
{
    survive(SIGXFSZ);
}

void signals_survive_closed_pipes(void)
{
    survive(SIGPIPE);
}

/* Handles a signal that comes before the main thread waits for signals. */
static void note(int number, siginfo_t *info, void *context)
{
    if (info->si_code > 0 && number == SIGBUS && bus_before.sa_flags & SA_SIGINFO) {
        bus_before.sa_sigaction(number, info, context); /* of a mapped file that was cut */
        return;
    }
    if (info->si_code > 0 && is_fault(number)) { /* our own: it comes again, and ends us */
        signal(number, SIG_DFL);
        return;
    }
    /* The main thread receives what was sent. glibc has gettid() since 2.30 only. */
    if (syscall(SYS_gettid) != getpid()) {
        siginfo_t sent = *info;
        if (sent.si_code == SI_USER || sent.si_code == SI_TKILL)
            sent.si_code = SI_MESGQ; /* the kernel lets no thread pass on a kill() as one */
        syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), number, &sent);
        return;
    }
    early[number].code = info->si_code;
    early[number].sender = info->si_code <= 0 ? info->si_pid : 0;
    early[number].came = 1;
}

int signals_catch(struct signals *signals, struct gput_error *error)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    /* Watch signals that are not ignored. SIGCHLD is always among them: when it is ignored, the
     * kernel collects children itself, and how the command ended is lost. */
    sigemptyset(&signals->watched);
    for (size_t i = 0; i < COUNT(watched); i++) {
        if (watched[i] == SIGCHLD || !is_ignored(watched[i]))
            sigaddset(&signals->watched, watched[i]);
    }
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        if (!is_ignored(number))
            sigaddset(&signals->watched, number);
    }
    sigset_t set = signals->watched;
    signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    signals->ignored_children = is_ignored(SIGCHLD);
    if (signals->fd < 0) {
        int failure = errno;
        bool lacks_files = failure == EMFILE || failure == ENFILE;
        error_set(error, lacks_files ? GPUT_ERROR_FILES : GPUT_ERROR_IO,
            "Cannot wait for signals: %s", strerror(failure));
        error->errno_value = failure;
        return error->code;
    }
    /* Stops and their end are the kernel's business until there is a command to stop with. */
    int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};
    for (size_t i = 0; i < COUNT(stops); i++)
        sigdelset(&set, stops[i]);
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGCHLD && sigismember(&set, number) == 1)
            sigaction(number, &action, number == SIGBUS ? &bus_before : NULL);
    }
    signal(SIGCHLD, SIG_DFL);
    return GPUT_OK;
}

void signals_restore(const struct signals *signals)
{
    if (signals->ignored_children)
        signal(SIGCHLD, SIG_IGN);
}

void signals_receive(struct signals *signals)
{
    pthread_sigmask(SIG_BLOCK, &signals->watched, NULL);
}

/* Takes a signal that came early. False: there is none. */
static bool pop_early(struct signal_event *event)
{
    for (int number = 1; number < NSIG; number++) {
        if (!early[number].came)
            continue;
        early[number].came = 0;
        *event = (struct signal_event){
            .number = number,
            .sender = early[number].sender,
            .from_terminal = early[number].code > 0,
        };
        return true;
    }
    return false;
}

/* Takes a signal from the descriptor. False: there is none. */
static bool pop_pending(const struct signals *signals, struct signal_event *event)
{
    struct signalfd_siginfo info;
    if (read(signals->fd, &info, sizeof info) != sizeof info)
        return false;
    *event = (struct signal_event){
        .number = (int)info.ssi_signo,
        .sender = info.ssi_code <= 0 ? (pid_t)info.ssi_pid : 0,
        .from_terminal = info.ssi_code > 0,
        .has_value = info.ssi_code == SI_QUEUE,
        .value = (long)info.ssi_ptr,
    };
    return true;
}

bool signals_next(struct signals *signals, int also_fd, int timeout_ms, struct signal_event *event)
{
    if (pop_early(event) || pop_pending(signals, event))
        return true;
    struct pollfd sources[] = {
        {.fd = signals->fd, .events = POLLIN},
        {.fd = also_fd, .events = POLLIN}, /* poll() skips -1 */
    };
    if (poll(sources, COUNT(sources), timeout_ms) <= 0)
        return false;
    return pop_pending(signals, event);
}

static void restore_default(int number)
{
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void restore_unless_ignored(int number)
{
    if (!is_ignored(number))
        restore_default(number);
}

bool signals_asks_to_end(int number)
{
    for (size_t i = 0; i < COUNT(stopping); i++) {
        if (stopping[i] == number)
            return true;
    }
    return false;
}

int signals_release(struct signals *signals, int *asked_by)
{
    struct signal_event forgotten;
    while (pop_early(&forgotten) || pop_pending(signals, &forgotten)) {
        if (asked_by && signals_asks_to_end(forgotten.number))
            *asked_by = forgotten.number;
    }
    restore_unless_ignored(SIGINT);
    restore_unless_ignored(SIGQUIT);
    int stop_fd = signals->fd;
    signals->fd = -1;
    sigset_t stops;
    sigemptyset(&stops);
    for (size_t i = 0; i < COUNT(stopping); i++) {
        if (!is_ignored(stopping[i]))
            sigaddset(&stops, stopping[i]);
    }
    if (asked_by && *asked_by) {
        /* Stop waiting after some seconds, too. Other threads block all signals. */
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGALRM);
        sigaddset(&stops, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        signal(SIGALRM, SIG_DFL); /* if it was ignored */
        alarm(LAST_SECONDS);
    }
    if (signalfd(stop_fd, &stops, SFD_CLOEXEC | SFD_NONBLOCK) >= 0)
        return stop_fd;
    signals_close_stop(stop_fd);
    return -1;
}

bool signals_take_stop(int stop_fd, struct signal_event *event)
{
    const struct signals signals = {.fd = stop_fd};
    return stop_fd >= 0 && pop_pending(&signals, event);
}

void signals_close_stop(int stop_fd)
{
    if (stop_fd < 0)
        return;
    struct signals signals = {.fd = stop_fd};
    struct signal_event forgotten;
    while (pop_pending(&signals, &forgotten))
        ;
    close(stop_fd);
    for (size_t i = 0; i < COUNT(stopping); i++)
        restore_unless_ignored(stopping[i]);
}

void signals_forward(const struct signal_event *event, pid_t pid)
{
    if (event->has_value)
        sigqueue(pid, event->number, (union sigval){.sival_ptr = (void *)event->value});
    else
        kill(pid, event->number);
}

bool signals_handle(const struct signal_event *event)
{
    switch (event->number) {
    case SIGINT:
    case SIGQUIT:
    case SIGTERM:
    case SIGHUP:
    case SIGXCPU:
        return true;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        signals_do_to_self(event->number);
        return false;
    default:
        if (is_fault(event->number))
            signals_do_to_self(event->number);
        return false;
    }
}

void signals_do_to_self(int number)
{
    sigset_t before;
    struct sigaction action;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    sigaction(number, NULL, &action);
    /* To the process and not to this thread: a stop or death is everybody's. */
    restore_default(number);
    kill(getpid(), number);
    sigaction(number, &action, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

_Noreturn void signals_die(int number)
{
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signals_do_to_self(number);
    _exit(128 + number);
}
