#include "machine/os/proc_status.h"

#include "testing.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(reads_a_recorded_process)
{
    struct proc_status status;
    assert_int_equal(proc_status_read(fixture("procfs-hybrid"), 4000, &status, NULL), GPUT_OK);
    assert_int_equal(status.pid, 4000);
    assert_true(status.has_memory);
    assert_true(status.peak_rss_bytes > 10 << 20);
    assert_int_equal(status.namespace_count, 1);
    assert_int_equal(status.namespace_pids[0], 4000);
    assert_int_equal(status.allowed_cpu_count, 2);
    assert_true(status.voluntary_context_switches > 0);
}

TEST(old_kernels_have_fewer_fields)
{
    struct proc_status status;
    assert_int_equal(proc_status_read(fixture("procfs-old"), 100, &status, NULL), GPUT_OK);
    assert_int_equal(status.namespace_count, 0);
    assert_int_equal(status.allowed_cpu_count, 0);
    assert_int_equal(status.uid, 1000);
    assert_int_equal(status.peak_rss_bytes, 9000 * 1024);
}

TEST(zombies_have_no_memory)
{
    struct proc_status status;
    assert_int_equal(proc_status_read(fixture("procfs-hybrid"), 4004, &status, NULL), GPUT_OK);
    assert_false(status.has_memory);
}

TEST(reads_nested_namespaces_and_wide_masks)
{
    struct proc_status status;
    const char *text = "Pid:\t9\nPPid:\t8\n"
                       "NSpid:\t9\t8\t7\t6\t5\t4\t3\t2\t1\n"
                       "Cpus_allowed:\tff,00000000,0000000f\n"
                       "Cpus_allowed_list:\t0-3,64-71\n"
                       "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n";
    assert_int_equal(proc_status_parse(text, &status), GPUT_OK);
    assert_int_equal(status.namespace_count, PROC_STATUS_MAX_NAMESPACES);
    assert_int_equal(status.namespace_pids[0], 9);
    assert_int_equal(status.namespace_pids[7], 2);
    assert_int_equal(status.allowed_cpu_count, 12);
    assert_int_equal(status.voluntary_context_switches, 12);
    assert_int_equal(status.nonvoluntary_context_switches, 34);
}

TEST(shows_whether_sigchld_is_ignored)
{
    struct proc_status status;
    assert_int_equal(
        proc_status_parse("Pid:\t9\nPPid:\t1\nSigIgn:\t0000000000010000\n", &status), GPUT_OK);
    assert_true(status.ignores_children);
    assert_int_equal(
        proc_status_parse("Pid:\t9\nPPid:\t1\nSigIgn:\tfffffffffffeffff\n", &status), GPUT_OK);
    assert_false(status.ignores_children);
}

TEST(refuses_what_is_no_status)
{
    struct proc_status status;
    assert_int_equal(proc_status_parse("", &status), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_status_parse("Pid:\t9\nPPid:", &status), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_status_parse("PPid:\t9\n", &status), GPUT_ERROR_FORMAT);
}

/* Up to 65,536 of them; the kernel gives them before the memory. */
TEST(reads_a_process_of_a_user_with_many_groups)
{
    char folder[] = "/tmp/gput-status-XXXXXX", path[64];
    struct proc_status status;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/9", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/9/status", folder);
    FILE *file = fopen(path, "w");
    fputs("Pid:\t9\nPPid:\t1\nGroups:\t", file);
    for (int i = 0; i < 65536; i++)
        fprintf(file, "%d ", 1100000000 + i);
    fputs("\nVmHWM:\t  12 kB\nVmRSS:\t  11 kB\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(proc_status_read(folder, 9, &status, NULL), GPUT_OK);
    assert_true(status.has_memory);
    assert_int_equal(status.peak_rss_bytes, 12 * 1024);
    unlink(path);
    snprintf(path, sizeof path, "%s/9", folder);
    rmdir(path);
    rmdir(folder);
}

TEST(reads_itself)
{
    struct proc_status status;
    assert_int_equal(proc_status_read("/proc", getpid(), &status, NULL), GPUT_OK);
    assert_int_equal(status.pid, getpid());
    assert_int_equal(status.uid, getuid());
}

RUN_TESTS(NULL, NULL)
