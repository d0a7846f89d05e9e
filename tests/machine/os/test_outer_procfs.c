/* Two procfs as files: that of a container, and the host's, which is mounted in it. */
#include "fake_sysfs.h"
#include "machine/os/mountinfo.h"

/* Field 22 of stat is the start time. */
static void write_process(const char *root, int pid, const char *pids, long start, long space)
{
    char file[128], text[512];
    snprintf(file, sizeof file, "%s/%d/status", root, pid);
    snprintf(text, sizeof text,
        "Name:\tx\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nNSpid:\t%s\n", pid, pid,
        pids);
    fake_sysfs_write(file, text);
    snprintf(file, sizeof file, "%s/%d/stat", root, pid);
    snprintf(text, sizeof text,
        "%d (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %ld 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 "
        "0 "
        "0 0 0 0 0 0 0 0 0 0\n",
        pid, start);
    fake_sysfs_write(file, text);
    char path[256], target[32];
    snprintf(path, sizeof path, "%s/%s/%d/ns", fake_sysfs, root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/%s/%d/ns/pid", fake_sysfs, root, pid);
    snprintf(target, sizeof target, "pid:[%ld]", space);
    assert_int_equal(symlink(target, path), 0);
}

static void write_self(const char *root, const char *pid)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s/self", fake_sysfs, root);
    assert_int_equal(symlink(pid, path), 0);
}

static char inner[128];

/* We are 57 in the container and 4711 on the host. */
static int build(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(fake_sysfs_create(), 0);
    snprintf(inner, sizeof inner, "%s/in", fake_sysfs);
    write_process("in", 57, "57", 1000, 99);
    write_process("in", 58, "58", 2000, 99);
    write_process("in", 59, "59", 3000, 99);
    write_process("host", 4711, "4711\t57", 1000, 99);
    write_process("host", 4712, "4712\t58", 2000, 99);
    write_process("host", 4713, "4713\t59", 3000, 77); /* of another container */
    write_process("host", 4714, "4714\t58", 2001, 99); /* another process that had that pid */
    write_process("host", 57, "57", 50, 1);            /* the host's own */
    write_self("in", "57");
    write_self("host", "4711");
    snprintf(text, sizeof text,
        "20 1 0:5 / / rw - overlay overlay rw\n21 20 0:6 / %s/in rw - proc proc rw\n"
        "22 20 0:7 /sys %s/host rw - proc proc rw\n23 20 0:7 / %s/host rw - proc proc rw\n",
        fake_sysfs, fake_sysfs, fake_sysfs);
    fake_sysfs_write("in/57/mountinfo", text);
    return 0;
}

#define IN_PROCFS(name) TEST_WITH(name, build, fake_sysfs_remove)

IN_PROCFS(pids_of_the_host_are_translated_where_its_procfs_is_mounted)
{
    struct outer_procfs outer;
    outer_procfs_find(inner, &outer);
    assert_non_null(outer.root);
    assert_int_equal(outer.depth, 1);
    assert_int_equal(outer_procfs_translate(&outer, inner, 4711), 57);
    assert_int_equal(outer_procfs_translate(&outer, inner, 4712), 58);
    outer_procfs_finish(&outer);
    assert_null(outer.root);
}

IN_PROCFS(processes_that_only_share_a_number_are_not_ours)
{
    struct outer_procfs outer;
    outer_procfs_find(inner, &outer);
    assert_int_equal(outer_procfs_translate(&outer, inner, 57), 0);
    assert_int_equal(outer_procfs_translate(&outer, inner, 4713), 0);
    assert_int_equal(outer_procfs_translate(&outer, inner, 4714), 0);
    assert_int_equal(outer_procfs_translate(&outer, inner, 4999), -1);
    outer_procfs_finish(&outer);
}

IN_PROCFS(without_a_procfs_of_the_host_there_is_none)
{
    struct outer_procfs outer;
    fake_sysfs_write("in/57/mountinfo", "21 20 0:6 / /nonexistent rw - proc proc rw\n");
    outer_procfs_find(inner, &outer);
    assert_null(outer.root);
    assert_int_equal(outer_procfs_translate(&outer, inner, 4711), -1);
    outer_procfs_find("/nonexistent", &outer);
    assert_null(outer.root);
    outer_procfs_finish(&outer);
}

IN_PROCFS(a_procfs_of_our_own_namespace_is_no_outer_one)
{
    struct outer_procfs outer;
    char text[256];
    snprintf(text, sizeof text, "21 20 0:6 / %s/in rw - proc proc rw\n", fake_sysfs);
    fake_sysfs_write("in/57/mountinfo", text);
    outer_procfs_find(inner, &outer);
    assert_null(outer.root);
    outer_procfs_finish(&outer);
}

RUN_TESTS(NULL, NULL)
