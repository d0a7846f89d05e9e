#include "two_packages.h"

/* The faults of the CPU's counters. Valid until the next call. */
static const char *faults(const struct energy_meter *meter)
{
    static char text[512];
    energy_counters_explain(&meter->cpu, text, sizeof text);
    return text;
}

ON_MACHINE(shares_known_joules_out_by_known_shares)
{
    struct energy_meter meter;
    energy_meter_init(&meter, root);
    assert_true(energy_meter_has_any(&meter));
    struct energy_shares shares = {
        .main_ram_bytes = 1e9, .combined_ram_bytes = 2e9, .machine_ram_bytes = 8e9};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    assert_true(isnan(meter.energy.machine.package));

    set_joules("intel-rapl:0", 1060);
    set_joules("intel-rapl:0:0", 530);
    set_joules("intel-rapl:0:1", 206);
    set_joules("intel-rapl:1", 2040);
    set_joules("intel-rapl:1:0", 302);
    set_joules("intel-rapl:2", 9200);
    set_joules("intel-rapl-mmio:0", 1060);
    shares.main_cpu_seconds = 1;          /* of 4 seconds: a quarter */
    shares.descendants_cpu_seconds = 0.5; /* an eighth */
    shares.other_cpu_seconds = 2.5;
    shares.machine_busy_seconds = 4;
    shares.machine_cpu_seconds = 16;
    energy_meter_read(&meter, &shares, 3 * NS_PER_SECOND);

    const struct gput_energy *energy = &meter.energy;
    assert_near(energy->machine.package, 100);
    assert_near(energy->machine.core, 30);
    assert_near(energy->machine.dram, 8);
    assert_near(energy->machine.psys, 200);
    assert_true(isnan(energy->machine.uncore));
    assert_true(isnan(energy->machine.gpu));
    assert_near(energy->machine.total, 108);
    /* Main: a quarter of the packages, an eighth of DRAM. */
    assert_near(energy->main, 25 + 1);
    assert_near(energy->descendants, 12.5 + 1);
    assert_near(energy->combined, 39.5);
    assert_near(energy->unattributed, 108 - 39.5);
    assert_near(energy->idle_share, 0.75);
    assert_near(energy->max_watts, 54);
    energy_meter_finish(&meter);
}

ON_MACHINE(shares_never_sum_to_more_than_the_device)
{
    struct energy_meter meter;
    energy_meter_init(&meter, root);
    struct energy_shares shares = {.machine_ram_bytes = 1e9};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:0", 1010);
    set_joules("intel-rapl:0:1", 204);
    /* No other process ran, and RAM was read at another moment. */
    shares.main_cpu_seconds = 3;
    shares.descendants_cpu_seconds = 1;
    shares.main_ram_bytes = 3e9;
    shares.combined_ram_bytes = 4e9;
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.combined, 14);
    assert_near(meter.energy.main, 7.5 + 4);
    assert_true(meter.energy.unattributed == 0);
    energy_meter_finish(&meter);
}

/* Of package 1; package 0 used 10 J. */
static void assert_left_out(double joules, const char *fault)
{
    struct energy_meter meter;
    energy_meter_init(&meter, root);
    struct energy_shares shares = {0};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:1", joules);
    set_joules("intel-rapl:0", 1010);
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 10);
    assert_non_null(strstr(faults(&meter), fault));
    energy_meter_finish(&meter);
}

ON_MACHINE(a_counter_that_goes_back_is_flagged_and_left_out)
{
    assert_left_out(5, "the package 1 counter decreased");
}

ON_MACHINE(a_counter_that_jumps_ahead_is_flagged_and_left_out)
{
    assert_left_out(102000, "the package 1 counter jumped ahead");
}

ON_MACHINE(joules_of_half_the_packages_are_no_power)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    energy_meter_init(&meter, root);
    for (int second = 1; second <= 4; second++) {
        set_joules("intel-rapl:0", 1000 + 50 * second);
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
    }
    assert_near(meter.energy.machine.package, 150); /* package 1 did not change */
    assert_near(energy_meter_unknown_seconds(&meter), 3);
    energy_meter_finish(&meter);
}

/* DRAM is missing completely, and has no figure. */
ON_MACHINE(a_domain_without_any_joules_is_no_gap)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    energy_meter_init(&meter, root);
    for (int second = 1; second <= 4; second++) {
        set_joules("intel-rapl:0", 1000 + 50 * second);
        set_joules("intel-rapl:1", 2000 + 50 * second);
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
    }
    assert_true(isnan(meter.energy.machine.dram));
    assert_true(energy_meter_unknown_seconds(&meter) == 0);
    energy_meter_finish(&meter);
}

ON_MACHINE(wraps_are_undone_even_between_intervals)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    set_joules("intel-rapl:0", FAKE_SYSFS_RANGE_JOULES - 50);
    energy_meter_init(&meter, root);
    assert_true(energy_meter_due_ns(&meter) == INT64_MAX); /* nothing runs yet */
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    assert_true(energy_meter_due_ns(&meter) == 61 * NS_PER_SECOND);

    set_joules("intel-rapl:0", 17950);
    energy_meter_update_counters(&meter, 61 * NS_PER_SECOND);
    assert_true(isnan(meter.energy.machine.package)); /* the interval continues */
    set_joules("intel-rapl:0", 35950);
    energy_meter_update_counters(&meter, 121 * NS_PER_SECOND);
    assert_true(energy_meter_due_ns(&meter) == 181 * NS_PER_SECOND);
    set_joules("intel-rapl:0", 53950);
    energy_meter_read(&meter, &shares, 181 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 54000);
    assert_near(meter.energy.max_watts, 300);
    assert_null(strstr(faults(&meter), "decreased"));
    energy_meter_finish(&meter);
}

ON_MACHINE(joules_count_from_a_reading_before_the_first_interval)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    set_joules("intel-rapl:0", 1000);
    energy_meter_init(&meter, root);
    meter.start_ns = NS_PER_SECOND;
    energy_meter_update_counters(&meter, NS_PER_SECOND);
    set_joules("intel-rapl:0", 1100);
    shares.main_cpu_seconds = shares.machine_busy_seconds = 1; /* main alone runs */
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 100);
    assert_near(meter.energy.main, 100);
    set_joules("intel-rapl:0", 1200);
    shares.machine_busy_seconds = 2; /* and then another one */
    shares.other_cpu_seconds = 1;
    energy_meter_read(&meter, &shares, 3 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 200);
    assert_near(meter.energy.main, 100);
    assert_near(meter.energy.max_watts, 100);
    energy_meter_finish(&meter);
}

ON_MACHINE(a_counter_that_stands_still_is_flagged)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    fake_sysfs_make_zone("intel-rapl:0:2", "uncore\n", 0); /* may stay unchanged */
    energy_meter_init(&meter, root);
    for (int second = 1; second <= 4; second++) {
        set_joules("intel-rapl:0", 1000 + 10 * second);
        set_joules("intel-rapl:0:0", 500 + 5 * second);
        set_joules("intel-rapl:0:1", 200 + second);
        set_joules("intel-rapl:1", 2000 + 10 * second);
        set_joules("intel-rapl:1:0", 300 + second);
        set_joules("intel-rapl:2", second < 3 ? 9000 + second : 9003);
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
    }
    assert_string_equal(faults(&meter), "");
    set_joules("intel-rapl:0", 1050);
    set_joules("intel-rapl:0:0", 530);
    set_joules("intel-rapl:0:1", 210);
    set_joules("intel-rapl:1", 2050);
    set_joules("intel-rapl:1:0", 310);
    energy_meter_read(&meter, &shares, 5 * NS_PER_SECOND);
    assert_string_equal(
        faults(&meter), "the psys counter did not advance; the energy it missed is not known");
    assert_near(meter.energy.machine.psys, 2);
    assert_true(meter.energy.machine.uncore == 0);
    energy_meter_finish(&meter);
}

ON_MACHINE(a_counter_that_never_moves_is_no_figure)
{
    struct energy_meter meter;
    struct energy_shares shares = {.main_cpu_seconds = 1, .machine_busy_seconds = 2};
    energy_meter_init(&meter, root);
    for (int second = 1; second <= 4; second++) {
        set_joules("intel-rapl:0:1", 200 + 5 * second);
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
    }
    assert_true(isnan(meter.energy.machine.package));
    assert_true(isnan(meter.energy.machine.core));
    assert_near(meter.energy.machine.dram, 15);
    assert_near(meter.energy.machine.total, 15);
    assert_non_null(strstr(faults(&meter), "counter does not advance and is skipped"));

    /* It was slow, not stuck: nothing is lost. */
    set_joules("intel-rapl:0", 1040);
    energy_meter_read(&meter, &shares, 5 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 40);
    energy_meter_finish(&meter);
}

static void set_unreadable(const char *zone)
{
    char name[64];
    snprintf(name, sizeof name, "class/powercap/%s/energy_uj", zone);
    fake_sysfs_write(name, "");
}

/* What was counted stays, and is said to be all that is known. */
ON_MACHINE(a_counter_that_gets_unreadable_is_missing_from_there)
{
    static const char *const others[] = {"intel-rapl:0:0", "intel-rapl:1:0", "intel-rapl:2"};
    struct energy_meter meter;
    struct energy_shares shares = {.main_cpu_seconds = 1, .machine_busy_seconds = 2};
    energy_meter_init(&meter, root);
    for (int second = 1; second <= 2; second++) {
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            set_joules(others[i], 10000 + second);
        set_joules("intel-rapl:0", 1000 + 50 * second);
        set_joules("intel-rapl:1", 2000 + 40 * second);
        set_joules("intel-rapl:0:1", 200 + 5 * second);
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
    }
    assert_near(figure(&meter, GPUT_ENERGY_PACKAGE), 90);
    assert_string_equal(faults(&meter), "");
    set_unreadable("intel-rapl:1");
    set_joules("intel-rapl:0", 1150);
    set_joules("intel-rapl:0:1", 215);
    energy_meter_read(&meter, &shares, 3 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 140);
    assert_true(isnan(figure(&meter, GPUT_ENERGY_PACKAGE)));
    assert_true(isnan(figure(&meter, GPUT_ENERGY_TOTAL)));
    assert_true(isnan(figure(&meter, GPUT_ENERGY_COMBINED)));
    assert_near(figure(&meter, GPUT_ENERGY_DRAM), 11);
    assert_true(energy_meter_is_partial(&meter));
    assert_string_equal(faults(&meter),
        "the package 1 counter can no longer be read; the energy since then is not known");

    /* It could not be read for a moment: the counter continued. */
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        set_joules(others[i], 10004);
    set_joules("intel-rapl:0:1", 220);
    set_joules("intel-rapl:1", 2160);
    energy_meter_read(&meter, &shares, 4 * NS_PER_SECOND);
    assert_near(figure(&meter, GPUT_ENERGY_PACKAGE), 220);
    assert_near(meter.energy.max_watts, 96); /* what came at once is of an unknown interval */
    assert_false(energy_meter_is_partial(&meter));
    assert_string_equal(faults(&meter), "");
    energy_meter_finish(&meter);
}

/* One package of two: its first two seconds are lost, and with them the mean power. */
ON_MACHINE(a_counter_that_is_readable_late_says_so)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    set_unreadable("intel-rapl:1");
    energy_meter_init(&meter, root);
    for (int second = 1; second <= 6; second++) {
        set_joules("intel-rapl:0", 1000 + 50 * second);
        set_joules("intel-rapl:0:0", 500 + second);
        set_joules("intel-rapl:0:1", 200 + second);
        set_joules("intel-rapl:1:0", 300 + second);
        set_joules("intel-rapl:2", 9000 + second);
        if (second >= 3)
            set_joules("intel-rapl:1", 2000 + 50 * second);
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
    }
    assert_near(meter.energy.machine.package, 250 + 150);
    assert_near(energy_meter_unknown_seconds(&meter), 2);
    assert_string_equal(faults(&meter),
        "the package 1 counter could not be read in the first 2.0 s, which are missing");
    energy_meter_finish(&meter);
}

ON_MACHINE(names_every_faulty_counter)
{
    char text[90];
    struct energy_meter meter;
    struct energy_shares shares = {0};
    set_unreadable("intel-rapl:1:0");
    energy_meter_init(&meter, root);
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:0", 900);
    set_joules("intel-rapl:0:0", 501);
    set_joules("intel-rapl:0:1", 201);
    set_joules("intel-rapl:1", 1);
    set_joules("intel-rapl:2", 9001);
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_string_equal(faults(&meter),
        "the package 0 counter decreased; those intervals were skipped; the "
        "package 1 counter decreased; those intervals were skipped; the dram 1 "
        "counter cannot be read and is skipped");
    energy_counters_explain(&meter.cpu, text, sizeof text);
    assert_string_equal(
        text, "the package 0 counter decreased; those intervals were skipped; and 2 more");
    energy_meter_finish(&meter);
}

ON_MACHINE(a_missing_sub_domain_costs_itself_alone)
{
    char path[256];
    struct energy_meter meter;
    struct energy_shares shares = {0};
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0:0/energy_uj", root);
    unlink(path);
    energy_meter_init(&meter, root);
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:0", 1010);
    set_joules("intel-rapl:0:1", 201);
    set_joules("intel-rapl:1", 2001);
    set_joules("intel-rapl:1:0", 301);
    set_joules("intel-rapl:2", 9001);
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 11);
    assert_true(isnan(meter.energy.machine.core));
    assert_string_equal(faults(&meter),
        "the core counter cannot be read (No such file or directory) and is skipped");
    energy_meter_finish(&meter);
}

/* AMD shows a package and its cores under the same names, and neither DRAM nor psys. */
TEST(an_amd_machine_has_packages_and_cores)
{
    struct energy_meter meter;
    struct energy_shares shares = {.machine_ram_bytes = 1e9};
    assert_int_equal(fake_sysfs_create(), 0);
    fake_sysfs_make_zone("intel-rapl:0", "package-0\n", 10);
    fake_sysfs_make_zone("intel-rapl:0:0", "core\n", 5);
    energy_meter_init(&meter, root);
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:0", 110);
    set_joules("intel-rapl:0:0", 55);
    shares.main_cpu_seconds = shares.machine_busy_seconds = 0.5;
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.machine.total, 100);
    assert_near(meter.energy.machine.core, 50);
    assert_near(meter.energy.main, 100);
    assert_true(isnan(meter.energy.machine.dram));
    assert_true(isnan(meter.energy.machine.psys));
    energy_meter_finish(&meter);
    fake_sysfs_remove(NULL);
}

TEST(a_battery_is_the_whole_machine)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    assert_int_equal(fake_sysfs_create(), 0);
    fake_sysfs_write("class/power_supply/BAT0/type", "Battery\n");
    fake_sysfs_write("class/power_supply/BAT0/status", "Discharging\n");
    fake_sysfs_write("class/power_supply/BAT0/power_now", "20000000\n");
    energy_meter_init(&meter, root);
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    energy_meter_read(&meter, &shares, 4 * NS_PER_SECOND);
    assert_near(meter.energy.machine.battery, 60);
    assert_near(meter.energy.machine.total, 60);
    assert_true(isnan(meter.energy.combined));
    energy_meter_finish(&meter);
    fake_sysfs_remove(NULL);
}

/* On a busy machine the first reading can be late. */
TEST(a_battery_counts_from_the_start_of_the_session)
{
    struct energy_meter meter;
    struct energy_shares shares = {0};
    assert_int_equal(fake_sysfs_create(), 0);
    fake_sysfs_write("class/power_supply/BAT0/type", "Battery\n");
    fake_sysfs_write("class/power_supply/BAT0/status", "Discharging\n");
    fake_sysfs_write("class/power_supply/BAT0/power_now", "20000000\n");
    energy_meter_init(&meter, root);
    meter.start_ns = NS_PER_SECOND / 2;
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    assert_near(meter.energy.machine.battery, 10);
    energy_meter_read(&meter, &shares, 4 * NS_PER_SECOND);
    assert_near(meter.energy.machine.battery, 70);
    assert_near(meter.energy.machine.total, 70);
    energy_meter_finish(&meter);
    fake_sysfs_remove(NULL);
}

TEST(says_why_there_is_none)
{
    struct energy_meter meter;
    energy_meter_init(&meter, "/nonexistent");
    assert_false(energy_meter_has_any(&meter));
    assert_non_null(strstr(meter.cpu.why_not, "no RAPL counters"));
    energy_meter_finish(&meter);
}

RUN_TESTS(NULL, NULL)
