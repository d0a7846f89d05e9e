#include "session/sampler/schedule.h"

#include "base/clock.h"
#include "base/thread.h"

#include <sys/prctl.h>

/* The first tick is early, so that short commands have one: as soon as CPU percents are meaningful.
 */
#define FIRST_TICK_NS (NS_PER_SECOND / 20)
/* A tick that begins this part of the interval after its deadline is late. */
#define LATE_PART 10
/* Longest wait by a clock that may be set. */
#define SLICE_NS (NS_PER_SECOND / 10)

/* Longer than a tick takes on the busiest machine. */
#define PATIENCE_SECONDS 15

int schedule_init(struct schedule *schedule)
{
    schedule->patience_seconds = PATIENCE_SECONDS;
    pthread_mutex_init(&schedule->lock, NULL);
    return thread_condition_init(&schedule->wake) ? GPUT_ERROR_MEMORY : GPUT_OK;
}

void schedule_finish(struct schedule *schedule)
{
    pthread_cond_destroy(&schedule->wake);
    pthread_mutex_destroy(&schedule->lock);
}

/* The next deadline after `deadline_ns`; counts those that passed meanwhile. */
static int64_t next_deadline(struct schedule *schedule, int64_t deadline_ns)
{
    int64_t now_ns = clock_monotonic_ns();
    int64_t interval_ns = schedule->interval_ns;
    if (now_ns < deadline_ns)
        return deadline_ns; /* the job called for a tick before it */
    /* This also realigns the early first tick with whole intervals since the start. */
    int64_t passed = (deadline_ns - schedule->start_ns) / interval_ns;
    int64_t next = schedule->start_ns + (passed + 1) * interval_ns;
    if (next <= now_ns) {
        int64_t missed = (now_ns - next) / interval_ns + 1;
        schedule->missed_ticks += (uint64_t)missed;
        next += missed * interval_ns;
    }
    return next;
}

/* Waits with the lock released; false when the schedule is stopped. */
static bool sleep_until(struct schedule *schedule, int64_t deadline_ns)
{
    struct timespec deadline = clock_timespec_of_ns(deadline_ns);
    while (!schedule->is_stopping) {
        if (pthread_cond_timedwait(&schedule->wake, &schedule->lock, &deadline) != 0)
            return !schedule->is_stopping;
    }
    return false;
}

/* The same, or until the job needs a tick; does what is due meanwhile. */
static bool wait_for_tick(struct schedule *schedule, int64_t deadline_ns)
{
    const struct schedule_job *job = &schedule->job;
    int64_t tick_ns = job->tick_due_ns(job->user);
    if (tick_ns > deadline_ns)
        tick_ns = deadline_ns;
    for (;;) {
        int64_t other_ns = job->other_due_ns(job->user);
        if (other_ns >= tick_ns)
            return sleep_until(schedule, tick_ns);
        if (!sleep_until(schedule, other_ns))
            return false;
        job->other(job->user);
    }
}

/* Runs the sampling thread: a job at each deadline. */
static void *run(void *user)
{
    struct schedule *schedule = user;
    const struct schedule_job *job = &schedule->job;
    /* Timers are 50 us late by default, to save power: too much at 1000 ticks a second. */
    prctl(PR_SET_TIMERSLACK, 1);
    prctl(PR_SET_NAME, "gpu-tracker");

    pthread_mutex_lock(&schedule->lock);
    int64_t first_ns =
        schedule->interval_ns < FIRST_TICK_NS ? schedule->interval_ns : FIRST_TICK_NS;
    int64_t deadline_ns = schedule->start_ns + first_ns;
    job->begin(job->user, first_ns);
    while (wait_for_tick(schedule, deadline_ns)) {
        if ((clock_monotonic_ns() - deadline_ns) * LATE_PART > schedule->interval_ns)
            schedule->late_ticks++;
        job->tick(job->user);
        deadline_ns = next_deadline(schedule, deadline_ns);
    }
    job->end(job->user);
    pthread_mutex_unlock(&schedule->lock);
    return NULL;
}

int schedule_start(struct schedule *schedule, int64_t start_ns, int64_t interval_ns,
    const struct schedule_job *job, struct gput_error *error)
{
    schedule->job = *job;
    schedule->start_ns = start_ns;
    schedule->interval_ns = interval_ns;
    schedule->has_thread = schedule->had_thread = true; /* its first tick may look */
    int failure = thread_start(&schedule->thread, job->stack_bytes, run, schedule);
    if (!failure)
        return GPUT_OK;
    schedule->has_thread = schedule->had_thread = false;
    return error_set_errno(error, failure, "Cannot start the sampling thread");
}

void schedule_start_ended(struct schedule *schedule, const struct schedule_job *job)
{
    schedule->job = *job;
    schedule->ends_in_caller = true;
}

static void end_in_caller(struct schedule *schedule)
{
    pthread_mutex_lock(&schedule->lock);
    schedule->ends_in_caller = false;
    schedule->is_stopping = true;
    schedule->job.end(schedule->job.user);
    pthread_mutex_unlock(&schedule->lock);
}

/* Calls a function of pthreads that waits until a moment of the system's clock, until it succeeds
 * or the patience is over. Somebody may set that clock meanwhile, so each call waits for a slice.
 */
static bool wait_in_slices(
    struct schedule *schedule, int (*wait)(struct schedule *, const struct timespec *))
{
    int64_t end_ns = clock_monotonic_ns() + (int64_t)schedule->patience_seconds * NS_PER_SECOND;
    do {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += SLICE_NS;
        until.tv_sec += until.tv_nsec / NS_PER_SECOND;
        until.tv_nsec %= NS_PER_SECOND;
        if (wait(schedule, &until) == 0)
            return true;
    } while (clock_monotonic_ns() < end_ns);
    return false;
}

static int wait_for_lock(struct schedule *schedule, const struct timespec *until)
{
    return pthread_mutex_timedlock(&schedule->lock, until);
}

static int wait_for_thread(struct schedule *schedule, const struct timespec *until)
{
    return pthread_timedjoin_np(schedule->thread, NULL, until);
}

bool schedule_lock(struct schedule *schedule)
{
    schedule->is_stuck = schedule->is_stuck ? pthread_mutex_trylock(&schedule->lock) != 0
                                            : !wait_in_slices(schedule, wait_for_lock);
    return !schedule->is_stuck;
}

void schedule_unlock(struct schedule *schedule)
{
    pthread_mutex_unlock(&schedule->lock);
}

bool schedule_stop(struct schedule *schedule)
{
    if (schedule->ends_in_caller)
        end_in_caller(schedule);
    if (!schedule->has_thread)
        return !schedule->is_stuck;
    schedule->has_thread = false;
    schedule->is_stopping = true;
    if (schedule_lock(schedule)) {
        pthread_cond_signal(&schedule->wake);
        schedule_unlock(schedule);
        schedule->is_stuck = !wait_in_slices(schedule, wait_for_thread);
    }
    if (schedule->is_stuck)
        pthread_detach(schedule->thread);
    return !schedule->is_stuck;
}
