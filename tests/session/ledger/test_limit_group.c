#include "session/ledger/session_cgroups.h"

#include "fake_sysfs.h"
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int make_folder(void **state)
{
    (void)state;
    return fake_sysfs_create();
}

static void begin(struct limit_group *group, char path[static 128])
{
    snprintf(path, 128, "%s/slice/pod/box", fake_sysfs);
    const struct cgroup cgroup = {
        .memory = {.path = path, .mount_length = strlen(fake_sysfs), .is_v2 = true}};
    struct cgroup_limits limits;
    cgroup_limits_read(&cgroup, &limits);
    limit_group_begin(group, &cgroup, &limits);
}

static struct gput_peak filled(const struct limit_group *group, double own_bytes)
{
    struct gput_peak peak;
    limit_group_fill(group, own_bytes, &peak);
    return peak;
}

TEST(it_is_the_group_that_has_the_tightest_limit)
{
    char path[128];
    struct limit_group group = {0};
    fake_sysfs_write("slice/memory.max", "9000\n");
    fake_sysfs_write("slice/pod/memory.max", "5000\n");
    fake_sysfs_write("slice/pod/memory.current", "1000\n");
    fake_sysfs_write("slice/pod/memory.peak", "4000\n");
    fake_sysfs_write("slice/pod/box/memory.max", "max\n");
    fake_sysfs_write("slice/pod/box/memory.current", "77\n");
    begin(&group, path);
    assert_true(filled(&group, NAN).bytes == 1000);
    assert_true(filled(&group, 1500).bytes == 1500);
    assert_true(filled(&group, 1500).at_most_bytes == 4000);
    fake_sysfs_write("slice/pod/memory.current", "2000\n");
    limit_group_update(&group);
    fake_sysfs_write("slice/pod/memory.current", "100\n");
    limit_group_update(&group);
    assert_true(filled(&group, NAN).bytes == 2000);
    fake_sysfs_write("slice/pod/memory.peak", "4500\n"); /* it has risen since */
    limit_group_update(&group);
    assert_true(filled(&group, 1500).bytes == 4500);
    assert_string_equal(filled(&group, 1500).source,
        "the kernel's peak of that group, possibly shared with other processes");
    limit_group_finish(&group);
}

TEST(where_no_group_has_a_limit_nothing_is_compared)
{
    struct limit_group group = {0};
    limit_group_begin(&group, &(struct cgroup){0}, &(struct cgroup_limits){0});
    limit_group_update(&group);
    assert_true(isnan(filled(&group, 1500).bytes));
    assert_string_equal(filled(&group, 1500).source, "no control group has a limit");
    limit_group_finish(&group);
}

RUN_TESTS(make_folder, fake_sysfs_remove)
