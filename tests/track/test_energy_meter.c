#include "track/energy_meter.h"

#include "base/clock.h"
#include "testing.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A machine made of files, in a temporary folder. */
static char root[] = "/tmp/gpu-tracker-energy.XXXXXX";

static void write_text(const char *file, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, file);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void set_joules(const char *zone, double joules)
{
    char file[128], text[64];
    snprintf(file, sizeof file, "class/powercap/%s/energy_uj", zone);
    snprintf(text, sizeof text, "%.0f\n", joules * 1e6);
    write_text(file, text);
}

static void make_zone(const char *zone, const char *name, double joules)
{
    char file[128];
    snprintf(file, sizeof file, "class/powercap/%s/name", zone);
    write_text(file, name);
    snprintf(file, sizeof file, "class/powercap/%s/max_energy_range_uj", zone);
    write_text(file, "262143328850\n");
    set_joules(zone, joules);
}

/* Two packages with DRAM, a core domain, a platform, and the same package by another way. */
static int make_machine(void **state)
{
    (void)state;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    assert_non_null(mkdtemp(root));
    make_zone("intel-rapl:0", "package-0\n", 1000);
    make_zone("intel-rapl:0:0", "core\n", 500);
    make_zone("intel-rapl:0:1", "dram\n", 200);
    make_zone("intel-rapl:1", "package-1\n", 2000);
    make_zone("intel-rapl:1:0", "dram\n", 300);
    make_zone("intel-rapl:2", "psys\n", 9000);
    make_zone("intel-rapl-mmio:0", "package-0\n", 1000);
    return 0;
}

static int remove_machine(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-3 * fabs(expected)))
        fail_msg("%.6f is not %.6f", actual, expected);
}

static void shares_known_joules_out_by_known_shares(void **state)
{
    (void)state;
    struct energy_meter meter;
    energy_meter_init(&meter, root);
    assert_true(energy_meter_has_any(&meter));
    struct energy_shares shares = {.main_cpu_seconds = 1,
        .machine_busy_seconds = 100,
        .machine_cpu_seconds = 400,
        .main_ram_bytes = 1e9,
        .combined_ram_bytes = 2e9,
        .machine_ram_bytes = 8e9};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    assert_true(isnan(meter.energy.machine.package));

    set_joules("intel-rapl:0", 1060);
    set_joules("intel-rapl:0:0", 530);
    set_joules("intel-rapl:0:1", 206);
    set_joules("intel-rapl:1", 2040);
    set_joules("intel-rapl:1:0", 302);
    set_joules("intel-rapl:2", 9200);
    set_joules("intel-rapl-mmio:0", 1060);
    shares.main_cpu_seconds += 1;          /* of 4 busy seconds: a quarter */
    shares.descendants_cpu_seconds += 0.5; /* an eighth */
    shares.machine_busy_seconds += 4;
    shares.machine_cpu_seconds += 16;
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

static void shares_never_sum_to_more_than_the_device(void **state)
{
    (void)state;
    struct energy_meter meter;
    energy_meter_init(&meter, root);
    struct energy_shares shares = {.machine_busy_seconds = 10, .machine_ram_bytes = 1e9};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:0", 1010);
    set_joules("intel-rapl:0:1", 204);
    /* The machine's ticks lag behind our own clocks, and RAM was read at another moment. */
    shares.main_cpu_seconds = 3;
    shares.descendants_cpu_seconds = 1;
    shares.machine_busy_seconds = 11;
    shares.main_ram_bytes = 3e9;
    shares.combined_ram_bytes = 4e9;
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.combined, 14);
    assert_near(meter.energy.main, 7.5 + 4);
    assert_true(meter.energy.unattributed == 0);
    energy_meter_finish(&meter);
}

static void a_counter_that_goes_back_is_flagged_and_left_out(void **state)
{
    (void)state;
    struct energy_meter meter;
    energy_meter_init(&meter, root);
    struct energy_shares shares = {0};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:1", 5);
    set_joules("intel-rapl:0", 1010);
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.machine.package, 10);
    assert_non_null(strstr(meter.energy.flags, "package counter went back"));
    energy_meter_finish(&meter);
}

static void integrates_gpu_power_where_there_is_no_counter(void **state)
{
    (void)state;
    struct energy_meter meter;
    static struct gpu_sample gpus;
    struct gpu_device devices[2] = {{.uuid = "a"}, {.uuid = "b"}};
    energy_meter_init(&meter, "/nonexistent");
    gpus.n_devices = 2;
    gpus.devices[0] = (struct gpu_device_sample){.power_watts = 100,
        .energy_joules = NAN,
        .main_sm_percent = NAN,
        .descendants_sm_percent = NAN,
        .ram_used_bytes = 10e9,
        .main_ram_bytes = 4e9,
        .descendants_ram_bytes = 1e9};
    gpus.devices[1] = (struct gpu_device_sample){.power_watts = 50,
        .energy_joules = 1000,
        .utilization_percent = 80,
        .main_sm_percent = 20,
        .descendants_sm_percent = 20};
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    gpus.devices[0].power_watts = 200;
    gpus.devices[1].energy_joules = 1100;
    energy_meter_read(&meter, &shares, 3 * NS_PER_SECOND);
    /* 150 W for 2 s, and 100 J counted. */
    assert_near(meter.energy.machine.gpu, 400);
    assert_near(meter.energy.main, 300 * 0.4 + 100 * 0.25);
    assert_near(meter.energy.descendants, 300 * 0.1 + 100 * 0.25);
    assert_true(meter.gpu_is_integrated);
    assert_true(meter.gpu_by_memory);
    energy_meter_finish(&meter);
}

static void says_why_there_is_none(void **state)
{
    (void)state;
    struct energy_meter meter;
    energy_meter_init(&meter, "/nonexistent");
    assert_false(energy_meter_has_any(&meter));
    assert_non_null(strstr(meter.why_not, "no RAPL counters"));
    energy_meter_finish(&meter);
}

int main(void)
{
#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, make_machine, remove_machine)
    const struct CMUnitTest tests[] = {
        ON_MACHINE(shares_known_joules_out_by_known_shares),
        ON_MACHINE(shares_never_sum_to_more_than_the_device),
        ON_MACHINE(a_counter_that_goes_back_is_flagged_and_left_out),
        cmocka_unit_test(integrates_gpu_power_where_there_is_no_counter),
        cmocka_unit_test(says_why_there_is_none),
    };
    return cmocka_run_group_tests_name("track/energy_meter", tests, NULL, NULL);
}
