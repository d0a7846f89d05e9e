#include "os/cpu_clock.h"

#include "base/clock.h"
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void reads_its_own_clock(void **state)
{
    (void)state;
    int64_t before, after;
    assert_int_equal(cpu_clock_read(getpid(), &before), GPUT_OK);
    int64_t own = clock_process_cpu_ns();
    assert_int_equal(cpu_clock_read(getpid(), &after), GPUT_OK);
    assert_true(before <= own);
    assert_true(own <= after);
}

/* A child burns CPU time; its clock stays readable, and true, until it is reaped. */
static void a_zombie_still_has_its_clock(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        while (clock_process_cpu_ns() < 20000000)
            ;
        _exit(0);
    }
    siginfo_t info;
    int64_t ns = 0;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    int code = cpu_clock_read(child, &ns);
    waitpid(child, NULL, 0);
    assert_int_equal(code, GPUT_OK);
    assert_true(ns >= 20000000);
    assert_int_equal(cpu_clock_read(child, &ns), GPUT_ERROR_GONE);
}

static void there_is_no_process_0(void **state)
{
    (void)state;
    int64_t ns;
    assert_int_equal(cpu_clock_read(0, &ns), GPUT_ERROR_GONE);
    assert_int_equal(cpu_clock_read(-1, &ns), GPUT_ERROR_GONE);
}

static void is_usable_where_self_is_our_own_pid(void **state)
{
    (void)state;
    assert_true(cpu_clock_usable("/proc"));
    assert_false(cpu_clock_usable(fixture("procfs-hybrid")));
    assert_false(cpu_clock_usable(fixture("procfs-old")));
    assert_false(cpu_clock_usable("/no/such/root"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_its_own_clock),
        cmocka_unit_test(a_zombie_still_has_its_clock),
        cmocka_unit_test(there_is_no_process_0),
        cmocka_unit_test(is_usable_where_self_is_our_own_pid),
    };
    return cmocka_run_group_tests_name("os/cpu_clock", tests, NULL, NULL);
}
