/*
 * How the meter shares out the joules of a GPU.
 */
#include "base/clock.h"
#include "fake_sysfs.h"
#include "machine/energy/metered.h"

/* Meters a GPU with constant readings. */
static void run_for_two_seconds(
    struct energy_meter *meter, const struct gpu_device_sample *reported)
{
    struct gpu_sample gpus = {.n_devices = 1};
    const struct gpu_device devices[1] = {{.uuid = "a"}};
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    energy_meter_init(meter, "/nonexistent");
    for (int second = 1; second <= 3; second++) {
        gpus.devices[0] = *reported;
        gpus.devices[0].read_ns = second * NS_PER_SECOND;
        energy_meter_read(meter, &shares, second * NS_PER_SECOND);
    }
}

TEST(joules_of_a_gpu_with_unknown_users_are_unattributed)
{
    struct energy_meter meter;
    run_for_two_seconds(&meter, &(struct gpu_device_sample){.power_watts = 100,
                                    .energy_joules = NAN,
                                    .main_sm_percent = NAN,
                                    .descendants_sm_percent = NAN,
                                    .ram_used_bytes = 10e9,
                                    .main_ram_bytes = NAN,
                                    .descendants_ram_bytes = NAN});
    assert_near(meter.energy.machine.gpu, 200);
    assert_true(isnan(meter.energy.main));
    assert_true(isnan(meter.energy.combined));
    assert_near(meter.energy.unattributed, 200);
    assert_true(meter.unshared_joules > 0);
    assert_false(meter.gpu_by_use || meter.gpu_by_memory);
    energy_meter_finish(&meter);
}

/* Memory does not replace use that the driver has merely not given yet. */
TEST(use_without_samples_is_not_known)
{
    for (int lacks_samples = 0; lacks_samples <= 1; lacks_samples++) {
        struct energy_meter meter;
        run_for_two_seconds(&meter, &(struct gpu_device_sample){.power_watts = 100,
                                        .energy_joules = NAN,
                                        .utilization_percent = 90,
                                        .main_sm_percent = NAN,
                                        .descendants_sm_percent = NAN,
                                        .all_sm_percent = NAN,
                                        .lacks_samples = lacks_samples,
                                        .ram_used_bytes = 10e9,
                                        .main_ram_bytes = 5e9});
        if (lacks_samples)
            assert_true(isnan(meter.energy.combined) && meter.unshared_joules > 0);
        else
            assert_near(meter.energy.main, 100);
        energy_meter_finish(&meter);
    }
}

/* A GPU for three seconds: its driver does not list its users while it is busy, and it is idle in
 * the first and the last second. */
static void run_without_list(struct energy_meter *meter, double sm, double ram)
{
    struct gpu_sample gpus = {.n_devices = 1};
    struct gpu_device devices[1] = {{.uuid = "a"}};
    energy_meter_init(meter, "/nonexistent");
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    for (int second = 1; second <= 4; second++) {
        bool is_idle = second == 2 || second == 4;
        gpus.devices[0] = (struct gpu_device_sample){.power_watts = 100,
            .energy_joules = NAN,
            .utilization_percent = is_idle ? 0 : 90,
            .main_sm_percent = is_idle ? 0 : sm,
            .descendants_sm_percent = is_idle ? 0 : sm,
            .main_ram_bytes = is_idle ? 0 : ram,
            .descendants_ram_bytes = is_idle ? 0 : ram,
            .ram_used_bytes = 10e9,
            .read_ns = second * NS_PER_SECOND};
        energy_meter_read(meter, &shares, second * NS_PER_SECOND);
    }
    assert_near(meter->energy.unattributed, 300);
    energy_meter_finish(meter);
}

TEST(users_that_no_list_shows_may_be_ours)
{
    struct energy_meter meter;
    run_without_list(&meter, NAN, NAN);
    assert_true(
        meter.unshared_joules > 0 && isnan(meter.energy.combined) && isnan(meter.energy.main));
    run_without_list(&meter, NAN, 0); /* they hold none of it */
    assert_true(meter.unshared_joules == 0 && meter.energy.combined == 0);
    run_without_list(&meter, 0, NAN); /* they do nothing */
    assert_true(meter.unshared_joules == 0 && meter.energy.combined == 0);
}

/* The package alone is not a figure of all domains. */
TEST(unlisted_users_make_the_total_unknown_next_to_a_package)
{
    for (int is_busy = 0; is_busy <= 1; is_busy++) {
        struct energy_meter meter;
        struct gpu_sample gpus = {.n_devices = 1};
        struct gpu_device devices[1] = {{.uuid = "a"}};
        assert_int_equal(fake_sysfs_create(), 0);
        fake_sysfs_make_zone("intel-rapl:0", "package-0\n", 1000);
        energy_meter_init(&meter, fake_sysfs);
        struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
        for (int second = 1; second <= 3; second++) {
            gpus.devices[0] = (struct gpu_device_sample){.power_watts = 100,
                .energy_joules = NAN,
                .utilization_percent = is_busy ? 60 : 0,
                .main_sm_percent = is_busy ? NAN : 0,
                .main_ram_bytes = NAN,
                .ram_used_bytes = 10e9,
                .read_ns = second * NS_PER_SECOND};
            shares.main_cpu_seconds = second;
            fake_sysfs_set_joules("intel-rapl:0", 1000 + 10 * second);
            energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
        }
        assert_near(meter.energy.machine.total, 220);
        assert_near(meter.package_share, 20);
        assert_near(meter.energy.unattributed, is_busy ? 220 : 200);
        if (is_busy)
            assert_true(isnan(meter.energy.main) && isnan(meter.energy.combined));
        else
            assert_near(meter.energy.combined, 20);
        energy_meter_finish(&meter);
        fake_sysfs_remove(NULL);
    }
}

/* A list that comes a second late hides too little for 0 J to be missing. */
TEST(a_moment_without_a_list_makes_nothing_unknown)
{
    struct energy_meter meter;
    struct gpu_sample gpus = {.n_devices = 1};
    struct gpu_device devices[1] = {{.uuid = "a"}};
    energy_meter_init(&meter, "/nonexistent");
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    for (int second = 1; second <= 60; second++) {
        gpus.devices[0] = (struct gpu_device_sample){.power_watts = 100,
            .energy_joules = NAN,
            .main_sm_percent = second < 3 ? NAN : 0,
            .main_ram_bytes = second < 3 ? NAN : 0,
            .read_ns = second * NS_PER_SECOND};
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
        assert_true(second > 3 || isnan(meter.energy.combined));
    }
    assert_true(meter.unshared_joules > 0 && meter.energy.combined == 0);
    energy_meter_finish(&meter);
}

/* Main's share of 100 J. */
static double main_joules_of(double utilization, double main_sm, double all_sm)
{
    struct energy_meter meter;
    static struct gpu_sample gpus;
    const struct gpu_device devices[1] = {{.uuid = "a"}};
    energy_meter_init(&meter, "/nonexistent");
    gpus.n_devices = 1;
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    for (int second = 1; second <= 2; second++) {
        gpus.devices[0] = (struct gpu_device_sample){.power_watts = 100,
            .energy_joules = 100 * second,
            .utilization_percent = utilization,
            .main_sm_percent = main_sm,
            .all_sm_percent = all_sm,
            .read_ns = second * NS_PER_SECOND};
        energy_meter_read(&meter, &shares, second * NS_PER_SECOND);
    }
    energy_meter_finish(&meter);
    return meter.energy.main;
}

TEST(use_of_a_gpu_by_others_is_theirs)
{
    assert_near(main_joules_of(90, 30, 60), 100.0 / 3);
    assert_near(main_joules_of(30, 30, 60), 50); /* use of the device is below that of its users */
    assert_near(main_joules_of(NAN, 30, 60), 50);
    assert_near(main_joules_of(60, 30, NAN), 50); /* others are not known */
    assert_near(main_joules_of(NAN, 30, NAN), 30);
    assert_near(main_joules_of(10, 30, NAN), 100);
}

/* 100 J of a card, and the memory that main holds of each instance. */
static void run_mig(
    struct energy_meter *meter, uint32_t n_devices, const double main_ram[], double card_ram_used)
{
    static struct gpu_sample gpus;
    const struct gpu_device devices[3] = {
        {.uuid = "MIG-1", .pci_address = "0000:01:00.0", .mig = true, .is_card_leader = true},
        {.uuid = "MIG-2", .pci_address = "0000:01:00.0", .mig = true},
        {.uuid = "MIG-3", .pci_address = "0000:02:00.0", .mig = true}, /* of another card */
    };
    energy_meter_init(meter, "/nonexistent");
    gpus.n_devices = n_devices;
    struct energy_shares shares = {.gpus = &gpus, .gpu_devices = devices};
    for (int second = 1; second <= 2; second++) {
        for (uint32_t i = 0; i < n_devices; i++)
            gpus.devices[i] = (struct gpu_device_sample){.ram_used_bytes = 4e9,
                .main_ram_bytes = main_ram[i],
                .main_sm_percent = NAN,
                .power_watts = NAN,
                .energy_joules = NAN,
                .card_power_watts = i == 0 ? 100 : NAN,
                .card_energy_joules = i == 0 ? 100 * second : NAN,
                .card_ram_used_bytes = i == 0 ? card_ram_used : NAN,
                .read_ns = second * NS_PER_SECOND};
        energy_meter_read(meter, &shares, second * NS_PER_SECOND);
    }
    assert_near(meter->energy.machine.gpu, 100);
    assert_string_equal(gpu_faults(meter), "");
    energy_meter_finish(meter);
}

TEST(joules_of_a_card_are_shared_out_among_its_mig_instances)
{
    struct energy_meter meter;
    run_mig(&meter, 3, (double[]){0, 2e9, 0}, 8e9);
    assert_near(meter.energy.main, 25);
    assert_true(meter.gpu_by_memory && meter.unshared_joules == 0);
    run_mig(&meter, 1, (double[]){2e9}, 8e9); /* the other instances are not visible */
    assert_near(meter.energy.main, 25);
}

TEST(joules_of_a_card_are_unattributed_when_an_instance_is_unknown)
{
    struct energy_meter meter;
    run_mig(&meter, 2, (double[]){NAN, 2e9}, 8e9);
    assert_true(isnan(meter.energy.main));
    assert_true(meter.unshared_joules > 0);
    run_mig(&meter, 1, (double[]){2e9}, NAN);
    assert_true(isnan(meter.energy.main));
    assert_true(meter.unshared_joules > 0);
}

RUN_TESTS(NULL, NULL)
