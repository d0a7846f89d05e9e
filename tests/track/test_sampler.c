#include "track/fake_procfs.h"
#include "track/sampler.h"

#include "base/clock.h"

#include <math.h>

/* Main 10 with 3 threads and its child 11 with 2, on a machine of four cores. */
struct stage {
    struct fake_procfs fake;
    struct fake_process main, child;
    struct system_meter system;
    struct sampler sampler;
};

static void open_stage(struct stage *stage)
{
    *stage = (struct stage){
        .main = {.pid = 10, .parent = 1, .threads = 3, .resident_pages = 100, .shared_pages = 40},
        .child = {.pid = 11, .parent = 10, .threads = 2, .resident_pages = 50}};
    fake_procfs_init(&stage->fake);
    fake_put(&stage->fake, stage->main);
    fake_put(&stage->fake, stage->child);
    fake_children(&stage->fake, 10, 10, "11 ");
    fake_children(&stage->fake, 11, 11, "");
    system_meter_init(&stage->system, stage->fake.root, 4, clock_monotonic_ns());
    struct sampler_options options = {
        .tree = {.procfs_root = stage->fake.root, .main = 10},
        .system_core_count = 4,
        .n_expected_cores = 2,
        .start_ns = clock_monotonic_ns() - NS_PER_SECOND,
        .interval_ns = NS_PER_SECOND / 1000,
    };
    assert_int_equal(sampler_init(&stage->sampler, &options, &stage->system, NULL), GPUT_OK);
}

static void close_stage(struct stage *stage)
{
    sampler_finish(&stage->sampler);
    system_meter_finish(&stage->system);
    fake_procfs_finish(&stage->fake);
}

static double value(const struct stage *stage, enum gput_measurement_id id)
{
    return stage->sampler.sample.values[id];
}

static void threads_add_up_without_the_trackers_own(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage);
    sampler_take(&stage.sampler, 0, false);
    assert_true(value(&stage, GPUT_MAIN_THREADS) == 3);
    assert_true(value(&stage, GPUT_DESCENDANTS_THREADS) == 2);
    assert_true(value(&stage, GPUT_COMBINED_THREADS) == 5);
    sampler_take(&stage.sampler, 0, true);
    assert_true(value(&stage, GPUT_MAIN_THREADS) == 2);
    assert_true(value(&stage, GPUT_COMBINED_THREADS) == 4);
    close_stage(&stage);
}

static void zombies_have_no_threads_and_no_memory(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage);
    stage.child.state = 'Z';
    stage.child.threads = 1;
    fake_put(&stage.fake, stage.child);
    sampler_take(&stage.sampler, 0, false);
    assert_true(value(&stage, GPUT_DESCENDANTS_THREADS) == 0);
    assert_true(value(&stage, GPUT_DESCENDANTS_RAM) == 0);
    assert_true(value(&stage, GPUT_COMBINED_RAM) == value(&stage, GPUT_MAIN_RAM));
    close_stage(&stage);
}

static void what_is_not_there_is_missing(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage);
    sampler_take(&stage.sampler, 0, false);
    assert_true(isnan(value(&stage, GPUT_SYSTEM_GPU_RAM)));
    assert_true(isnan(value(&stage, GPUT_GPU_SUM_UTILIZATION)));
    assert_true(isnan(value(&stage, GPUT_SYSTEM_RAM)));
    assert_true(isnan(value(&stage, GPUT_CPU_SYSTEM_SUM)));
    close_stage(&stage);
}

static void cpu_is_time_used_over_the_interval(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage);
    /* Half a second each within what began a second ago. */
    stage.main.utime = stage.child.stime =
        (uint64_t)(NS_PER_SECOND / 2 / stage.sampler.tree.view.ns_per_tick);
    fake_put(&stage.fake, stage.main);
    fake_put(&stage.fake, stage.child);
    sampler_take(&stage.sampler, 0, false);
    double seconds = (double)(stage.sampler.sampled_ns - stage.sampler.options.start_ns) * 1e-9;
    assert_true(fabs(value(&stage, GPUT_CPU_MAIN_SUM) - 50 / seconds) < 0.001);
    assert_true(fabs(value(&stage, GPUT_CPU_MAIN_HARDWARE) - 25 / seconds) < 0.001);
    assert_true(fabs(value(&stage, GPUT_CPU_DESCENDANTS_SUM) - 50 / seconds) < 0.001);
    assert_true(fabs(value(&stage, GPUT_CPU_COMBINED_SUM) - 100 / seconds) < 0.001);
    close_stage(&stage);
}

static void no_process_uses_more_than_the_machine_has(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage);
    stage.main.utime = 1000000;
    fake_put(&stage.fake, stage.main);
    sampler_take(&stage.sampler, 0, false);
    assert_true(value(&stage, GPUT_CPU_MAIN_SUM) == 400);
    assert_true(value(&stage, GPUT_CPU_COMBINED_SUM) == 400);
    close_stage(&stage);
}

static void after_the_end_of_main_its_last_figures_stay(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage);
    sampler_take(&stage.sampler, 0, false);
    double ram = value(&stage, GPUT_MAIN_RAM);
    assert_true(ram > 0);
    fake_end(&stage.fake, 10);
    assert_true(sampler_main_lives(&stage.sampler));
    sampler_take(&stage.sampler, 0, false);
    assert_false(sampler_main_lives(&stage.sampler));
    assert_true(value(&stage, GPUT_MAIN_RAM) == ram);
    assert_true(value(&stage, GPUT_MAIN_THREADS) == 3);
    close_stage(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_add_up_without_the_trackers_own),
        cmocka_unit_test(zombies_have_no_threads_and_no_memory),
        cmocka_unit_test(what_is_not_there_is_missing),
        cmocka_unit_test(cpu_is_time_used_over_the_interval),
        cmocka_unit_test(no_process_uses_more_than_the_machine_has),
        cmocka_unit_test(after_the_end_of_main_its_last_figures_stay),
    };
    return cmocka_run_group_tests_name("track/sampler", tests, NULL, NULL);
}
