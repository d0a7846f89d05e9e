#include "machine/os/cpu_count.h"

#include "testing.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

TEST(counts_lists_of_cpus)
{
    const struct {
        const char *text;
        uint32_t count;
    } lists[] = {
        {"0\n", 1},
        {"0-3,8\n", 5},
        {"0-3,8", 5},
        {"", 0},
        {"\n", 0},
        {"0-15:2/4", 8},
        {"0-6:1/3,9", 4},
        {"0-1023", 1024},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint32_t count = 99;
        assert_int_equal(cpu_list_parse(lists[i].text, &count), GPUT_OK);
        assert_int_equal(count, lists[i].count);
    }
}

TEST(refuses_what_is_no_list)
{
    const char *texts[] = {"x", "3-1", "1-", "1 2", "0-9:2", "0-9:2/", "0-9:0/4", "0-9:5/4",
        "0-99999999999", "1,,2", "0-2000000000,0-2000000000"};
    uint32_t count;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(cpu_list_parse(texts[i], &count), GPUT_ERROR_FORMAT);
}

TEST(online_cores_come_from_sysfs_or_else_from_stat)
{
    char sysfs[4096];
    uint32_t count = 0;
    strcpy(sysfs, fixture("sysfs-cgroup-v2"));
    assert_int_equal(cpu_count_online(fixture("procfs-old"), sysfs, &count, NULL), GPUT_OK);
    assert_int_equal(count, 5);
    assert_int_equal(
        cpu_count_online(fixture("procfs-old"), "/no/such/root", &count, NULL), GPUT_OK);
    assert_int_equal(count, 3);
    assert_int_equal(
        cpu_count_online("/no/such/root", "/no/such/root", &count, NULL), GPUT_ERROR_NOT_FOUND);
}

TEST(allowed_cores_of_a_recorded_process_come_from_its_status)
{
    uint32_t count = 0;
    assert_int_equal(
        cpu_count_allowed(fixture("procfs-hybrid"), false, 4000, &count, NULL), GPUT_OK);
    assert_int_equal(count, 2);
    assert_int_equal(
        cpu_count_allowed(fixture("procfs-old"), false, 100, &count, NULL), GPUT_ERROR_UNSUPPORTED);
    assert_int_equal(
        cpu_count_allowed(fixture("procfs-old"), false, 5, &count, NULL), GPUT_ERROR_GONE);
}

TEST(allowed_cores_follow_the_affinity)
{
    cpu_set_t before, one;
    uint32_t count = 0;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(cpu_count_allowed("/proc", true, getpid(), &count, NULL), GPUT_OK);
    assert_int_equal(count, CPU_COUNT(&before));
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    int code = cpu_count_allowed("/proc", true, getpid(), &count, NULL);
    sched_setaffinity(0, sizeof before, &before);
    assert_int_equal(code, GPUT_OK);
    assert_int_equal(count, 1);
}

TEST(lists_the_cpus_of_the_affinity)
{
    cpu_set_t before, one;
    char list[256], expected[16];
    uint32_t count = 0, listed = 0;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_true(cpu_list_allowed(getpid(), list, sizeof list));
    assert_int_equal(cpu_count_allowed("/proc", true, getpid(), &count, NULL), GPUT_OK);
    assert_int_equal(cpu_list_parse(list, &listed), GPUT_OK);
    assert_int_equal(listed, count);
    CPU_ZERO(&one);
    int cpu = sched_getcpu();
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    bool is_listed = cpu_list_allowed(getpid(), list, sizeof list);
    bool fits = cpu_list_allowed(getpid(), expected, 1);
    sched_setaffinity(0, sizeof before, &before);
    assert_true(is_listed);
    assert_false(fits);
    assert_string_equal(expected, "");
    snprintf(expected, sizeof expected, "%d", cpu);
    assert_string_equal(list, expected);
}

RUN_TESTS(NULL, NULL)
