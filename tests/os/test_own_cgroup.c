/* On folders that look like control groups: what the kernel of this machine has matters not. */
#include "os/own_cgroup.h"

#include "fake_sysfs.h"

#include <math.h>
#include <sys/wait.h>

static struct cgroup_directory directory_of(const char *name, bool is_v2)
{
    static char paths[2][128];
    static int turn;
    char *path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", fake_sysfs, name);
    return (struct cgroup_directory){.path = path, .is_v2 = is_v2};
}

static bool is_there(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", fake_sysfs, name);
    return access(path, F_OK) == 0;
}

static void take_away(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", fake_sysfs, name);
    assert_int_equal(unlink(path), 0);
}

static int make_folder(void **state)
{
    (void)state;
    return fake_sysfs_create();
}

static void reads_what_a_group_of_version_2_counted(void **state)
{
    (void)state;
    struct own_cgroup own;
    struct cgroup_usage usage;
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.memory = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 4711);
    assert_true(own.is_v2 && own.directory_fd >= 0);
    assert_string_equal(own.why_not, "");
    assert_true(is_there("slice/gpu-tracker-4711"));
    fake_sysfs_write("slice/gpu-tracker-4711/memory.peak", "209715200\n");
    fake_sysfs_write("slice/gpu-tracker-4711/cpu.stat",
        "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n");
    own_cgroup_usage(&own, &usage);
    assert_true(usage.memory_peak_bytes == 209715200);
    assert_true(usage.cpu_seconds == 1.5 && usage.cpu_user_seconds == 1);
    take_away("slice/gpu-tracker-4711/memory.peak");
    take_away("slice/gpu-tracker-4711/cpu.stat");
    own_cgroup_remove(&own);
    assert_false(is_there("slice/gpu-tracker-4711"));
    assert_null(own.path);
}

static void a_group_that_nothing_ran_in_tells_nothing(void **state)
{
    (void)state;
    struct own_cgroup own;
    struct cgroup_usage usage;
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.memory = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 4711);
    fake_sysfs_write("slice/gpu-tracker-4711/memory.peak", "0\n");
    fake_sysfs_write("slice/gpu-tracker-4711/cpu.stat", "usage_usec 0\n");
    own_cgroup_usage(&own, &usage);
    assert_true(isnan(usage.memory_peak_bytes) && isnan(usage.cpu_seconds));
    own_cgroup_remove(&own);
}

static void memory_goes_before_cpu_time_and_version_1_counts_memory_alone(void **state)
{
    (void)state;
    struct own_cgroup own;
    fake_sysfs_write("memory/tasks", "");
    fake_sysfs_write("unified/cgroup.procs", "");
    struct cgroup here = {
        .memory = directory_of("memory", false), .unified = directory_of("unified", true)};
    own_cgroup_create(&own, &here, 1);
    assert_false(own.is_v2);
    assert_true(is_there("memory/gpu-tracker-1"));
    own_cgroup_remove(&own);
    here.memory.path = NULL;
    own_cgroup_create(&own, &here, 1);
    assert_true(own.is_v2);
    own_cgroup_remove(&own);
    here.unified.path = NULL;
    here.cpuacct = directory_of("memory", false);
    own_cgroup_create(&own, &here, 1);
    assert_null(own.path);
    assert_string_equal(own.why_not, "no control group counts memory here");
    own_cgroup_remove(&own);
}

static void a_child_moves_itself_where_version_1_is(void **state)
{
    (void)state;
    struct own_cgroup own;
    fake_sysfs_write("memory/tasks", "");
    struct cgroup here = {.memory = directory_of("memory", false)};
    own_cgroup_create(&own, &here, 1);
    fake_sysfs_write("memory/gpu-tracker-1/tasks", "");
    pid_t child = own_cgroup_fork(&own);
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    char path[160], text[8] = "";
    snprintf(path, sizeof path, "%s/memory/gpu-tracker-1/tasks", fake_sysfs);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "0");
    own_cgroup_remove(&own);
}

static void what_a_killed_tracker_left_is_removed(void **state)
{
    (void)state;
    struct own_cgroup own;
    char living[64], name[64];
    pid_t ended = fork();
    if (ended == 0)
        _exit(0);
    waitpid(ended, NULL, 0);
    snprintf(living, sizeof living, "slice/gpu-tracker-%d", (int)getppid());
    snprintf(name, sizeof name, "slice/gpu-tracker-%d/x", (int)ended);
    fake_sysfs_write(name, "");
    take_away(name);
    *strrchr(name, '/') = '\0';
    fake_sysfs_write("slice/other-4711/x", "");
    char file[80];
    snprintf(file, sizeof file, "%s/x", living);
    fake_sysfs_write(file, "");
    take_away(file);
    assert_true(is_there(name));
    struct cgroup here = {.memory = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 4711);
    assert_false(is_there(name));
    assert_true(is_there(living));
    assert_true(is_there("slice/other-4711"));
    own_cgroup_remove(&own);
}

static void where_none_can_be_made_there_is_a_reason(void **state)
{
    (void)state;
    struct own_cgroup own;
    struct cgroup_usage usage;
    struct cgroup here = {.memory = directory_of("nowhere", true)};
    own_cgroup_create(&own, &here, 1);
    assert_null(own.path);
    assert_string_equal(
        own.why_not, "no control group can be made here: No such file or directory");
    own_cgroup_usage(&own, &usage);
    assert_true(isnan(usage.memory_peak_bytes));
    own_cgroup_remove(&own);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, fake_sysfs_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(reads_what_a_group_of_version_2_counted),
        IN_FOLDER(a_group_that_nothing_ran_in_tells_nothing),
        IN_FOLDER(memory_goes_before_cpu_time_and_version_1_counts_memory_alone),
        IN_FOLDER(a_child_moves_itself_where_version_1_is),
        IN_FOLDER(what_a_killed_tracker_left_is_removed),
        IN_FOLDER(where_none_can_be_made_there_is_a_reason),
    };
    return cmocka_run_group_tests_name("os/own_cgroup", tests, NULL, NULL);
}
