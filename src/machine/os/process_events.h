/*
 * Events of the kernel's process connector: every start, execve() and end of a process on this
 * machine, in order, also of those that are too short-lived to be seen in procfs.
 *
 * The kernel gives them in the machine's own pid and user namespaces only (not in most containers);
 * before Linux 6.6 to the root alone. Events of threads are dropped by a filter in the kernel,
 * so that they cause no wakeups, except for their ends while these are wanted.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum process_event_kind { PROCESS_EVENT_FORK, PROCESS_EVENT_EXEC, PROCESS_EVENT_EXIT };

struct process_event {
    enum process_event_kind kind;
    pid_t pid;    /* of the process that started, called execve() or ended */
    pid_t parent; /* PROCESS_EVENT_FORK: the process that called fork(); else 0 */
    int status;   /* PROCESS_EVENT_EXIT: as wait(2) gives it; else 0 */
    /* PROCESS_EVENT_EXIT: of another thread than the leader. Either may be the last one. */
    bool is_thread;
    /* PROCESS_EVENT_EXIT of a leader: it is auto-reaped, as its parent ignores SIGCHLD; for one in
     * some thousands, its parent has collected it already. Since Linux 4.18. */
    bool is_collected;
    int64_t time_ns; /* monotonic clock */
};

/*
 * Finds the next event of a process in what the kernel sent: `*at` moves up to `end`. Messages of
 * other kinds, starts of threads, and truncated or damaged ones are skipped. False: there is none
 * left.
 */
bool process_events_parse(
    const unsigned char **at, const unsigned char *end, struct process_event *event);

/*
 * The kernel's reply to the request of that number: 0, or an errno. It goes to all that listen in
 * the network namespace, and is the only one where a container of that namespace asks, too.
 * `time_ns`: when, by the kernel's monotonic clock. False: this message is no such reply.
 */
bool process_events_parse_answer(
    const unsigned char *bytes, size_t length, uint32_t request, uint32_t *error, int64_t *time_ns);

struct process_events {
    int fd; /* becomes readable with the first event */
    bool has_started, wants_threads, is_filtered;
    int64_t ahead_ns;   /* by which our monotonic clock is ahead of the kernel's (time namespace) */
    uint64_t overflows; /* how often events were lost because they were not read in time */
};

/*
 * Asks for events. On success the caller calls process_events_close().
 * Errors: GPUT_ERROR_UNSUPPORTED, GPUT_ERROR_PERMISSION, each with a reason for people.
 */
int process_events_open(struct process_events *events, struct gput_error *error);

void process_events_close(struct process_events *events);

/* From then on ends of threads are delivered too; or no longer, which is the default. */
void process_events_want_threads(struct process_events *events, bool wanted);

/*
 * Has the kernel leave out what process_events_read() would skip, which costs others less. Not done
 * when it is opened: compiling the filter takes the kernel longer than all else about the socket.
 */
void process_events_filter(struct process_events *events);

/* Maximum number of events in one reading. */
#define PROCESS_EVENTS_BATCH 64

/* Reads available events without waiting, up to PROCESS_EVENTS_BATCH. Returns the number; without
 * `*has_more` they were all. */
size_t process_events_read(
    struct process_events *events, struct process_event *read, bool *has_more);
