#include "machine/os/cgroup.h"

#include "testing.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* fixture() has one buffer: two roots need two. */
struct roots {
    char procfs[4096];
    char sysfs[4096];
};

static struct roots roots_of(const char *name)
{
    struct roots roots;
    char path[256];
    snprintf(path, sizeof path, "procfs-%s", name);
    strcpy(roots.procfs, fixture(path));
    snprintf(path, sizeof path, "sysfs-%s", name);
    strcpy(roots.sysfs, fixture(path));
    return roots;
}

static void assert_directory(const struct cgroup_directory *group, const char *expected)
{
    assert_non_null(group->path);
    assert_non_null(strstr(group->path, "/fs/cgroup"));
    assert_string_equal(strstr(group->path, "/fs/cgroup") + strlen("/fs/cgroup"), expected);
}

TEST(version_2_gives_the_tightest_limit_on_the_way_up)
{
    struct roots roots = roots_of("cgroup-v2");
    struct cgroup cgroup;
    struct cgroup_limits limits;
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 300, &cgroup, NULL), GPUT_OK);
    assert_directory(&cgroup.memory, "/user.slice/job.scope/a step");
    assert_directory(&cgroup.unified, "/user.slice/job.scope/a step");
    assert_true(cgroup.cpu.is_v2);
    cgroup_limits_read(&cgroup, &limits);
    assert_float_equal(limits.memory_max_bytes, 2147483648.0, 0);
    assert_float_equal(limits.swap_max_bytes, 0, 0);
    assert_float_equal(limits.cpu_cores, 1.5, 0);
    assert_float_equal(limits.cpuset_cores, 5, 0);
    assert_float_equal(limits.pids_max, 1000, 0);
    cgroup_finish(&cgroup);
}

TEST(version_2_gives_usage)
{
    struct roots roots = roots_of("cgroup-v2");
    struct cgroup cgroup;
    struct cgroup_usage usage;
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 300, &cgroup, NULL), GPUT_OK);
    cgroup_usage_read(&cgroup, &usage);
    assert_float_equal(usage.memory_current_bytes, 104857600, 0);
    assert_float_equal(usage.memory_peak_bytes, 209715200, 0);
    assert_float_equal(usage.cpu_seconds, 2.5, 0);
    assert_float_equal(usage.cpu_user_seconds, 2.0, 0);
    assert_float_equal(usage.cpu_system_seconds, 0.5, 0);

    struct pid_vector processes = {0};
    assert_int_equal(cgroup_processes_read(cgroup.unified.path, &processes, NULL), GPUT_OK);
    assert_int_equal(processes.count, 2); /* 0 is a process outside our namespace */
    assert_int_equal(processes.pids[1], 305);
    pid_vector_finish(&processes);
    cgroup_finish(&cgroup);
}

/* Other lines are of parts of them, or of memory that no process has mapped. */
TEST(what_processes_have_mapped_is_anonymous_memory_and_mapped_files)
{
    const char *v1 = "cache 9000\nrss 1\nmapped_file 2\ntotal_cache 9000\ntotal_rss 4096\n"
                     "total_rss_huge 2048\ntotal_mapped_file 8192\n";
    const char *v2 = "anon 4096\nfile 90000\nkernel 70000\nfile_mapped 8192\nanon_thp 2048\n";
    struct cgroup_memory memory;
    cgroup_memory_parse(v1, false, &memory);
    assert_true(memory.anonymous_bytes == 4096 && memory.mapped_bytes == 8192);
    cgroup_memory_parse(v2, true, &memory);
    assert_true(memory.anonymous_bytes == 4096 && memory.mapped_bytes == 8192);
    cgroup_memory_parse(v1, true, &memory);
    assert_true(isnan(memory.anonymous_bytes) && isnan(memory.mapped_bytes));
    cgroup_memory_parse("anon 4096\n", true, &memory);
    assert_true(isnan(memory.anonymous_bytes) && isnan(memory.mapped_bytes));
    cgroup_memory_parse("", false, &memory);
    assert_true(isnan(memory.anonymous_bytes) && isnan(memory.mapped_bytes));
}

TEST(kills_for_want_of_memory_are_counted_by_either_version)
{
    const char *v2 = "low 0\nhigh 12\nmax 40\noom 3\noom_kill 2\noom_group_kill 1\n";
    assert_float_equal(cgroup_oom_kills_parse(v2), 2, 0);
    assert_float_equal(
        cgroup_oom_kills_parse("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"), 5, 0);
    /* Before Linux 4.13; cut off; nothing. */
    assert_true(isnan(cgroup_oom_kills_parse("oom_kill_disable 0\nunder_oom 0\n")));
    assert_true(isnan(cgroup_oom_kills_parse("oom 3\noom_kill")));
    assert_true(isnan(cgroup_oom_kills_parse("oom_kill x\n")));
    assert_true(isnan(cgroup_oom_kills_parse("")));
}

TEST(time_that_a_quota_held_is_read_of_both_versions)
{
    const char *v2 = "usage_usec 9\nnr_periods 3\nnr_throttled 2\nthrottled_usec 1500000\n";
    assert_float_equal(cgroup_throttled_parse(v2), 1.5, 1e-9);
    const char *v1 = "nr_periods 3\nnr_throttled 2\nthrottled_time 250000000\n";
    assert_float_equal(cgroup_throttled_parse(v1), 0.25, 1e-9);
    assert_true(isnan(cgroup_throttled_parse("usage_usec 9\n")));
    assert_true(isnan(cgroup_throttled_parse("throttled_usec x\nthrottled_time 5")));
    assert_true(isnan(cgroup_throttled_parse("")));
}

TEST(kills_are_read_of_the_group_of_a_process)
{
    struct roots roots = roots_of("cgroup-v2");
    struct cgroup cgroup;
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 300, &cgroup, NULL), GPUT_OK);
    assert_float_equal(cgroup_oom_kills_read(&cgroup.memory), 2, 0);
    cgroup_finish(&cgroup);
    roots = roots_of("cgroup-v1");
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 400, &cgroup, NULL), GPUT_OK);
    assert_float_equal(cgroup_oom_kills_read(&cgroup.memory), 1, 0);
    assert_true(isnan(cgroup_oom_kills_read(&cgroup.unified)));
    cgroup_finish(&cgroup);
}

TEST(a_removed_group_is_replaced_by_its_nearest_ancestor)
{
    struct roots roots = roots_of("cgroup-v2");
    struct cgroup cgroup;
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 301, &cgroup, NULL), GPUT_OK);
    assert_directory(&cgroup.memory, "/user.slice/job.scope");
    cgroup_finish(&cgroup);
}

TEST(version_1_in_a_container_shows_its_own_part)
{
    struct roots roots = roots_of("cgroup-v1");
    struct cgroup cgroup;
    struct cgroup_limits limits;
    struct cgroup_usage usage;
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 400, &cgroup, NULL), GPUT_OK);
    assert_null(cgroup.unified.path);
    assert_null(cgroup.pids.path); /* a hierarchy that is not mounted */
    assert_directory(&cgroup.memory, "/memory/inner");
    assert_directory(&cgroup.cpu, "/cpu,cpuacct");
    assert_directory(&cgroup.cpuset, "/cpuset");
    assert_false(cgroup.memory.is_v2);

    cgroup_limits_read(&cgroup, &limits);
    assert_float_equal(limits.memory_max_bytes, 536870912, 0);
    assert_float_equal(limits.cpu_cores, 0.5, 0);
    assert_float_equal(limits.cpuset_cores, 2, 0);
    assert_true(isnan(limits.pids_max));

    cgroup_usage_read(&cgroup, &usage);
    assert_float_equal(usage.memory_current_bytes, 1048576, 0);
    assert_float_equal(usage.memory_peak_bytes, 3145728, 0);
    assert_float_equal(usage.cpu_seconds, 3.0, 0);
    assert_float_equal(usage.cpu_user_seconds, 200.0 / (double)sysconf(_SC_CLK_TCK), 1e-9);
    assert_float_equal(usage.cpu_system_seconds, 90.0 / (double)sysconf(_SC_CLK_TCK), 1e-9);
    cgroup_finish(&cgroup);
}

TEST(hybrid_takes_controllers_from_version_1_and_keeps_the_unified_group)
{
    struct roots roots = roots_of("hybrid");
    struct cgroup cgroup;
    struct cgroup_limits limits;
    struct cgroup_usage usage;
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 4000, &cgroup, NULL), GPUT_OK);
    assert_directory(&cgroup.unified, "/unified");
    assert_true(cgroup.unified.is_v2);
    assert_directory(&cgroup.memory, "/memory/jobs/42");
    assert_directory(&cgroup.cpuacct, "/cpuacct");
    cgroup_limits_read(&cgroup, &limits);
    assert_true(isnan(limits.memory_max_bytes)); /* the highest number is not a limit */
    assert_true(isnan(limits.cpu_cores));
    assert_float_equal(limits.cpuset_cores, 2, 0);
    cgroup_usage_read(&cgroup, &usage);
    assert_float_equal(usage.memory_peak_bytes, 457998336, 0);
    assert_float_equal(usage.cpu_seconds, 432.753526579, 1e-9);
    cgroup_finish(&cgroup);
}

TEST(groups_outside_our_namespace_are_not_available)
{
    struct roots roots = roots_of("cgroup-v2");
    const char *mounts = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    struct cgroup cgroup;
    assert_int_equal(cgroup_parse("0::/../other\n", mounts, roots.sysfs, &cgroup), GPUT_OK);
    assert_null(cgroup.unified.path);
    assert_int_equal(cgroup_parse("0::/user.slice", mounts, roots.sysfs, &cgroup), GPUT_OK);
    assert_null(cgroup.unified.path); /* a truncated line */
    assert_int_equal(cgroup_parse("", "", roots.sysfs, &cgroup), GPUT_OK);
    struct cgroup_limits limits;
    struct cgroup_usage usage;
    cgroup_limits_read(&cgroup, &limits);
    cgroup_usage_read(&cgroup, &usage);
    assert_true(isnan(limits.memory_max_bytes));
    assert_true(isnan(usage.cpu_seconds));
}

TEST(a_mount_of_a_subtree_is_joined_where_it_belongs)
{
    struct roots roots = roots_of("cgroup-v2");
    struct cgroup cgroup;
    /* A mount of another part is skipped, and so is a sibling with the same prefix. */
    const char *mounts = "30 23 0:28 /user /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                         "31 23 0:28 /host /sys/fs/cgroup/user.slice rw - cgroup2 cgroup2 rw\n";
    assert_int_equal(cgroup_parse("0::/host/job.scope\n", mounts, roots.sysfs, &cgroup), GPUT_OK);
    assert_directory(&cgroup.unified, "/user.slice/job.scope");
    cgroup_finish(&cgroup);
    /* A process that sees its own group as the root. */
    assert_int_equal(cgroup_parse("0::/\n", mounts, roots.sysfs, &cgroup), GPUT_OK);
    assert_directory(&cgroup.unified, "");
    cgroup_finish(&cgroup);
}

TEST(a_process_that_is_gone_or_a_kernel_without_groups_is_an_error)
{
    struct roots roots = roots_of("old");
    struct cgroup cgroup;
    assert_int_equal(
        cgroup_find(roots.procfs, roots.sysfs, 100, &cgroup, NULL), GPUT_ERROR_UNSUPPORTED);
    assert_int_equal(cgroup_find(roots.procfs, roots.sysfs, 5, &cgroup, NULL), GPUT_ERROR_GONE);
    cgroup_finish(&cgroup);
}

RUN_TESTS(NULL, NULL)
