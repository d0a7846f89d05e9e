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

static void gives_the_power_drawn(void **state)
{
    (void)state;
    double watts;
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_OK);
    assert_true(watts == 12.5);
}

static void adds_batteries_up_and_takes_currents_too(void **state)
{
    (void)state;
    double watts;
    fake_sysfs_write(SUPPLY "BAT1/type", "Battery\n");
    fake_sysfs_write(SUPPLY "BAT1/status", "Discharging\n");
    fake_sysfs_write(SUPPLY "BAT1/current_now", "-500000\n"); /* some drivers sign it */
    fake_sysfs_write(SUPPLY "BAT1/voltage_now", "12000000\n");
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_OK);
    assert_true(fabs(watts - 18.5) < 1e-9);
}

static void a_battery_that_is_not_in_use_reports_nothing(void **state)
{
    (void)state;
    double watts;
    fake_sysfs_write(SUPPLY "BAT0/status", "Charging\n");
    assert_int_equal(battery_read(fake_sysfs, &watts, NULL), GPUT_OK);
    assert_true(isnan(watts));
}

static void batteries_of_attached_devices_are_left_out(void **state)
{
    (void)state;
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

static void no_battery_is_unsupported(void **state)
{
    (void)state;
    double watts;
    assert_int_equal(battery_read("/nonexistent", &watts, NULL), GPUT_ERROR_UNSUPPORTED);
    assert_true(isnan(watts));
}

static void a_folder_that_cannot_be_read_is_not_one_without_batteries(void **state)
{
    (void)state;
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

int main(void)
{
#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, make_machine, fake_sysfs_remove)
    const struct CMUnitTest tests[] = {
        ON_MACHINE(gives_the_power_drawn),
        ON_MACHINE(adds_batteries_up_and_takes_currents_too),
        ON_MACHINE(a_battery_that_is_not_in_use_reports_nothing),
        ON_MACHINE(batteries_of_attached_devices_are_left_out),
        cmocka_unit_test(no_battery_is_unsupported),
        ON_MACHINE(a_folder_that_cannot_be_read_is_not_one_without_batteries),
    };
    return cmocka_run_group_tests_name("machine/energy/battery", tests, NULL, NULL);
}
