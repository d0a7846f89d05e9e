#include "machine/os/proc_stat.h"

#include "testing.h"

#include <string.h>
#include <unistd.h>

TEST(reads_every_field_of_a_recorded_process)
{
    struct proc_stat stat;
    assert_int_equal(proc_stat_read(fixture("procfs-old"), 100, &stat, NULL), GPUT_OK);
    assert_int_equal(stat.pid, 100);
    assert_string_equal(stat.name, "worker pool");
    assert_int_equal(stat.state, 'S');
    assert_int_equal(stat.ppid, 1);
    assert_int_equal(stat.session, 100);
    assert_int_equal(stat.flags, 4202752);
    assert_int_equal(stat.minor_faults, 1500);
    assert_int_equal(stat.cminor_faults, 300);
    assert_int_equal(stat.major_faults, 2);
    assert_int_equal(stat.cmajor_faults, 1);
    assert_int_equal(stat.utime_ticks, 250);
    assert_int_equal(stat.stime_ticks, 50);
    assert_int_equal(stat.cutime_ticks, 10);
    assert_int_equal(stat.cstime_ticks, 5);
    assert_int_equal(stat.thread_count, 2);
    assert_int_equal(stat.start_time_ticks, 5000);
    assert_int_equal(stat.start_stack_address, UINT64_C(140730000000000));
}

TEST(names_may_hold_blanks_parentheses_and_newlines)
{
    struct proc_stat stat;
    assert_int_equal(proc_stat_read(fixture("procfs-hybrid"), 4005, &stat, NULL), GPUT_OK);
    assert_string_equal(stat.name, "a) b (c\nd");
    assert_int_equal(stat.ppid, 4000);
    assert_int_equal(stat.thread_count, 1);

    const char *empty = "7 () Z 1 2 3 0 -1 4 5 6 7 8 9 10 -11 12 20 -5 1 0 99 0 -3\n";
    assert_int_equal(proc_stat_parse(empty, &stat), GPUT_OK);
    assert_string_equal(stat.name, "");
    assert_int_equal(stat.start_stack_address, 0);
}

TEST(long_names_are_truncated)
{
    char text[256];
    struct proc_stat stat;
    snprintf(
        text, sizeof text, "7 (%0100d) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 99 0 0\n", 5);
    assert_int_equal(proc_stat_parse(text, &stat), GPUT_OK);
    assert_int_equal(strlen(stat.name), sizeof stat.name - 1);
}

TEST(zombies_and_kernel_threads_have_no_memory)
{
    struct proc_stat stat;
    assert_int_equal(proc_stat_read(fixture("procfs-hybrid"), 4004, &stat, NULL), GPUT_OK);
    assert_int_equal(stat.state, 'Z');
    assert_int_equal(proc_stat_read(fixture("procfs-hybrid"), 2, &stat, NULL), GPUT_OK);
    assert_int_equal(stat.ppid, 0);
}

TEST(refuses_what_is_no_stat)
{
    const char *texts[] = {
        "",
        "7",
        "7 (x",
        "7 (x)",
        "7 (x) ",
        "7 (x) S",
        "7 (x) S 1 2 3",
        "x (x) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 99 0 0\n",
        "7 (x) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 99 0 -\n",
        "7 (x) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 18446744073709551616 0 0\n",
        "99999999999 (x) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 99 0 0\n",
    };
    struct proc_stat stat;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(proc_stat_parse(texts[i], &stat), GPUT_ERROR_FORMAT);
}

TEST(reads_itself)
{
    struct proc_stat stat;
    assert_int_equal(proc_stat_read("/proc", getpid(), &stat, NULL), GPUT_OK);
    assert_int_equal(stat.pid, getpid());
    assert_int_equal(stat.ppid, getppid());
    assert_int_equal(stat.session, getsid(0));
    assert_int_equal(stat.state, 'R');
}

RUN_TESTS(NULL, NULL)
