/*
 * Events of the kernel's process connector: every start, execve() and end of a process on this
 * machine, in order, also of those that live too short to be seen in procfs.
 *
 * The kernel gives them in the machine's own pid and user namespaces only (not in most containers);
 * before Linux 6.6 to the superuser alone. Events of threads are dropped by the kernel itself, so
 * that they wake nobody, but for their ends while these are wanted.
 */
#ifndef OS_PROCESS_EVENTS_H
#define OS_PROCESS_EVENTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum process_event_kind { PROCESS_EVENT_FORK, PROCESS_EVENT_EXEC, PROCESS_EVENT_EXIT };

struct process_event {
    enum process_event_kind kind;
    pid_t pid;    /* of the process that began, called execve() or ended */
    pid_t parent; /* PROCESS_EVENT_FORK: the process that called fork(); else 0 */
    int status;   /* PROCESS_EVENT_EXIT: as wait(2) gives it; else 0 */
    /* PROCESS_EVENT_EXIT: of another thread than the first, of which alone the process would be
     * announced. Either may be the last one. */
    bool is_thread;
    /* PROCESS_EVENT_EXIT, of a first thread: nobody is to collect it, as its parent ignores
     * SIGCHLD; of one in some thousands, that its parent has done so already. Since Linux 4.18. */
    bool is_collected;
    int64_t time_ns; /* monotonic clock */
};

/*
 * Finds the next event of a process in what the kernel sent: `*at` moves up to `end`. Messages of
 * other kinds, starts of threads, and what is cut or damaged are passed over. False: there is none
 * left.
 */
bool process_events_parse(
    const unsigned char **at, const unsigned char *end, struct process_event *event);

/* The error that the kernel answers to a request for events: 0, or an errno. False: this message is
 * no such answer. */
bool process_events_parse_answer(const unsigned char *bytes, size_t length, uint32_t *error);

struct process_events {
    int fd; /* becomes readable with the first event */
    bool has_begun, wants_threads;
    uint64_t overflows; /* times that events were lost because nobody read them in time */
};

/*
 * Asks for events. On success the caller calls process_events_close().
 * Errors: GPUT_ERROR_UNSUPPORTED, GPUT_ERROR_PERMISSION, each with a reason for people.
 */
int process_events_open(struct process_events *events, struct gput_error *error);

void process_events_close(struct process_events *events);

/* From here on ends of threads come too; or, as at first, no more. */
void process_events_want_threads(struct process_events *events, bool wanted);

/* As many events as fit into one reading. */
#define PROCESS_EVENTS_BATCH 64

/* Takes what is there, without waiting, up to PROCESS_EVENTS_BATCH. Returns the number; 0: none. */
size_t process_events_read(struct process_events *events, struct process_event *read);

#endif
