/* Timestamps while the system's time is set. */
#include "base/wall_clock.h"
#include "testing.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_NS (3600 * NS_PER_SECOND)
/* Far more than it takes to read two clocks. */
#define MOMENT_NS (600 * NS_PER_SECOND)

/* How far the system's time is ahead; the library under test gets the time here. */
static int64_t ahead_ns;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int code = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME)
        *time = clock_timespec_of_ns(clock_ns_of_timespec(*time) + ahead_ns);
    return code;
}

static bool is_near(int64_t a_ns, int64_t b_ns)
{
    return llabs(a_ns - b_ns) < MOMENT_NS;
}

/* Two clocks that differ by a second; the thread is interrupted when it has read one of them. */
static int64_t now_ns, interruptions;

static int64_t read_fake_ns(void)
{
    now_ns += 30 + (interruptions-- > 0 ? NS_PER_SECOND / 10 : 0);
    return now_ns;
}

static int64_t read_later_fake_ns(void)
{
    return read_fake_ns() + NS_PER_SECOND;
}

TEST(two_clocks_are_read_at_one_moment_whatever_interrupts)
{
    for (int64_t n = 0; n <= 6; n++) {
        interruptions = n;
        struct clock_pair now = clock_read_pair(read_fake_ns, read_later_fake_ns);
        assert_true(llabs(now.second_ns - now.first_ns - NS_PER_SECOND) <= 30);
    }
}

TEST(begins_with_the_system_s_time)
{
    ahead_ns = 0;
    assert_true(is_near(wall_clock_ns(), clock_realtime_ns()));
    assert_true(is_near(wall_clock_behind_ns(), 0));
}

TEST(goes_on_when_the_system_s_time_is_set)
{
    static const int64_t steps[] = {STEP_NS, -STEP_NS};
    ahead_ns = 0;
    for (size_t i = 0; i < 2; i++) {
        int64_t before_ns = wall_clock_ns();
        ahead_ns = steps[i];
        int64_t after_ns = wall_clock_ns();
        assert_true(after_ns >= before_ns && is_near(after_ns, before_ns));
        assert_true(is_near(wall_clock_behind_ns(), steps[i]));
    }
}

TEST(a_session_takes_the_new_time_unless_another_one_runs)
{
    ahead_ns = 0;
    wall_clock_begin_session();
    ahead_ns = STEP_NS;
    wall_clock_begin_session();
    assert_true(is_near(wall_clock_behind_ns(), STEP_NS));
    wall_clock_end_session();
    wall_clock_end_session();
    assert_true(is_near(wall_clock_behind_ns(), STEP_NS));
    wall_clock_begin_session();
    assert_true(is_near(wall_clock_behind_ns(), 0));
    wall_clock_end_session();
}

TEST(a_forked_child_goes_on_with_the_clock_of_its_parent)
{
    ahead_ns = 0;
    wall_clock_begin_session();
    wall_clock_end_session();
    pid_t child = fork();
    if (child == 0) {
        ahead_ns = STEP_NS;
        _exit(is_near(wall_clock_behind_ns(), STEP_NS) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

RUN_TESTS(NULL, NULL)
