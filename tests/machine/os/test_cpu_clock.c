#include "machine/os/cpu_clock.h"

#include "base/clock.h"
#include "testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(reads_its_own_clock)
{
    int64_t before, after;
    assert_int_equal(cpu_clock_read(getpid(), &before), GPUT_OK);
    int64_t own = clock_process_cpu_ns();
    assert_int_equal(cpu_clock_read(getpid(), &after), GPUT_OK);
    assert_true(before <= own);
    assert_true(own <= after);
}

/* A child uses CPU time; its clock stays readable and right until it is reaped. */
TEST(a_zombie_still_has_its_clock)
{
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

TEST(there_is_no_process_0)
{
    int64_t ns;
    assert_int_equal(cpu_clock_read(0, &ns), GPUT_ERROR_GONE);
    assert_int_equal(cpu_clock_read(-1, &ns), GPUT_ERROR_GONE);
}

TEST(is_usable_where_self_is_our_own_pid)
{
    assert_true(cpu_clock_usable("/proc"));
    assert_false(cpu_clock_usable(fixture("procfs-hybrid")));
    assert_false(cpu_clock_usable(fixture("procfs-old")));
    assert_false(cpu_clock_usable("/no/such/root"));
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* An outer namespace may have given us the same pid. */
TEST(is_not_usable_where_we_have_a_second_number)
{
    char folder[] = "/tmp/gput-procfs-XXXXXX", pid[16], link[64], process[64], status[128];
    assert_non_null(mkdtemp(folder));
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(link, sizeof link, "%s/self", folder);
    snprintf(process, sizeof process, "%s/%s", folder, pid);
    assert_int_equal(symlink(pid, link), 0);
    assert_int_equal(mkdir(process, 0700), 0);
    static const char *const inner[] = {"", "\t7"};
    bool usable[2];
    for (int i = 0; i < 2; i++) {
        snprintf(status, sizeof status, "Name:\tx\nState:\tR\nPid:\t%s\nPPid:\t1\nNSpid:\t%s%s\n",
            pid, pid, inner[i]);
        write_file(process, "status", status);
        usable[i] = cpu_clock_usable(folder);
    }
    char file[96];
    snprintf(file, sizeof file, "%s/status", process);
    unlink(file);
    unlink(link);
    rmdir(process);
    rmdir(folder);
    assert_true(usable[0]);
    assert_false(usable[1]);
}

RUN_TESTS(NULL, NULL)
