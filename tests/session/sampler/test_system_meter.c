#include "base/clock.h"
#include "machine/process/fake_procfs.h"
#include "session/sampler/system_meter.h"

#include <math.h>

static void put_cpu(const struct fake_procfs *fake, unsigned busy, unsigned idle)
{
    char text[256];
    /* user nice system idle iowait irq softirq steal guest guest_nice */
    snprintf(text, sizeof text, "cpu  %u 0 0 %u 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\nbtime 1\n",
        busy, idle);
    fake_write(fake, text, "stat");
}

static void put_ram(const struct fake_procfs *fake, unsigned total_kb, unsigned available_kb)
{
    char text[256];
    snprintf(text, sizeof text, "MemTotal: %u kB\nMemFree: 0 kB\nMemAvailable: %u kB\n", total_kb,
        available_kb);
    fake_write(fake, text, "meminfo");
}

TEST(gives_used_and_total_ram_in_bytes)
{
    struct fake_procfs fake;
    struct system_meter meter;
    fake_procfs_init(&fake);
    put_cpu(&fake, 0, 0);
    put_ram(&fake, 1000, 400);
    system_meter_init(&meter, fake.root, 4, 0);
    system_meter_start(&meter, 0);
    assert_true(meter.ram_capacity_bytes == 1000 * 1024);
    assert_true(meter.ram_used_bytes == 600 * 1024);
    put_ram(&fake, 1000, 100);
    system_meter_read(&meter, 1);
    assert_true(meter.ram_used_bytes == 600 * 1024);
    system_meter_read(&meter, NS_PER_SECOND / 100);
    assert_true(meter.ram_used_bytes == 900 * 1024);
    system_meter_finish(&meter);
    fake_procfs_finish(&fake);
}

TEST(gives_cpu_over_the_interval_in_cores)
{
    struct fake_procfs fake;
    struct system_meter meter;
    fake_procfs_init(&fake);
    put_cpu(&fake, 1000, 1000);
    system_meter_init(&meter, fake.root, 4, 0);
    system_meter_start(&meter, 0);
    assert_true(isnan(meter.cpu_sum_percent));
    put_cpu(&fake, 1100, 1300);
    system_meter_read(&meter, NS_PER_SECOND);
    /* 100 of 400 ticks, of four cores. */
    assert_true(meter.cpu_sum_percent == 100);
    put_cpu(&fake, 1500, 1300);
    system_meter_read(&meter, 2 * NS_PER_SECOND);
    assert_true(meter.cpu_sum_percent == 400);
    system_meter_finish(&meter);
    fake_procfs_finish(&fake);
}

TEST(a_short_interval_is_extended_until_it_is_long_enough)
{
    struct fake_procfs fake;
    struct system_meter meter;
    fake_procfs_init(&fake);
    put_cpu(&fake, 0, 0);
    system_meter_init(&meter, fake.root, 1, 0);
    system_meter_start(&meter, 0);
    put_cpu(&fake, 1, 1);
    system_meter_read(&meter, NS_PER_SECOND / 1000);
    assert_true(isnan(meter.cpu_sum_percent));
    put_cpu(&fake, 10, 10);
    system_meter_read(&meter, NS_PER_SECOND / 10);
    assert_true(meter.cpu_sum_percent == 50);
    put_cpu(&fake, 11, 10);
    system_meter_read(&meter, NS_PER_SECOND / 10 + NS_PER_SECOND / 20);
    assert_true(meter.cpu_sum_percent == 50);
    put_cpu(&fake, 20, 10);
    system_meter_read(&meter, 2 * NS_PER_SECOND / 10);
    assert_true(meter.cpu_sum_percent == 100);
    system_meter_finish(&meter);
    fake_procfs_finish(&fake);
}

TEST(without_files_figures_are_missing_not_zero)
{
    struct system_meter meter;
    system_meter_init(&meter, "/nowhere/at/all", 4, 0);
    system_meter_read(&meter, NS_PER_SECOND);
    assert_true(isnan(meter.ram_capacity_bytes));
    assert_true(isnan(meter.ram_used_bytes));
    assert_true(isnan(meter.cpu_sum_percent));
    system_meter_finish(&meter);
}

TEST(damaged_files_lose_their_figure_only)
{
    struct fake_procfs fake;
    struct system_meter meter;
    fake_procfs_init(&fake);
    put_cpu(&fake, 0, 0);
    fake_write(&fake, "nonsense\n", "meminfo");
    system_meter_init(&meter, fake.root, 2, 0);
    system_meter_start(&meter, 0);
    put_cpu(&fake, 5, 5);
    system_meter_read(&meter, NS_PER_SECOND);
    assert_true(isnan(meter.ram_used_bytes));
    assert_true(meter.cpu_sum_percent == 100);
    system_meter_finish(&meter);
    fake_procfs_finish(&fake);
}

TEST(reads_nothing_that_another_reads)
{
    struct fake_procfs fake;
    struct system_meter meter;
    fake_procfs_init(&fake);
    put_cpu(&fake, 0, 0);
    fake_write(&fake, "MemTotal: 2 kB\nMemFree: 1 kB\nMemAvailable: 1 kB\n", "meminfo");
    system_meter_init(&meter, fake.root, 1, 0);
    system_meter_start(&meter, 0);
    system_meter_skip(&meter, true, 0);
    put_cpu(&fake, 10, 0);
    system_meter_read(&meter, NS_PER_SECOND);
    assert_true(isnan(meter.ram_used_bytes));
    assert_true(isnan(meter.cpu_sum_percent));
    assert_true(
        meter.since_ns == NS_PER_SECOND); /* intervals go on: those of GPUs depend on them */
    system_meter_skip(&meter, false, NS_PER_SECOND);
    assert_false(isnan(meter.ram_used_bytes));
    put_cpu(&fake, 10, 10);
    system_meter_read(&meter, 2 * NS_PER_SECOND);
    assert_true(meter.cpu_sum_percent == 0);            /* of the time since then */
    assert_true(system_meter_busy_seconds(&meter) > 0); /* since the start */
    system_meter_finish(&meter);
    fake_procfs_finish(&fake);
}

RUN_TESTS(NULL, NULL)
