/*
 * Events and exit records of processes, put into the session's process log.
 *
 * Read at every tick; where ticks are too far apart for the kernel's buffers, also by a small
 * thread, which sleeps until something arrives.
 */
#pragma once

#include "machine/os/process_events.h"
#include "machine/os/taskstats.h"
#include "machine/process/process_log.h"
#include "model/results.h"
#include "session/sampler/session_counts.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct session_events {
    struct process_events events;
    struct taskstats_socket exit_records;
    bool has_events, has_exit_records;
    int arrived_fd;   /* epoll of both sockets; -1: it could not be opened */
    bool any_started; /* see session_events_any_started() */
    pid_t own_pid;
    struct pid_vector own_children; /* processes that this one started, as announced */
    char why_no_events[GPUT_REASON_SIZE / 2],
        why_no_exit_records[GPUT_REASON_SIZE / 2]; /* "" when they are available */

    struct process_log *log;      /* borrowed */
    pthread_mutex_t *lock;        /* guards the log; borrowed */
    struct taskstats_exit *exits; /* scratch, owned */
    int64_t pause_ns;             /* how long events may stay unread */
    /* The same after a reading in which processes of the log had ended. */
    int64_t pause_at_exits_ns;
    void (*arrived)(void *user); /* called by the thread to have them read */
    void (*changed)(void *user); /* and then, while processes of the log start and end */
    void *user;
    int stop_fd; /* wakes the thread to end it; -1: there is none */
    pthread_t thread;
    int64_t cpu_ns;               /* CPU time of the thread so far, as of the last reading */
    struct session_counts counts; /* of the thread, when it has ended */
};

/* Nothing open yet. */
void session_events_init(struct session_events *events);

/* Opens what is available, if the pids of procfs are ours. Call before the first process is
 * started. */
void session_events_open(struct session_events *events, bool has_own_procfs);

/* Filters events in the kernel, which only pays off for a session that lasts. */
void session_events_filter(struct session_events *events);

/* Uses of events besides the log. */
enum session_events_use {
    SESSION_EVENTS_COUNT, /* none: they may stay unread as long as the kernel's buffers suffice */
    SESSION_EVENTS_NAMES, /* to read the names of processes that live for milliseconds: read soon */
    /* To read what parents have collected before they end: read soon while children end. Other
     * processes of the machine cause no wakeups for that. */
    SESSION_EVENTS_TOTALS,
};

/* From then on session_events_read() puts events into `log`. */
void session_events_begin(
    struct session_events *events, struct process_log *log, enum session_events_use use);

/*
 * Starts the thread, once, when it is too long until the next tick; without it (also when it cannot
 * be created) events are only read at ticks. With `lock` held it calls `arrived` with `user` when
 * events have arrived; and then `changed`, where processes of the log have started or ended, and
 * for some time after that.
 */
void session_events_start(struct session_events *events, pthread_mutex_t *lock, int64_t until_ns,
    void (*arrived)(void *user), void (*changed)(void *user), void *user);

/* Reads what has arrived. The lock is held. */
void session_events_read(struct session_events *events);

/*
 * Whether any process may have been started since the last call, as far as events were read: false
 * only where the kernel announces every start on the machine. The lock is held.
 */
bool session_events_any_started(struct session_events *events);

/* Whether the thread runs. */
bool session_events_has_thread(const struct session_events *events);

/* Ends the thread. The lock is not held. Events can still be read. False: it does not end. */
bool session_events_end(struct session_events *events);

/* Forgets the log and all that was read, after the thread has ended: the sockets stay open, for
 * another session. */
void session_events_rest(struct session_events *events);

/* Drops what has arrived while no session read it. */
void session_events_discard(struct session_events *events);

/* Ends the thread if it runs; closes and frees everything. */
void session_events_finish(struct session_events *events);
