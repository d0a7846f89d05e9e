#include "session/sampler/session_counts.h"

#include "machine/os/proc_stat.h"
#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

TEST(what_a_living_process_counted_before_is_subtracted)
{
    struct proc_stat stat;
    const struct task_counts before = {.minor_faults = 1};
    struct session_counts counts = {0};
    assert_int_equal(proc_stat_read("/proc", getpid(), &stat, NULL), GPUT_OK);
    session_counts_add_living(&counts, NULL, "/proc", getpid(), stat.start_time_ticks, &before);
    assert_int_equal(counts.living, 1);
    assert_true(counts.tasks.minor_faults + 1 >= stat.minor_faults + stat.cminor_faults);
    assert_false(counts.lacks_some);
    /* The pid was reused. */
    session_counts_add_living(&counts, NULL, "/proc", getpid(), stat.start_time_ticks + 1, &before);
    assert_int_equal(counts.living, 1);
    assert_true(counts.lacks_some);
}

/* A descriptor that was opened in time can be read when the process has ended. */
TEST(io_of_a_process_that_ended_stays_readable)
{
    struct session_counts counts = {0};
    int hold[2];
    assert_int_equal(pipe(hold), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/io", (int)child);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    close(hold[0]);
    close(hold[1]);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    session_counts_add_io_fd(&counts, fileno(file));
    fclose(file);
    waitpid(child, NULL, 0);
    assert_int_equal(counts.without_io, 0);
}

RUN_TESTS(NULL, NULL)
