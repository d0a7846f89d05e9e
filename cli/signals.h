/*
 * Signals while a command or a process is tracked. They are taken one after the other, as plain
 * data, by a thread that waits for them; no work is done in handlers.
 *
 * The order of calls keeps what the tracked command inherits as it is without us:
 *
 *     signals_catch()   before the command is started: signals that would end us are noted instead.
 *                       Caught signals have their default action again after exec(); what was
 *                       ignored (nohup) stays so and is not ours to look at; the mask is untouched.
 *     … start the command …
 *     signals_receive()    blocks them in this thread and collects them from now on.
 *     signals_next()    waits for one.
 *     signals_release() Ctrl-C ends us again; SIGTERM ends waiting for a reader.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

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
};

/* Writing past the limit of a file's size is an error and no death for us; the tracked command
 * still has the default. Once, at the start of the program. */
void signals_survive_full_files(void);

/* The same of writing to a closed pipe, where something must go on when nobody reads on: a tracked
 * command, a server. All else dies of it without a word, as in `gpu-tracker … | head`. */
void signals_survive_closed_pipes(void);

/* Also opens what they are taken from later, so that no want of descriptors can leave a command
 * that was started without us. Returns 0, or an errno value: then nothing was done. */
int signals_catch(struct signals *signals);

void signals_receive(struct signals *signals);

/*
 * Waits until a signal came (true), or until `also_fd` (-1: none) can be read, `timeout_ms` (-1:
 * for ever) passed, or something else interrupted (false).
 */
bool signals_next(struct signals *signals, int also_fd, int timeout_ms, struct signal_event *event);

/*
 * Forgets what is pending. SIGINT and SIGQUIT have their default action again, so that Ctrl-C ends
 * us. Returns a descriptor that can be read when SIGTERM or SIGHUP comes from now on: what waits
 * for a reader then waits no longer, and what needs no waiting is still done. -1: those end us,
 * too. Other signals stay blocked until we exit. The caller closes it, or gives it to
 * signals_close_stop().
 */
int signals_release(struct signals *signals);

/* What came is forgotten; from now on SIGTERM and SIGHUP end us. -1 is fine. */
void signals_close_stop(int stop_fd);

/* Sends a signal on to a process as it came. */
void signals_forward(const struct signal_event *event, pid_t pid);

/* Where no command runs that signals are for: stops when one asks for it; returns true when one
 * asks for the end. */
bool signals_obey(const struct signal_event *event);

/* Gives this process the default action of a signal, then sends it that signal: to stop as the
 * command stopped, or to die as it died. Returns when continued, or when the signal did nothing. */
void signals_do_to_self(int number);

/* Dies of a signal without a second core dump; exits with 128 + number if that does not kill. */
_Noreturn void signals_die(int number);

#endif
