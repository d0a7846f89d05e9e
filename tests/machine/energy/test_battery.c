#include "machine/energy/powercap.h"

#include "fake_sysfs.h"

#include <math.h>

#define SUPPLY "class/power_supply/"

static int make_machine(void **state)
{
    (void)state;
    if (fake_sysfs_create() != 0)
        return -1;
    fake_sysfs_write(SUPPLY "AC/type", "Mains\n");
    fake_sysfs_write(SUPPLY "BAT0/type", "Battery\n");
    fake_sysfs_write(SUPPLY "BAT0/status", "Discharging\n");
    fake_sysfs_write(SUPPLY "BAT0/power_now", "12500000\n");
    return 0;
}

#define ON_MACHINE(name) TEST_WITH(name, make_machine, fake_sysfs_remove)

ON_MACHINE(gives_the_power_drawn)
{
    double watts;
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_OK);
    assert_true(watts == 12.5);
}

ON_MACHINE(adds_batteries_up_and_takes_currents_too)
{
    double watts;
    fake_sysfs_write(SUPPLY "BAT1/type", "Battery\n");
    fake_sysfs_write(SUPPLY "BAT1/status", "Discharging\n");
    fake_sysfs_write(SUPPLY "BAT1/current_now", "-500000\n"); /* some drivers sign it */
    fake_sysfs_write(SUPPLY "BAT1/voltage_now", "12000000\n");
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_OK);
    assert_true(fabs(watts - 18.5) < 1e-9);
}

ON_MACHINE(a_battery_that_is_not_in_use_reports_nothing)
{
    double watts;
    fake_sysfs_write(SUPPLY "BAT0/status", "Charging\n");
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_OK);
    assert_true(isnan(watts));
}

ON_MACHINE(batteries_of_attached_devices_are_left_out)
{
    double watts;
    fake_sysfs_write(SUPPLY "hidpp_battery_0/type", "Battery\n");
    fake_sysfs_write(SUPPLY "hidpp_battery_0/scope", "Device\n");
    fake_sysfs_write(SUPPLY "hidpp_battery_0/status", "Discharging\n");
    fake_sysfs_write(SUPPLY "hidpp_battery_0/power_now", "9000000\n");
    fake_sysfs_write(SUPPLY "BAT0/scope", "System\n");
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_OK);
    assert_true(watts == 12.5);
    fake_sysfs_write(SUPPLY "BAT0/type", "Mains\n");
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_ERROR_UNSUPPORTED);
}

TEST(no_battery_is_unsupported)
{
    double watts;
    assert_int_equal(battery_read("/nonexistent", &watts, NULL), GPUT_ERROR_UNSUPPORTED);
    assert_true(isnan(watts));
}

ON_MACHINE(a_folder_that_cannot_be_read_is_not_one_without_batteries)
{
    double watts;
    char path[128];
    struct gput_error error;
    fake_sysfs_remove(NULL);
    fake_sysfs_write("class/other", "");
    snprintf(path, sizeof path, "%s/class/power_supply", fake_sysfs);
    assert_int_equal(symlink("power_supply", path), 0); /* a loop: also root cannot read it */
    assert_int_equal(battery_read(fake_sysfs, &watts, &error), GPUT_ERROR_IO);
    assert_true(isnan(watts));
    assert_non_null(strstr(error.message, "class/power_supply: Too many levels of symbolic links"));
}

RUN_TESTS(NULL, NULL)
