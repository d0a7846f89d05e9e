#include "testing.h"

#include "live/command_line.h"
#include "live/machine.h"

#include <math.h>
#include <string.h>

TEST(partitions_and_devices_of_others_count_once)
{
    static const char text[] = "   7       0 loop0 5 0 1000 0 0 0 1000 0 0 0 0\n"
                               " 259       0 nvme0n1 10 0 100 1 20 0 200 2 0 3 4 0 0 0 0\n"
                               " 259       1 nvme0n1p1 10 0 90 1 20 0 190 2 0 3 4\n"
                               "   8       0 sda 1 0 8 1 1 0 2 1 0 1 1\n"
                               "   8       1 sda1 1 0 8 1 1 0 2 1 0 1 1\n"
                               " 253       0 dm-0 1 0 8 1 1 0 2 1 0 1 1\n"
                               "rubbish\n";
    assert_int_equal(machine_parse_disks(text), 310 * 512);
    assert_int_equal(machine_parse_disks(""), 0);
}

TEST(interfaces_inside_of_the_machine_do_not_count)
{
    static const char text[] =
        "Inter-|   Receive                            |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
        "    lo: 5000 1 0 0 0 0 0 0 5000 1 0 0 0 0 0 0\n"
        "  eth0: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n"
        "eth1:7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n"
        " bond0: 107 1 0 0 0 0 0 0 208 1 0 0 0 0 0 0\n"
        "vethab12: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n";
    assert_int_equal(machine_parse_network(text), 315);
}

TEST(pressure_is_that_of_the_last_ten_seconds)
{
    assert_true(machine_parse_pressure("some avg10=12.50 avg60=1.00 avg300=0 total=7\n") == 12.5);
    assert_true(isnan(machine_parse_pressure("")));
    assert_true(isnan(machine_parse_pressure("full avg10=1")));
}

TEST(without_files_nothing_is_known)
{
    struct machine machine = {.procfs = "/nonexistent"};
    machine_read(&machine, 1);
    machine_read(&machine, 2);
    assert_int_equal(machine.n_cores, 0);
    assert_true(isnan(machine.now.swap_bytes) && isnan(machine.now.disk_bytes_a_second));
    assert_true(isnan(machine.now.network_bytes_a_second) && isnan(machine.now.cpu_wait_percent));
    machine_finish(&machine);
}

TEST(this_machine_has_cores_and_rates_from_the_second_reading_on)
{
    struct machine machine = {.procfs = "/proc"};
    machine_read(&machine, 1);
    assert_true(machine.n_cores >= 1 && isnan(machine.core_percents[0]));
    assert_true(isnan(machine.now.disk_bytes_a_second));
    machine_read(&machine, 2);
    assert_true(machine.now.disk_bytes_a_second >= 0);
    assert_true(isnan(machine.core_percents[0]) ||
                (machine.core_percents[0] >= 0 && machine.core_percents[0] <= 100));
    machine_finish(&machine);
}

/* What came since boot is not what came since a reading that failed. */
TEST(a_file_that_cannot_be_read_once_makes_no_peak)
{
    struct machine machine = {.procfs = "/proc"};
    machine_read(&machine, 1);
    machine.procfs = "/nonexistent";
    machine_read(&machine, 2);
    machine.procfs = "/proc";
    machine_read(&machine, 3);
    assert_true(isnan(machine.now.network_bytes_a_second));
    machine_read(&machine, 4);
    assert_true(machine.now.network_bytes_a_second >= 0);
    machine_finish(&machine);
}

TEST(commands_have_no_folders_and_show_on_one_line)
{
    static const char *const lines[][2] = {
        {"/usr/bin/python3.11 -u /home/a b/train.py --x /d/e",
            "python3.11 -u a b/train.py --x /d/e"},
        {"/opt/env/bin/python3 /home/me/train.py --x /d/e", "python3 train.py --x /d/e"},
        {"python3 -c import os\n\n\tprint(1)", "python3 -c import os print(1)"},
        {"python3 -m /x/y", "python3 -m /x/y"},
        {"/bin/bash ./run.sh", "bash run.sh"},
        {"/usr/lib/gcc/cc1 -quiet /tmp/x.c", "cc1 -quiet /tmp/x.c"},
        {"pythonic /a/b", "pythonic /a/b"},
        {"/", "/"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[128];
        strcpy(text, lines[i][0]);
        command_line_clean(text);
        assert_string_equal(text, lines[i][1]);
    }
}

RUN_TESTS(NULL, NULL)
