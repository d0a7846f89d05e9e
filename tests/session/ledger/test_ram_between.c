#include "session/ledger/ram_between.h"

#include "base/clock.h"

#include "fake_sysfs.h"
#include "testing.h"

#include <math.h>

TEST(keeps_the_highest_of_scans_and_samples)
{
    struct ram_between between;
    ram_between_init(&between);
    assert_true(isnan(between.main_bytes) && isnan(between.at_least_bytes));
    ram_between_add_sample(&between, &(struct ram_figures){0}); /* nothing was seen */
    assert_true(isnan(between.at_least_bytes));
    assert_true(ram_between_begin_scan(&between));
    struct ram_figures ram = {
        .main.total = 10, .descendants.total = 20, .combined.total = 25, .at_least_bytes = 24};
    ram_between_add_scan(&between, &ram);
    ram = (struct ram_figures){.main.total = 12, .at_least_bytes = 30};
    ram_between_add_sample(&between, &ram);
    /* A sample has maxima of its own. */
    assert_true(between.main_bytes == 10);
    assert_true(between.descendants_bytes == 20);
    assert_true(between.combined_bytes == 25);
    assert_true(between.at_least_bytes == 30);
    assert_true(isnan(between.group_bytes));
}

TEST(a_group_that_cannot_be_read_is_not_tried_again)
{
    struct ram_between between;
    struct own_cgroup none = {0};
    ram_between_init(&between);
    ram_between_read_group(&between, &none);
    assert_true(isnan(between.group_bytes));
    assert_true(between.group_not_before_ns == INT64_MAX);
}

/* ---- a control group, made of files ---- */

struct group {
    double anonymous, mapped, charged, peak; /* MB */
};

static void write_bytes(const char *file, double megabytes)
{
    char text[32];
    snprintf(text, sizeof text, "%.0f\n", megabytes * 1e6);
    fake_sysfs_write(file, text);
}

/* Reads the group now, however short ago it was read. */
static void read_now(struct ram_between *between, const struct group *group)
{
    struct own_cgroup cgroup = {.v2.path = fake_sysfs};
    char text[128];
    snprintf(text, sizeof text, "anon %.0f\nfile 0\nfile_mapped %.0f\n", group->anonymous * 1e6,
        group->mapped * 1e6);
    fake_sysfs_write("memory.stat", text);
    write_bytes("memory.current", group->charged);
    write_bytes("memory.peak", group->peak);
    between->group_not_before_ns = 0;
    ram_between_read_group(between, &cgroup);
}

static bool is_watched(struct ram_between *between, const struct group *group, int64_t now_ns)
{
    struct own_cgroup cgroup = {.v2.path = fake_sysfs};
    read_now(between, group);
    ram_between_watch_group(between, &cgroup, now_ns);
    return ram_between_due_ns(between) != INT64_MAX;
}

TEST_WITH(mapped_files_count_as_far_as_processes_of_ours_map_files, NULL, fake_sysfs_remove)
{
    assert_int_equal(fake_sysfs_create(), 0);
    struct ram_between between;
    ram_between_init(&between);
    struct ram_figures ram = {.files_at_least_bytes = 5000000};
    ram_between_add_sample(&between, &ram);
    read_now(&between, &(struct group){.anonymous = 200, .mapped = 100});
    assert_true(between.group_bytes == 205e6 - cgroup_lag_bytes());
    ram.files_at_least_bytes = 150000000;
    ram_between_add_sample(&between, &ram);
    read_now(&between, &(struct group){.anonymous = 200, .mapped = 100});
    assert_true(between.group_bytes == 300e6 - cgroup_lag_bytes());
}

TEST_WITH(a_peak_that_is_gone_has_the_group_read_often, NULL, fake_sysfs_remove)
{
    assert_int_equal(fake_sysfs_create(), 0);
    struct ram_between between;
    ram_between_init(&between);
    int64_t second_ns = 1000000000, now_ns = clock_monotonic_ns();
    /* As high as now: samples see it. */
    assert_false(is_watched(&between, &(struct group){1000, 0, 1100, 1100}, now_ns));
    /* Page cache that is still there explains a peak, too. */
    assert_false(is_watched(&between, &(struct group){500, 0, 1100, 1600}, now_ns));
    assert_true(is_watched(&between, &(struct group){500, 0, 600, 2600}, now_ns));
    assert_true(is_watched(&between, &(struct group){500, 0, 600, 2600}, now_ns + second_ns));
    assert_true(between.watch_until_ns == now_ns + 10 * second_ns);
    /* Seen: 2400 and the 100 that are not mapped. */
    read_now(&between, &(struct group){2480, 0, 2600, 2600});
    assert_false(is_watched(&between, &(struct group){500, 0, 600, 2600}, now_ns + 2 * second_ns));
}

TEST_WITH(a_peak_that_does_not_rise_any_more_is_given_up, NULL, fake_sysfs_remove)
{
    assert_int_equal(fake_sysfs_create(), 0);
    struct ram_between between;
    ram_between_init(&between);
    const struct group group = {500, 0, 600, 2600};
    int64_t now_ns = clock_monotonic_ns();
    assert_true(is_watched(&between, &group, now_ns));
    between.group_not_before_ns = between.watch_until_ns;
    assert_true(ram_between_due_ns(&between) == INT64_MAX);
}

TEST(a_group_without_a_peak_is_not_read_often)
{
    struct ram_between between;
    struct own_cgroup none = {0};
    ram_between_init(&between);
    ram_between_read_group(&between, &none);
    ram_between_watch_group(&between, &none, 1);
    assert_true(ram_between_due_ns(&between) == INT64_MAX);
}

RUN_TESTS(NULL, NULL)
