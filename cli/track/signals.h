/*
 * Signals while a command or a process is tracked. A thread waits for them and receives one after
 * the other, as plain data; no work is done in handlers.
 *
 * The order of calls preserves what the tracked command inherits:
 *
 *     signals_catch()   before the command is started: signals that would end gpu-tracker are
 *                       noted instead. Caught signals have their default action again after
 *                       exec(); ignored ones (nohup) stay ignored; the mask is unchanged.
 *     … start the command …
 *     signals_receive()    blocks them in this thread and collects them from now on.
 *     signals_next()    waits for one.
 *     signals_release() Ctrl-C ends gpu-tracker again; SIGTERM ends waiting for a reader.
 *
 * A service that is stopped gets one SIGTERM, and then SIGKILL. One that came before
 * signals_release() was perhaps the command's; it bounds the waiting all the same.
 */
#pragma once

#include <gputracker/error.h>

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* One signal that came. */
struct signal_event {
    int number;
    pid_t sender;       /* 0: unknown */
    bool from_terminal; /* or from elsewhere in the kernel: not one that a process sent */
    bool has_value;     /* it was sent by sigqueue() with this value: */
    long value;
};

struct signals {
    int fd; /* a signalfd */
    sigset_t watched;
    bool ignored_children; /* SIGCHLD, before signals_catch() */
};

/* Makes writing past the limit on file size an error instead of a fatal signal; the tracked command
 * keeps the default. Called once, at the start of the program. */
void signals_survive_full_files(void);

/* The same for writing to a closed pipe, where something must go on without a reader: a tracked
 * command, a server. All other commands die of it silently, as in `gpu-tracker … | head`. */
void signals_survive_closed_pipes(void);

/* Also opens the signalfd, so that a lack of descriptors cannot leave a started command untracked.
 * Errors: GPUT_ERROR_FILES where there is none; then nothing was done. */
int signals_catch(struct signals *signals, struct gput_error *error);

/* For an exec() of this program instead: what it inherits is again as it was. */
void signals_restore(const struct signals *signals);

void signals_receive(struct signals *signals);

/*
 * Waits until a signal came (true), or until `also_fd` (-1: none) can be read, `timeout_ms` (-1:
 * for ever) passed, or something else interrupted (false).
 */
bool signals_next(struct signals *signals, int also_fd, int timeout_ms, struct signal_event *event);

/* True of SIGTERM and SIGHUP. */
bool signals_asks_to_end(int number);

/*
 * Forgets what is pending. SIGINT and SIGQUIT have their default action again, so that Ctrl-C ends
 * gpu-tracker. Returns a descriptor that becomes readable when SIGTERM or SIGHUP comes: waiting for
 * a reader then ends, and what needs no waiting is still done. -1: these end gpu-tracker too. Other
 * signals stay blocked until exit. The caller closes it, or gives it to signals_close_stop().
 *
 * `*asked_by` is one of these that came before, or 0, and becomes one that is pending. Where there
 * is one, the descriptor becomes readable after some seconds, too. NULL: waiting is not bounded.
 */
int signals_release(struct signals *signals, int *asked_by);

/* Takes a signal that came for the descriptor of signals_release(), SIGALRM where the time was
 * over. False: none did. */
bool signals_take_stop(int stop_fd, struct signal_event *event);

/* Discards what came; from now on SIGTERM and SIGHUP end gpu-tracker. -1 is allowed. */
void signals_close_stop(int stop_fd);

/* Sends a signal on to a process as it came. */
void signals_forward(const struct signal_event *event, pid_t pid);

/* For use without a command to pass signals on to: stops on a stop signal; returns true on a signal
 * that asks to end. */
bool signals_handle(const struct signal_event *event);

/* Gives this process the default action of a signal, then sends it that signal: to stop as the
 * command stopped, or to die as it died. Returns when continued, or when the signal did nothing. */
void signals_do_to_self(int number);

/* Dies of a signal without a second core dump; exits with 128 + number if that does not kill. */
_Noreturn void signals_die(int number);
