#include "session/sampler/schedule.h"

#include "base/clock.h"
#include "base/thread.h"
#include "testing.h"

#include <stdatomic.h>
#include <unistd.h>

#define INTERVAL_NS (NS_PER_SECOND / 50)

/* A job that counts its calls. */
struct counted {
    struct schedule schedule;
    int begun, ticks, ended, others;
    int64_t until_ns, tick_due_ns, other_due_ns;
    int64_t first_ns;     /* when the first tick was */
    bool sleeps_too_long; /* at the first tick */
    int others_at_first_tick;
};

static void begin(void *user, int64_t until_ns)
{
    struct counted *counted = user;
    counted->begun++;
    counted->until_ns = until_ns;
}

static void tick(void *user)
{
    struct counted *counted = user;
    if (counted->ticks++ > 0)
        return;
    counted->first_ns = clock_monotonic_ns();
    counted->others_at_first_tick = counted->others;
    counted->tick_due_ns = INT64_MAX;
    if (counted->sleeps_too_long)
        usleep((useconds_t)(INTERVAL_NS * 7 / 2 / 1000));
}

static void end(void *user)
{
    ((struct counted *)user)->ended++;
}

static int64_t tick_due_ns(void *user)
{
    return ((struct counted *)user)->tick_due_ns;
}

static int64_t other_due_ns(void *user)
{
    return ((struct counted *)user)->other_due_ns;
}

static void other(void *user)
{
    struct counted *counted = user;
    counted->others++;
    counted->other_due_ns = INT64_MAX;
}

static struct schedule_job job_of(struct counted *counted)
{
    return (struct schedule_job){
        begin, tick, end, tick_due_ns, other_due_ns, other, counted, THREAD_STACK_BYTES};
}

static void start(struct counted *counted, int64_t interval_ns)
{
    const struct schedule_job job = job_of(counted);
    assert_int_equal(schedule_init(&counted->schedule), GPUT_OK);
    assert_int_equal(
        schedule_start(&counted->schedule, clock_monotonic_ns(), interval_ns, &job, NULL), GPUT_OK);
}

static int ticks_of(struct counted *counted)
{
    pthread_mutex_lock(&counted->schedule.lock);
    int ticks = counted->ticks;
    pthread_mutex_unlock(&counted->schedule.lock);
    return ticks;
}

static void wait_for_ticks(struct counted *counted, int ticks)
{
    while (ticks_of(counted) < ticks)
        usleep(1000);
}

static void stop(struct counted *counted)
{
    schedule_stop(&counted->schedule);
    schedule_finish(&counted->schedule);
}

TEST(ticks_between_a_beginning_and_an_end)
{
    struct counted counted = {.tick_due_ns = INT64_MAX, .other_due_ns = INT64_MAX};
    start(&counted, INTERVAL_NS);
    wait_for_ticks(&counted, 3);
    assert_int_equal(counted.ended, 0);
    stop(&counted);
    assert_int_equal(counted.begun, 1);
    assert_true(counted.until_ns > 0 && counted.until_ns <= INTERVAL_NS);
    assert_int_equal(counted.ended, 1);
    assert_int_equal(counted.others, 0);
    int ticks = counted.ticks;
    schedule_stop(&counted.schedule); /* there is no thread any more */
    assert_int_equal(counted.ticks, ticks);
    assert_int_equal(counted.ended, 1);
}

TEST(counts_deadlines_that_passed_during_a_tick)
{
    struct counted counted = {
        .tick_due_ns = INT64_MAX, .other_due_ns = INT64_MAX, .sleeps_too_long = true};
    start(&counted, INTERVAL_NS);
    wait_for_ticks(&counted, 2);
    stop(&counted);
    assert_true(counted.schedule.missed_ticks >= 3);
}

TEST(a_job_can_have_a_tick_before_its_deadline)
{
    int64_t due_ns = clock_monotonic_ns() + NS_PER_SECOND / 500;
    struct counted counted = {.tick_due_ns = due_ns, .other_due_ns = INT64_MAX};
    start(&counted, INTERVAL_NS);
    wait_for_ticks(&counted, 1);
    assert_true(counted.first_ns >= due_ns);
    /* The deadline itself is kept. */
    wait_for_ticks(&counted, 2);
    assert_true(clock_monotonic_ns() >= counted.schedule.start_ns + INTERVAL_NS);
    stop(&counted);
}

TEST(does_other_work_between_ticks)
{
    struct counted counted = {
        .tick_due_ns = INT64_MAX, .other_due_ns = clock_monotonic_ns() + NS_PER_SECOND / 1000};
    start(&counted, INTERVAL_NS);
    wait_for_ticks(&counted, 1);
    stop(&counted);
    assert_int_equal(counted.others_at_first_tick, 1);
}

TEST(what_has_ended_already_needs_no_thread)
{
    struct counted counted = {.tick_due_ns = INT64_MAX, .other_due_ns = INT64_MAX};
    const struct schedule_job job = job_of(&counted);
    assert_int_equal(schedule_init(&counted.schedule), GPUT_OK);
    schedule_start_ended(&counted.schedule, &job);
    assert_false(counted.schedule.has_thread);
    assert_int_equal(counted.ended, 0);
    schedule_stop(&counted.schedule);
    assert_int_equal(counted.ended, 1);
    stop(&counted);
    assert_int_equal(counted.ended, 1);
    assert_int_equal(counted.begun, 0);
    assert_int_equal(counted.ticks, 0);
    assert_false(counted.schedule.had_thread);
}

static atomic_bool may_return;
static atomic_int n_begun;

static void begin_and_wait(void *user, int64_t until_ns)
{
    (void)user;
    (void)until_ns;
    atomic_fetch_add(&n_begun, 1);
    while (!atomic_load(&may_return))
        usleep(1000);
}

/* A reading of a process that waits for dead storage, for example. */
TEST(a_job_that_does_not_return_is_left_alone)
{
    static struct counted counted = {.tick_due_ns = INT64_MAX, .other_due_ns = INT64_MAX};
    struct schedule_job job = job_of(&counted);
    job.begin = begin_and_wait;
    assert_int_equal(schedule_init(&counted.schedule), GPUT_OK);
    counted.schedule.patience_seconds = 1;
    assert_int_equal(
        schedule_start(&counted.schedule, clock_monotonic_ns(), INTERVAL_NS, &job, NULL), GPUT_OK);
    while (!atomic_load(&n_begun))
        usleep(1000);
    assert_false(schedule_lock(&counted.schedule));
    assert_false(schedule_stop(&counted.schedule));
    assert_false(schedule_stop(&counted.schedule));
    /* It goes on after all, and sees that it is to end. */
    atomic_store(&may_return, true);
    while (!schedule_lock(&counted.schedule))
        usleep(1000);
    schedule_unlock(&counted.schedule);
}

RUN_TESTS(NULL, NULL)
