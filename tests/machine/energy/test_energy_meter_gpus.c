/* Energy of GPUs: counters, power that is integrated, and what is wrong with them. */
#include "two_packages.h"

TEST(a_gpu_without_joules_among_others_is_named)
{
    struct energy_meter meter;
    static struct gpu_sample gpus;
    const struct gpu_device devices[2] = {{.uuid = "a"}, {.uuid = "b"}};
    gpus.n_devices = 2;
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    for (int answers = 0; answers <= 1; answers++) {
        energy_meter_init(&meter, "/nonexistent");
        for (int second = 1; second <= 3; second++) {
            for (int i = 0; i < 2; i++)
                gpus.devices[i] = (struct gpu_device_sample){.power_watts = i ? NAN : 100,
                    .energy_joules = NAN,
                    .read_ns = i == 0 || answers ? second * NS_PER_SECOND : 0};
            energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
        }
        assert_near(meter.energy.machine.gpu, 200);
        assert_near(energy_meter_unknown_seconds(&meter), 2);
        assert_string_equal(
            gpu_faults(&meter), "no counter gives the joules of GPU 1, which is skipped");
        energy_meter_finish(&meter);
    }
}

/* One GPU of which main uses half and descendants a quarter; its driver answers at the start and at
 * the end. */
TEST(a_driver_that_was_late_leaves_no_more_joules_than_it_counted)
{
    for (int last = 0; last <= 1; last++) {
        struct energy_meter meter;
        struct gpu_sample gpus = {.n_devices = 1};
        struct gpu_device devices[1] = {{.uuid = "a"}};
        energy_meter_init(&meter, "/nonexistent");
        gpus.devices[0] = (struct gpu_device_sample){.power_watts = 300,
            .energy_joules = 1000,
            .utilization_percent = 100,
            .main_sm_percent = 50,
            .descendants_sm_percent = 25,
            .all_sm_percent = 100,
            .read_ns = NS_PER_SECOND};
        struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
        energy_meter_read(&meter, &shares, NS_PER_SECOND);
        energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
        gpus.devices[0].power_watts = 60;
        gpus.devices[0].energy_joules = 1120;
        gpus.devices[0].main_sm_percent = gpus.devices[0].descendants_sm_percent = 0;
        gpus.devices[0].read_ns = 3 * NS_PER_SECOND;
        shares.is_last = last;
        energy_meter_read(&meter, &shares, 3 * NS_PER_SECOND);
        double joules = last ? 120 : 300;
        assert_near(meter.energy.machine.gpu, joules);
        assert_near(meter.energy.machine.total, joules);
        assert_near(meter.energy.main, joules / 2);
        assert_near(meter.energy.descendants, joules / 4);
        assert_near(meter.energy.unattributed, joules / 4);
        assert_near(energy_meter_gpu_joules(&meter, 0), joules);
        energy_meter_finish(&meter);
    }
}

TEST(integrates_gpu_power_where_there_is_no_counter)
{
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
    gpus.devices[0].read_ns = gpus.devices[1].read_ns = NS_PER_SECOND;
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    gpus.devices[0].read_ns = gpus.devices[1].read_ns = 3 * NS_PER_SECOND;
    gpus.devices[0].power_watts = 200;
    gpus.devices[1].energy_joules = 1100;
    energy_meter_read(&meter, &shares, 3 * NS_PER_SECOND);
    /* 150 W for 2 s, and 100 J counted. */
    assert_near(meter.energy.machine.gpu, 400);
    assert_near(meter.energy.main, 300 * 0.4 + 100 * 0.25);
    assert_near(meter.energy.descendants, 300 * 0.1 + 100 * 0.25);
    assert_true(energy_meter_integrates_power(&meter));
    assert_true(meter.gpu_by_memory);
    energy_meter_finish(&meter);
}

/* One GPU for `seconds`: its counter gets `watts` and its driver gives `said_watts`, measured or
 * computed from the counter. */
static void run_gpu(
    struct energy_meter *meter, double watts, double said_watts, int seconds, bool is_counted)
{
    static struct gpu_sample gpus;
    const struct gpu_device devices[1] = {{.uuid = "a", .power_is_counted = is_counted}};
    energy_meter_init(meter, "/nonexistent");
    gpus.n_devices = 1;
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    for (int second = 0; second <= seconds; second++) {
        gpus.devices[0] = (struct gpu_device_sample){.power_watts = said_watts,
            .energy_joules = 5000 + watts * second,
            .main_sm_percent = 50,
            .descendants_sm_percent = 0,
            .utilization_percent = 100,
            .read_ns = (second + 10) * NS_PER_SECOND};
        energy_meter_read(meter, &shares, (second + 10) * NS_PER_SECOND);
    }
}

TEST(a_gpu_counter_is_compared_with_its_power)
{
    struct energy_meter meter;
    run_gpu(&meter, 105, 100, 20, false);
    assert_near(meter.energy.machine.gpu, 2100);
    assert_near(meter.energy.main, 1050);
    assert_string_equal(gpu_faults(&meter), "");
    assert_false(energy_meter_integrates_power(&meter));
    energy_meter_finish(&meter);

    run_gpu(&meter, 80, 100, 5, false);
    assert_string_equal(gpu_faults(&meter), ""); /* too early to decide */
    energy_meter_finish(&meter);

    run_gpu(&meter, 80, 100, 20, false);
    assert_string_equal(gpu_faults(&meter),
        "GPU 0 counted 1600.0 J in 20.00 s, but its integrated power gives 2000.0 J");
    energy_meter_finish(&meter);
}

TEST(a_stuck_gpu_counter_is_replaced_by_power)
{
    struct energy_meter meter;
    run_gpu(&meter, 0, 100, 20, false);
    assert_near(meter.energy.machine.gpu, 2000);
    assert_near(meter.energy.main, 1000);
    assert_near(meter.energy.max_watts, 100);
    assert_string_equal(gpu_faults(&meter),
        "the counter of GPU 0 did not advance; its power was integrated instead");
    energy_meter_finish(&meter);

    run_gpu(&meter, -100, 100, 3, false);
    assert_near(meter.energy.machine.gpu, 300);
    assert_string_equal(
        gpu_faults(&meter), "the counter of GPU 0 decreased; its power was integrated instead");
    energy_meter_finish(&meter);

    run_gpu(&meter, 0, 0, 20, true); /* not independent of the counter */
    assert_true(isnan(meter.energy.machine.gpu));
    assert_string_equal(gpu_faults(&meter),
        "the counter of GPU 0 did not advance; the energy it missed is not known");
    energy_meter_finish(&meter);

    run_gpu(&meter, 0, NAN, 20, false);
    assert_true(isnan(meter.energy.machine.gpu));
    assert_true(isnan(meter.energy.main));
    assert_string_equal(gpu_faults(&meter),
        "the counter of GPU 0 did not advance; the energy it missed is not known");
    energy_meter_finish(&meter);
}

/* One that changes every 1.5 s is slow, not stuck: its count is the figure, and increases smoothly.
 */
TEST(a_slow_gpu_counter_is_exact)
{
    struct energy_meter meter;
    static struct gpu_sample gpus;
    static const struct gpu_device devices[1] = {{.uuid = "a"}};
    energy_meter_init(&meter, "/nonexistent");
    gpus.n_devices = 1;
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    for (int tick = 0; tick <= 60; tick++) {
        gpus.devices[0] = (struct gpu_device_sample){.power_watts = 100,
            .energy_joules = 5000 + 10.5 * (tick - tick % 15),
            .main_ram_bytes = NAN,
            .main_sm_percent = NAN,
            .read_ns = NS_PER_SECOND + tick * (NS_PER_SECOND / 10)};
        energy_meter_read(&meter, &shares, NS_PER_SECOND + tick * (NS_PER_SECOND / 10));
    }
    assert_near(meter.energy.machine.gpu, 630);
    assert_true(meter.energy.max_watts < 200);
    assert_string_equal(gpu_faults(&meter), "");
    energy_meter_finish(&meter);
}

ON_MACHINE(a_gpu_in_the_package_is_counted_once)
{
    struct energy_meter meter;
    static struct gpu_sample gpus;
    struct gpu_device devices[1] = {{.uuid = "a", .in_package = true}};
    energy_meter_init(&meter, root);
    gpus.n_devices = 1;
    gpus.devices[0] = (struct gpu_device_sample){
        .power_watts = 100, .energy_joules = NAN, .read_ns = NS_PER_SECOND};
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    energy_meter_read(&meter, &shares, NS_PER_SECOND);
    set_joules("intel-rapl:0", 1010);
    energy_meter_read(&meter, &shares, 2 * NS_PER_SECOND);
    assert_near(meter.energy.machine.total, 10);
    assert_true(isnan(meter.energy.machine.gpu));
    energy_meter_finish(&meter);
}

RUN_TESTS(NULL, NULL)
