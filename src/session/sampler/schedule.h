/*
 * A thread that ticks at deadlines, which are counted from a start so that they do not drift. It
 * knows nothing of what is done at a tick.
 */
#pragma once

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All are called in the thread, with the lock held and with `user`. */
struct schedule_job {
    void (*begin)(void *user, int64_t until_ns); /* once; that long until the first tick */
    void (*tick)(void *user);
    void (*end)(void *user); /* once, when the schedule is stopped */

    /* The latest time of the next tick, which may be before its deadline; INT64_MAX: none. */
    int64_t (*tick_due_ns)(void *user);

    /* When work between ticks is due; INT64_MAX: never. */
    int64_t (*other_due_ns)(void *user);
    void (*other)(void *user);
    void *user;
    size_t stack_bytes; /* of the thread */
};

struct schedule {
    pthread_mutex_t lock;      /* guards what the job and other threads share */
    unsigned patience_seconds; /* how long others wait for the lock, or for the thread to end */
    bool is_stuck;             /* it was waited for in vain */
    atomic_bool is_stopping;
    uint64_t late_ticks, missed_ticks;

    bool has_thread;
    bool had_thread;     /* stays true after its end */
    bool ends_in_caller; /* there is no thread, and the job's end is due */
    pthread_t thread;
    pthread_cond_t wake;
    struct schedule_job job;
    int64_t start_ns, interval_ns;
};

/* The lock can be used from then on. On success the caller calls schedule_finish(). Errors:
 * GPUT_ERROR_MEMORY. */
int schedule_init(struct schedule *schedule);
void schedule_finish(struct schedule *schedule);

/* Starts the thread. `start_ns` is on the monotonic clock. Errors: those of pthread_create(). */
int schedule_start(struct schedule *schedule, int64_t start_ns, int64_t interval_ns,
    const struct schedule_job *job, struct gput_error *error);

/* No thread is started, because what is ticked for has ended already or because there can be none:
 * schedule_stop() calls the job's end itself. */
void schedule_start_ended(struct schedule *schedule, const struct schedule_job *job);

/*
 * Takes the lock, in other threads than that of the schedule. False: the job has held it for too
 * long, as in a reading that never returns. Later calls do not wait for it, and succeed when the
 * job has given it back.
 */
bool schedule_lock(struct schedule *schedule);
void schedule_unlock(struct schedule *schedule);

/* Lets the thread end its job and waits for it. Does nothing where nothing was started, or after
 * the first call. The lock is not held. False: the thread does not end. It is left alone, and what
 * it uses must stay as it is for ever. */
bool schedule_stop(struct schedule *schedule);
