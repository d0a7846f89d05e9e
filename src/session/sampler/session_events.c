#include "session/sampler/session_events.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* How long the thread may take to end. */
#define PATIENCE_SECONDS 15
#define EXITS_BATCH 256
/* Slightly more than the kernel charges to the socket's memory for each. */
#define BYTES_PER_EVENT 1024
#define BYTES_PER_EXIT_RECORD 4096
/* More than a busy machine of some hundred cores generates. */
#define EVENTS_PER_SECOND 50000
#define LONGEST_PAUSE_NS (NS_PER_SECOND / 4)
#define PAUSE_FOR_NAMES_NS (NS_PER_SECOND / 100)
#define PAUSE_FOR_TOTALS_NS (NS_PER_SECOND / 50)
/* While tracked processes start and end, events are read this often, or less: after 200 times the
 * cost of the last reading. */
#define SHORTEST_PAUSE_NS (NS_PER_SECOND / 100)
#define REST_AFTER_READING 200
#define MAX_PAUSE_NS (NS_PER_SECOND / 10)
/* With shorter intervals, reading at ticks is enough. */
#define SHORTEST_INTERVAL_NS (5 * SHORTEST_PAUSE_NS)
/* For this long after a start or end, `changed` is called again and again: after a pause that is
 * this part of the time since then. */
#define FOLLOWED_NS (3 * NS_PER_SECOND)
#define FOLLOWED_PART 16

void session_events_init(struct session_events *events)
{
    *events = (struct session_events){
        .events.fd = -1, .exit_records.fd = -1, .arrived_fd = -1, .stop_fd = -1};
}

/* How long a busy machine takes to fill the socket's buffer. */
static int64_t time_to_fill_ns(int fd, int64_t bytes_each)
{
    int bytes = 0;
    socklen_t length = sizeof bytes;
    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
    return bytes / bytes_each * (NS_PER_SECOND / EVENTS_PER_SECOND);
}

/* -1: cannot be opened. */
static int open_arrived(const struct session_events *events)
{
    struct epoll_event wanted = {.events = EPOLLIN};
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return -1;
    bool has_both = epoll_ctl(fd, EPOLL_CTL_ADD, events->events.fd, &wanted) == 0;
    if (events->has_exit_records)
        has_both &= epoll_ctl(fd, EPOLL_CTL_ADD, events->exit_records.fd, &wanted) == 0;
    if (has_both)
        return fd;
    close(fd);
    return -1;
}

void session_events_open(struct session_events *events, bool has_own_procfs)
{
    struct gput_error error = {.message = "this procfs is of another pid namespace"};
    events->own_pid = getpid();
    events->has_events = has_own_procfs && process_events_open(&events->events, &error) == GPUT_OK;
    if (!events->has_events) {
        text_fit(events->why_no_events, sizeof events->why_no_events, "%s", error.message);
        text_fit(
            events->why_no_exit_records, sizeof events->why_no_exit_records, "%s", error.message);
        return;
    }
    events->has_exit_records = taskstats_open(&events->exit_records, &error) == GPUT_OK;
    if (!events->has_exit_records)
        text_fit(
            events->why_no_exit_records, sizeof events->why_no_exit_records, "%s", error.message);
    events->exits = events->has_exit_records ? malloc(EXITS_BATCH * sizeof *events->exits) : NULL;
    if (events->has_exit_records && !events->exits) {
        taskstats_close(&events->exit_records);
        events->has_exit_records = false;
    }
    events->arrived_fd = open_arrived(events);
    events->pause_ns = time_to_fill_ns(events->events.fd, BYTES_PER_EVENT);
    if (events->has_exit_records) {
        int64_t pause_ns = 3 * time_to_fill_ns(events->exit_records.fd, BYTES_PER_EXIT_RECORD);
        if (pause_ns < events->pause_ns)
            events->pause_ns = pause_ns;
    }
    if (events->pause_ns > LONGEST_PAUSE_NS)
        events->pause_ns = LONGEST_PAUSE_NS;
}

void session_events_filter(struct session_events *events)
{
    if (events->has_events)
        process_events_filter(&events->events);
}

/* ---- our own children ---- */

/* Their number is bounded by that of pids; pids that are gone are removed when there are many. */
#define MANY_CHILDREN 1024

/* Keeps the pids of processes that we started, until they are collected. */
static void note_own_child(struct session_events *events, const struct process_event *event)
{
    struct pid_vector *children = &events->own_children;
    if (event->kind != PROCESS_EVENT_FORK)
        return;
    events->any_started = true;
    size_t at = 0;
    while (at < children->count && children->pids[at] != event->pid)
        at++;
    bool is_known = at < children->count, is_own = event->parent == events->own_pid;
    if (is_known && !is_own)
        children->pids[at] = children->pids[--children->count]; /* the pid was reused */
    if (is_known || !is_own)
        return;
    if (children->count >= MANY_CHILDREN) {
        size_t kept = 0;
        for (size_t i = 0; i < children->count; i++) {
            if (kill(children->pids[i], 0) == 0)
                children->pids[kept++] = children->pids[i];
        }
        children->count = kept;
    }
    pid_vector_append(children, event->pid);
}

/* ---- reading ---- */

static void read_events(struct session_events *events)
{
    struct process_event batch[PROCESS_EVENTS_BATCH];
    size_t count;
    bool has_more = true;
    while (has_more) {
        count = process_events_read(&events->events, batch, &has_more);
        for (size_t i = 0; i < count; i++) {
            note_own_child(events, &batch[i]);
            process_log_event(events->log, &batch[i]);
        }
    }
}

/* The kernel keeps a list of the sockets that have something: epoll_wait() takes less than half of
 * what poll() does, which asks each one. It also shows lost events. */
static bool has_arrived(const struct session_events *events)
{
    struct epoll_event first;
    return events->arrived_fd < 0 || epoll_wait(events->arrived_fd, &first, 1, 0) != 0;
}

/* Reads both sockets until nothing is left, and gives what came to the log in order. */
static void read_sockets(struct session_events *events)
{
    size_t count;
    do {
        /*
         * The kernel sends the exit record of a process before its exit event and after its fork
         * event: so exit records are read first and added last.
         */
        count = 0;
        if (events->has_exit_records)
            count = taskstats_read(&events->exit_records, events->exits, EXITS_BATCH);
        int64_t read_ns = clock_monotonic_ns();
        for (size_t i = 0; i < count; i++)
            events->exits[i].read_ns = read_ns;
        read_events(events);
        for (size_t i = 0; i < count; i++)
            process_log_exit(events->log, &events->exits[i]);
    } while (count == EXITS_BATCH);
}

void session_events_read(struct session_events *events)
{
    if (!events->has_events || !events->log)
        return;
    uint64_t lost = events->events.overflows + events->exit_records.overflows;
    if (has_arrived(events))
        read_sockets(events);
    bool has_lost_events = events->events.overflows + events->exit_records.overflows != lost;
    events->any_started |= has_lost_events;
    process_log_end_batch(events->log, has_lost_events);
    process_events_want_threads(&events->events, process_log_needs_thread_exits(events->log));
}

bool session_events_any_started(struct session_events *events)
{
    bool any = events->any_started || !events->has_events || !events->log;
    events->any_started = false;
    return any;
}

/* ---- the thread ---- */

static int64_t shorter(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* State of the thread between two readings. */
struct reader_state {
    uint64_t ended, seen; /* tracked processes as of the last reading */
    int64_t read_ns;      /* when that was */
    int64_t changed_ns;   /* when some had started or ended */
    int64_t rest_ns;      /* pause that its cost requires */
    int64_t again_ns;     /* to the next one, even when nothing arrives; 0: none then */
    bool have_ended;      /* some tracked processes, as of the last reading */
};

enum wake { WAKE_END, WAKE_AGAIN, WAKE_EVENTS };

static enum wake wait_for_events(const struct session_events *events, int64_t timeout_ns)
{
    struct pollfd wanted[] = {
        {.fd = events->stop_fd, .events = POLLIN}, {.fd = events->events.fd, .events = POLLIN}};
    int timeout_ms = timeout_ns ? (int)(timeout_ns / 1000000) : -1, count;
    while ((count = poll(wanted, 2, timeout_ms)) < 0 && errno == EINTR)
        ;
    /* It fails where the program has lowered its limit of descriptors, as sandboxes do. Ticks read
     * events, too. */
    if (count < 0 || wanted[0].revents)
        return WAKE_END;
    return count > 0 ? WAKE_EVENTS : WAKE_AGAIN;
}

/*
 * How long events may stay unread: many cost about as much as one. Events of untracked processes
 * are read rarely; but after a quiet time the first ones may be of tracked processes.
 */
static int64_t pause_of(
    const struct session_events *events, const struct reader_state *reader_state)
{
    bool was_quiet = clock_monotonic_ns() - reader_state->read_ns > LONGEST_PAUSE_NS;
    int64_t pause_ns = reader_state->have_ended ? events->pause_at_exits_ns : events->pause_ns;
    if (reader_state->again_ns)
        return shorter(reader_state->again_ns, pause_ns);
    return was_quiet ? shorter(reader_state->rest_ns, pause_ns) : pause_ns;
}

/* False: the thread must end. */
static bool pause_for_more(const struct session_events *events, int64_t pause_ns)
{
    struct pollfd stop = {.fd = events->stop_fd, .events = POLLIN};
    return poll(&stop, 1, (int)(pause_ns / 1000000)) == 0;
}

/* Reads what has arrived, says whether processes have changed, and decides how long to rest. */
static void read_and_report(struct session_events *events, struct reader_state *reader_state)
{
    pthread_mutex_lock(events->lock);
    int64_t before_ns = clock_thread_cpu_ns();
    events->arrived(events->user);
    const struct process_log *log = events->log;
    bool have_changed = log->ended_total != reader_state->ended || log->seen != reader_state->seen;
    reader_state->have_ended = log->ended_total != reader_state->ended;
    reader_state->ended = log->ended_total;
    reader_state->seen = log->seen;
    int64_t cost_ns = clock_thread_cpu_ns() - before_ns;
    /* Events of other processes are no reason to read more. `changed` limits its own cost. */
    if (have_changed || reader_state->again_ns)
        events->changed(events->user);
    events->cpu_ns = clock_thread_cpu_ns();
    pthread_mutex_unlock(events->lock);

    reader_state->rest_ns = cost_ns * REST_AFTER_READING;
    if (reader_state->rest_ns < SHORTEST_PAUSE_NS)
        reader_state->rest_ns = SHORTEST_PAUSE_NS;
    if (reader_state->rest_ns > MAX_PAUSE_NS)
        reader_state->rest_ns = MAX_PAUSE_NS;
    /* Memory grows after a start: sooner at first. */
    reader_state->read_ns = clock_monotonic_ns();
    if (have_changed)
        reader_state->changed_ns = reader_state->read_ns;
    int64_t since_ns = reader_state->read_ns - reader_state->changed_ns;
    int64_t pause_ns = since_ns / FOLLOWED_PART;
    reader_state->again_ns = since_ns > FOLLOWED_NS             ? 0
                             : pause_ns > reader_state->rest_ns ? pause_ns
                                                                : reader_state->rest_ns;
}

static void *run(void *user)
{
    struct session_events *events = user;
    prctl(PR_SET_NAME, "gpu-tracker");
    struct reader_state reader_state = {.rest_ns = SHORTEST_PAUSE_NS};
    enum wake wake;
    while ((wake = wait_for_events(events, reader_state.again_ns)) != WAKE_END) {
        if (wake == WAKE_EVENTS && !pause_for_more(events, pause_of(events, &reader_state)))
            break;
        read_and_report(events, &reader_state);
    }
    events->counts = session_counts_of_thread();
    return NULL;
}

void session_events_begin(
    struct session_events *events, struct process_log *log, enum session_events_use use)
{
    events->log = log;
    events->any_started = true;
    if (use == SESSION_EVENTS_NAMES)
        events->pause_ns = shorter(events->pause_ns, PAUSE_FOR_NAMES_NS);
    events->pause_at_exits_ns = events->pause_ns;
    if (use == SESSION_EVENTS_TOTALS)
        events->pause_at_exits_ns = shorter(events->pause_ns, PAUSE_FOR_TOTALS_NS);
}

void session_events_start(struct session_events *events, pthread_mutex_t *lock, int64_t until_ns,
    void (*arrived)(void *user), void (*changed)(void *user), void *user)
{
    if (!events->has_events || events->stop_fd >= 0 ||
        until_ns <= shorter(events->pause_at_exits_ns, SHORTEST_INTERVAL_NS))
        return;
    events->lock = lock;
    events->arrived = arrived;
    events->changed = changed;
    events->user = user;
    events->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (events->stop_fd < 0)
        return;
    if (thread_start(&events->thread, THREAD_STACK_BYTES, run, events) != 0)
        file_close_fd(&events->stop_fd);
}

bool session_events_has_thread(const struct session_events *events)
{
    return events->stop_fd >= 0;
}

bool session_events_end(struct session_events *events)
{
    struct timespec until;
    if (events->stop_fd < 0)
        return true;
    eventfd_write(events->stop_fd, 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    if (pthread_timedjoin_np(events->thread, NULL, &until) != 0)
        return false;
    file_close_fd(&events->stop_fd);
    return true;
}

void session_events_rest(struct session_events *events)
{
    process_events_want_threads(&events->events, false);
    pid_vector_finish(&events->own_children);
    events->log = NULL;
    events->cpu_ns = 0;
    events->counts = (struct session_counts){0};
}

void session_events_discard(struct session_events *events)
{
    struct process_event batch[PROCESS_EVENTS_BATCH];
    bool has_more = has_arrived(events);
    if (has_more && events->has_exit_records) {
        while (taskstats_read(&events->exit_records, events->exits, EXITS_BATCH) == EXITS_BATCH)
            ;
    }
    while (has_more)
        process_events_read(&events->events, batch, &has_more);
    events->events.overflows = events->exit_records.overflows = 0;
}

void session_events_finish(struct session_events *events)
{
    session_events_end(events);
    file_close_fd(&events->arrived_fd);
    process_events_close(&events->events);
    taskstats_close(&events->exit_records);
    free(events->exits);
    pid_vector_finish(&events->own_children);
    session_events_init(events);
}
