#include "machine/process/fake_procfs.h"
#include "session/sampler/sampler.h"

#include "base/clock.h"
#include "fake_sysfs.h"

#include <math.h>

/* Main 10 with 3 threads and its child 11 with 2, on a machine of four cores. */
struct stage {
    struct fake_procfs fake;
    struct fake_process main, child;
    struct system_meter system;
    struct sampler sampler;
};

/* `stat` is of the machine; "": missing. */
static void open_stage_with(struct stage *stage, const char *stat, const char *sysfs_root)
{
    *stage = (struct stage){
        .main = {.pid = 10, .parent = 1, .threads = 3, .resident_pages = 100, .shared_pages = 40},
        .child = {.pid = 11, .parent = 10, .threads = 2, .resident_pages = 50}};
    fake_procfs_init(&stage->fake);
    if (*stat)
        fake_write(&stage->fake, stat, "stat");
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
        .sysfs_root = sysfs_root,
    };
    assert_int_equal(sampler_init(&stage->sampler, &options, &stage->system, NULL), GPUT_OK);
}

static void open_stage(struct stage *stage)
{
    open_stage_with(stage, "", "/nonexistent");
}

static void close_stage(struct stage *stage)
{
    sampler_finish(&stage->sampler);
    system_meter_finish(&stage->system);
    fake_procfs_finish(&stage->fake);
}

static double value(const struct stage *stage, enum gput_measurement_id id)
{
    return stage->sampler.snapshot.sample.values[id];
}

TEST(threads_add_up_without_the_trackers_own)
{
    struct stage stage;
    open_stage(&stage);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    assert_true(value(&stage, GPUT_MAIN_THREADS) == 3);
    assert_true(value(&stage, GPUT_DESCENDANTS_THREADS) == 2);
    assert_true(value(&stage, GPUT_COMBINED_THREADS) == 5);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){.is_in_main = true});
    assert_true(value(&stage, GPUT_MAIN_THREADS) == 2);
    assert_true(value(&stage, GPUT_COMBINED_THREADS) == 4);
    close_stage(&stage);
}

static unsigned one_that_starts(void *n_asked)
{
    return (*(int *)n_asked)++ > 0;
}

static unsigned one_that_ends(void *n_asked)
{
    return (*(int *)n_asked)++ == 0;
}

TEST(a_thread_of_the_tracker_that_starts_or_ends_during_a_scan_is_not_counted)
{
    unsigned (*const cases[])(void *) = {one_that_starts, one_that_ends};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        int n_asked = 0;
        open_stage(&stage);
        stage.sampler.options.own_threads = cases[i];
        stage.sampler.options.tree.caller = &n_asked;
        sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
        assert_true(value(&stage, GPUT_MAIN_THREADS) == 2);
        close_stage(&stage);
    }
}

TEST(zombies_have_no_threads_and_no_memory)
{
    struct stage stage;
    open_stage(&stage);
    stage.child.state = 'Z';
    stage.child.threads = 1;
    fake_put(&stage.fake, stage.child);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    assert_true(value(&stage, GPUT_DESCENDANTS_THREADS) == 0);
    assert_true(value(&stage, GPUT_DESCENDANTS_RAM) == 0);
    assert_true(value(&stage, GPUT_COMBINED_RAM) == value(&stage, GPUT_MAIN_RAM));
    close_stage(&stage);
}

/* As statm is while execve() or exit() replaces its memory. */
TEST(ram_of_a_process_without_pages_is_missing)
{
    struct stage stage;
    open_stage(&stage);
    stage.main.resident_pages = stage.main.shared_pages = 0;
    fake_put(&stage.fake, stage.main);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    assert_true(isnan(value(&stage, GPUT_MAIN_RAM)) && isnan(value(&stage, GPUT_MAIN_SHARED_RAM)));
    assert_true(value(&stage, GPUT_COMBINED_RAM) == value(&stage, GPUT_DESCENDANTS_RAM));
    close_stage(&stage);
}

TEST(unreadable_figures_are_missing)
{
    struct stage stage;
    open_stage(&stage);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    assert_true(isnan(value(&stage, GPUT_SYSTEM_GPU_RAM)));
    assert_true(isnan(value(&stage, GPUT_GPU_SUM_UTILIZATION)));
    assert_true(isnan(value(&stage, GPUT_SYSTEM_RAM)));
    assert_true(isnan(value(&stage, GPUT_CPU_SYSTEM_SUM)));
    close_stage(&stage);
}

TEST(cpu_is_time_used_over_the_interval)
{
    struct stage stage;
    open_stage(&stage);
    /* Half a second each, within one second. */
    stage.main.utime = stage.child.stime =
        (uint64_t)(NS_PER_SECOND / 2 / stage.sampler.tree.view.ns_per_tick);
    fake_put(&stage.fake, stage.main);
    fake_put(&stage.fake, stage.child);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    double seconds =
        (double)(stage.sampler.snapshot.taken_ns - stage.sampler.options.start_ns) * 1e-9;
    assert_true(fabs(value(&stage, GPUT_CPU_MAIN_SUM) - 50 / seconds) < 0.001);
    assert_true(fabs(value(&stage, GPUT_CPU_MAIN_HARDWARE) - 25 / seconds) < 0.001);
    assert_true(fabs(value(&stage, GPUT_CPU_DESCENDANTS_SUM) - 50 / seconds) < 0.001);
    assert_true(fabs(value(&stage, GPUT_CPU_COMBINED_SUM) - 100 / seconds) < 0.001);
    close_stage(&stage);
}

/* On a busy machine the baseline can be late. */
TEST(cpu_time_of_a_command_before_the_baseline_is_in_its_first_row)
{
    for (int is_old = 0; is_old < 2; is_old++) {
        struct stage stage;
        open_stage(&stage);
        stage.sampler.options.tree.main_is_old = is_old;
        stage.sampler.options.interval_ns = 0; /* so that none is too short */
        stage.main.utime = (uint64_t)(NS_PER_SECOND / 2 / stage.sampler.tree.view.ns_per_tick);
        fake_put(&stage.fake, stage.main);
        sampler_take_sample(&stage.sampler, &(struct sampler_tick){.is_baseline = true});
        assert_true(isnan(value(&stage, GPUT_CPU_MAIN_SUM)));
        sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
        double seconds =
            clock_seconds_of_ns(stage.sampler.snapshot.taken_ns - stage.sampler.options.start_ns);
        double percent = is_old ? 0 : 50 / seconds;
        assert_true(fabs(value(&stage, GPUT_CPU_MAIN_SUM) - percent) < 0.001);
        close_stage(&stage);
    }
}

TEST(no_process_uses_more_than_the_machine_has)
{
    struct stage stage;
    open_stage(&stage);
    stage.main.utime = 1000000;
    fake_put(&stage.fake, stage.main);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    assert_true(value(&stage, GPUT_CPU_MAIN_SUM) == 400);
    assert_true(value(&stage, GPUT_CPU_COMBINED_SUM) == 400);
    close_stage(&stage);
}

TEST(the_last_figures_of_main_stay_after_its_end)
{
    struct stage stage;
    open_stage(&stage);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    double ram = value(&stage, GPUT_MAIN_RAM);
    assert_true(ram > 0);
    fake_end(&stage.fake, 10);
    assert_true(sampler_main_lives(&stage.sampler));
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    assert_false(sampler_main_lives(&stage.sampler));
    assert_true(value(&stage, GPUT_MAIN_RAM) == ram);
    assert_true(value(&stage, GPUT_MAIN_THREADS) == 3);
    close_stage(&stage);
}

static int64_t known_seconds(const void *seconds)
{
    return *(const int *)seconds * NS_PER_SECOND;
}

/* Main has used two seconds; with auto-reaped children the total is known to be higher. */
TEST(auto_reaped_children_have_their_share_of_joules)
{
    static const struct {
        int known, descendants_joules;
    } cases[] = {{0, 0}, {6, 50}, {1000, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        assert_int_equal(fake_sysfs_create(), 0);
        fake_sysfs_make_zone("intel-rapl:0", "package-0\n", 1000);
        open_stage_with(&stage, "cpu 1000 0 0 9000\n", fake_sysfs);
        int known = 0;
        stage.sampler.options.known_cpu_ns = known_seconds;
        stage.sampler.options.user = &known;
        sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
        stage.main.utime = (uint64_t)(NS_PER_SECOND * 2 / stage.sampler.tree.view.ns_per_tick);
        fake_put(&stage.fake, stage.main);
        char text[64];
        double ticks = 8 / stage.system.seconds_per_tick;
        snprintf(text, sizeof text, "cpu %.0f 0 0 %.0f\n", 1000 + ticks, 9000 + ticks);
        fake_write(&stage.fake, text, "stat");
        fake_sysfs_set_joules("intel-rapl:0", 1100);
        known = cases[i].known;
        sampler_take_sample(&stage.sampler, &(struct sampler_tick){.is_last = true});
        const struct gput_energy *energy = &stage.sampler.energy.energy;
        assert_int_equal(lround(energy->descendants), cases[i].descendants_joules);
        assert_true(energy->combined <= energy->machine.package + 1e-9);
        assert_true(stage.sampler.snapshot.totals.descendants_ns == 0);
        close_stage(&stage);
        fake_sysfs_remove(NULL);
    }
}

/* A command that ends at once has used all of its CPU time by then. */
TEST(cpu_time_before_the_first_sample_has_its_share)
{
    struct stage stage;
    assert_int_equal(fake_sysfs_create(), 0);
    fake_sysfs_make_zone("intel-rapl:0", "package-0\n", 1000);
    open_stage_with(&stage, "cpu 1000 0 0 9000\n", fake_sysfs);
    stage.main.utime = (uint64_t)(NS_PER_SECOND * 2 / stage.sampler.tree.view.ns_per_tick);
    fake_put(&stage.fake, stage.main);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){0});
    /* Of eight seconds. */
    double ticks = 8 / stage.system.seconds_per_tick;
    char text[64];
    snprintf(text, sizeof text, "cpu %.0f 0 0 %.0f\n", 1000 + ticks, 9000 + ticks);
    fake_write(&stage.fake, text, "stat");
    fake_sysfs_set_joules("intel-rapl:0", 1100);
    sampler_take_sample(&stage.sampler, &(struct sampler_tick){.is_last = true});
    const struct gput_energy *energy = &stage.sampler.energy.energy;
    assert_true(fabs(energy->machine.package - 100) < 1e-6);
    assert_true(fabs(energy->main - 25) < 1e-6);
    assert_true(energy->combined == energy->main);
    assert_true(fabs(energy->idle_share - 0.5) < 1e-6);
    close_stage(&stage);
    fake_sysfs_remove(NULL);
}

RUN_TESTS(NULL, NULL)
