#include "session/ledger/session_cgroups.h"

#include "fake_sysfs.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static int make_folder(void **state)
{
    (void)state;
    return fake_sysfs_create();
}

static struct cgroup_directory directory_of(char path[static 128], const char *name, bool is_v2)
{
    snprintf(path, 128, "%s/%s", fake_sysfs, name);
    return (struct cgroup_directory){.path = path, .is_v2 = is_v2};
}

static double filled(const struct oom_kills *kills, const char *reason)
{
    struct gput_accounting accounting;
    oom_kills_fill(kills, &accounting);
    assert_string_equal(accounting.oom_killed_reason, reason);
    return accounting.oom_killed;
}

TEST(kills_from_before_do_not_count)
{
    char path[128];
    struct own_cgroup none = {0};
    struct oom_kills kills = {0};
    struct cgroup_directory memory = directory_of(path, "slice", true);
    const char *shared = "counted by its control group, possibly shared with other processes";
    fake_sysfs_write("slice/memory.events", "oom 7\noom_kill 7\n");
    oom_kills_begin(&kills, &memory);
    oom_kills_update(&kills, &none, 0, false);
    assert_true(filled(&kills, shared) == 0);
    fake_sysfs_write("slice/memory.events", "oom 9\noom_kill 9\n");
    oom_kills_update(&kills, &none, 1, false);
    assert_true(filled(&kills, shared) == 2);
    fake_sysfs_write("slice/memory.events", ""); /* the group is gone */
    oom_kills_update(&kills, &none, 2, false);
    assert_true(filled(&kills, shared) == 2);
    oom_kills_finish(&kills);
}

TEST(they_are_read_when_a_process_has_ended_and_once_at_the_end)
{
    char path[128];
    struct own_cgroup none = {0};
    struct oom_kills kills = {0};
    struct cgroup_directory memory = directory_of(path, "slice", true);
    const char *shared = "counted by its control group, possibly shared with other processes";
    const struct {
        unsigned ended;
        bool is_final;
        double known;
    } updates[] = {{5, false, 1}, {5, false, 1}, {6, false, 3}, {6, true, 4}, {7, true, 4}};
    fake_sysfs_write("slice/memory.events", "oom_kill 0\n");
    oom_kills_begin(&kills, &memory);
    for (unsigned i = 0; i < sizeof updates / sizeof *updates; i++) {
        char text[32];
        snprintf(text, sizeof text, "oom_kill %u\n", i + 1);
        fake_sysfs_write("slice/memory.events", text);
        oom_kills_update(&kills, &none, updates[i].ended, updates[i].is_final);
        assert_true(filled(&kills, shared) == updates[i].known);
    }
    oom_kills_finish(&kills);
}

/* Of the group around it others may have been killed. */
TEST(the_group_of_the_command_alone_is_preferred)
{
    char path[128], own_path[128];
    directory_of(own_path, "memory/own", false);
    struct own_cgroup own = {.v1 = {own_path, -1}};
    struct oom_kills kills = {0};
    struct cgroup_directory memory = directory_of(path, "memory", false);
    fake_sysfs_write("memory/memory.oom_control", "under_oom 0\noom_kill 0\n");
    oom_kills_begin(&kills, &memory);
    fake_sysfs_write("memory/memory.oom_control", "under_oom 0\noom_kill 3\n");
    fake_sysfs_write("memory/own/memory.oom_control", "under_oom 0\noom_kill 0\n");
    oom_kills_update(
        &kills, &own, 1, false); /* the command was not moved into it: nothing is charged */
    assert_true(filled(&kills, "counted by its control group, possibly shared with other "
                               "processes; version 1: without groups below it") == 3);
    fake_sysfs_write("memory/own/memory.max_usage_in_bytes", "4096\n");
    oom_kills_update(&kills, &own, 2, false);
    assert_true(
        filled(&kills,
            "counted by the command's own control group; version 1: without groups below it") == 0);
    fake_sysfs_write("memory/own/memory.oom_control", "under_oom 0\noom_kill 1\n");
    oom_kills_update(&kills, &own, 3, false);
    assert_true(
        filled(&kills,
            "counted by the command's own control group; version 1: without groups below it") == 1);
    oom_kills_finish(&kills);
}

TEST(without_control_groups_it_is_not_known)
{
    struct own_cgroup none = {0};
    struct cgroup_directory nowhere = {0};
    struct oom_kills kills = {0};
    oom_kills_begin(&kills, &nowhere);
    oom_kills_update(&kills, &none, 0, false);
    assert_true(isnan(filled(&kills, "no control group counts OOM kills")));
    oom_kills_finish(&kills);
}

RUN_TESTS(make_folder, fake_sysfs_remove)
