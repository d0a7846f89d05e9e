#include "machine/os/system_stat.h"

#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

TEST(reads_threads_and_the_last_pid)
{
    struct loadavg loadavg;
    assert_int_equal(loadavg_read(fixture("procfs-old"), &loadavg, NULL), GPUT_OK);
    assert_int_equal(loadavg.threads, 80);
    assert_int_equal(loadavg.last_pid, 11206);
}

TEST(the_last_pid_changes_with_a_fork)
{
    struct loadavg before, after;
    assert_int_equal(loadavg_read("/proc", &before, NULL), GPUT_OK);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    assert_int_equal(loadavg_read("/proc", &after, NULL), GPUT_OK);
    assert_int_not_equal(before.last_pid, after.last_pid);
}

TEST(refuses_what_is_no_loadavg)
{
    const char *texts[] = {"", "0.20", "0.20 1.18 12.12", "0.20 1.18 12.12 1/80",
        "0.20 1.18 12.12 1 80", "0 1 2 1/80 5", "0.20 1.18 12.12 1/80 x"};
    struct loadavg loadavg;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(loadavg_parse(texts[i], &loadavg), GPUT_ERROR_FORMAT);
}

RUN_TESTS(NULL, NULL)
