#include "session/ledger/system_counters.h"

#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

static const struct session_starts quiet = {
    .is_known = true, .started = 1000, .threads = 200, .last_pid = 500, .pid_max = 32768};

static struct session_starts later(uint64_t started, uint64_t last_pid)
{
    struct session_starts starts = quiet;
    starts.started += started;
    starts.last_pid = last_pid;
    return starts;
}

static uint64_t between(const struct session_starts *after, uint64_t least)
{
    return session_starts_between(&quiet, after, (struct found_pids){0}, least);
}

TEST(the_namespaces_pids_count_only_its_own_starts)
{
    struct session_starts after = later(3000, 502);
    assert_int_equal(between(&after, 2), 2);
}

TEST(the_machines_forks_bound_those_of_the_namespace)
{
    struct session_starts after = later(4, 540); /* pids in use are skipped */
    assert_int_equal(between(&after, 2), 4);
}

TEST(pids_that_may_have_wrapped_bound_nothing)
{
    struct session_starts after = later(20000, 502);
    assert_int_equal(between(&after, 2), 20000);
    after = later(100, 400);
    assert_int_equal(between(&after, 2), 100);
    after = later(100, 502);
    after.pid_max = 65536;
    assert_int_equal(between(&after, 2), 100);
    struct session_starts before = quiet;
    before.threads = 32300;
    after = later(100, 502);
    assert_int_equal(session_starts_between(&before, &after, (struct found_pids){0}, 2), 100);
    before.pid_max = after.pid_max = 0;
    assert_int_equal(session_starts_between(&before, &after, (struct found_pids){0}, 2), 100);
}

/* clone3() with a chosen pid leaves the last one as it was. */
TEST(where_pids_were_chosen_the_last_one_proves_nothing)
{
    struct session_starts after = later(30, 502);
    assert_int_equal(session_starts_between(&quiet, &after, (struct found_pids){501, 502}, 1), 2);
    assert_int_equal(session_starts_between(&quiet, &after, (struct found_pids){501, 700}, 1), 30);
    assert_int_equal(session_starts_between(&quiet, &after, (struct found_pids){90, 502}, 1), 30);
    /* In the first namespace every start should have given out a pid. */
    struct session_starts before = quiet;
    before.is_initial = true;
    assert_int_equal(session_starts_between(&before, &after, (struct found_pids){0}, 1), 30);
}

TEST(counters_that_missed_a_known_start_are_ignored)
{
    struct session_starts after = later(0, 500);
    assert_int_equal(between(&after, 2), UINT64_MAX);
    after = later(100, 501);
    assert_int_equal(between(&after, 2), 100);
    after = later(0, 500);
    after.started = 10;
    assert_int_equal(between(&after, 2), UINT64_MAX);
    after = later(3, 503);
    after.is_known = false;
    assert_int_equal(between(&after, 2), UINT64_MAX);
}

TEST(every_start_increases_the_kernels_counters)
{
    struct session_starts before, after;
    session_starts_read("/proc", &before);
    if (!before.is_known)
        SKIP("the kernel counts no starts");
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    session_starts_read("/proc", &after);
    assert_true(after.is_known);
    assert_true(session_starts_between(&before, &after, (struct found_pids){0}, 0) >= 1);
}

TEST(files_that_are_not_the_kernels_are_ignored)
{
    struct session_starts starts;
    session_starts_read("/nowhere", &starts);
    assert_false(starts.is_known);
    session_starts_read("/tmp", &starts);
    assert_false(starts.is_known);
}

RUN_TESTS(NULL, NULL)
