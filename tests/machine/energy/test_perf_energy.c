#include "machine/energy/energy_counters.h"

#include "fake_sysfs.h"

TEST(reads_lists_of_cpus)
{
    int cpus[4];
    assert_int_equal(perf_energy_parse_cpus("0\n", cpus, 4), 1);
    assert_int_equal(cpus[0], 0);
    assert_int_equal(perf_energy_parse_cpus("0,18\n", cpus, 4), 2);
    assert_int_equal(cpus[1], 18);
    assert_int_equal(perf_energy_parse_cpus("0-1,36-40", cpus, 4), 4);
    assert_int_equal(cpus[3], 37);
    assert_int_equal(perf_energy_parse_cpus("", cpus, 4), 0);
    assert_int_equal(perf_energy_parse_cpus("x", cpus, 4), 0);
    assert_int_equal(perf_energy_parse_cpus("3-99999999999", cpus, 4), 0);
}

TEST(reads_events)
{
    uint64_t config;
    assert_true(perf_energy_parse_event("event=0x02\n", &config) && config == 2);
    assert_false(perf_energy_parse_event("event=", &config));
    assert_false(perf_energy_parse_event("", &config));
}

TEST(says_that_there_are_none)
{
    struct perf_energy perf;
    perf_energy_open("/nonexistent", &perf);
    assert_int_equal(perf.count, 0);
    assert_false(perf.refused);
    assert_non_null(strstr(perf.why_not, "/nonexistent/bus/event_source/devices/power"));
    perf_energy_close(&perf);
}

/* A type that no kernel knows represents one that it does not permit. */
TEST(says_that_they_are_refused)
{
    struct perf_energy perf;
    fake_sysfs_create();
    fake_sysfs_write("bus/event_source/devices/power/type", "2147483000\n");
    fake_sysfs_write("bus/event_source/devices/power/cpumask", "0\n");
    fake_sysfs_write("bus/event_source/devices/power/events/energy-pkg", "event=0x02\n");
    fake_sysfs_write("bus/event_source/devices/power/events/energy-pkg.scale", "2.3283064e-10\n");
    perf_energy_open(fake_sysfs, &perf);
    assert_int_equal(perf.count, 0);
    assert_true(perf.refused);
    assert_non_null(strstr(perf.why_not, "refused"));
    perf_energy_close(&perf);
    fake_sysfs_remove(NULL);
}

RUN_TESTS(NULL, NULL)
