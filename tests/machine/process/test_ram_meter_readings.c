/* When the RAM meter reads exactly, and what it says of readings that were delayed. */
#include "machine/os/cgroup.h"
#include "machine/process/bytes.h"
#include "machine/process/ram_stage.h"

TEST(a_process_that_did_not_run_is_read_once)
{
    struct stage stage;
    set_up(&stage, "alloc 20 child [ ready await 3 ] child [ ready await 3 ] ready await 3", 3);
    for (int i = 0; i < 10; i++)
        measure(&stage);
    uint64_t readings = stage.adaptive.readings.count;
    for (int i = 0; i < 10; i++)
        measure(&stage);
    assert_int_equal(stage.adaptive.readings.count, readings);
    assert_true(stage.exact.readings.count >= 60);
    tear_down(&stage);
}

/* The adaptive meter measures main a moment later, where it has run or not. */
static void measure_adaptive(struct stage *stage, int64_t later_ns, bool has_run)
{
    process_tree_main(&stage->tree)->polled->has_run = has_run;
    stage->now_ns += later_ns;
    assert_int_equal(ram_meter_measure(&stage->adaptive, &stage->tree, stage->now_ns), GPUT_OK);
}

TEST(exact_readings_are_bounded_by_their_cost)
{
    struct stage stage;
    set_up(&stage, "alloc 100 ready await 3", 1);
    measure(&stage);
    struct process *main = process_tree_main(&stage.tree);
    uint64_t readings = stage.adaptive.readings.count;
    int64_t rest_ns = main->polled->metered.exact.not_before_ns - stage.now_ns;
    assert_true(rest_ns > 0);

    /* It grows all the time: measurements during the pause do not read exactly. */
    for (int i = 0; i < 50; i++) {
        memory_set_fast(&main->polled->memory, main->polled->memory.resident_bytes + (10 << 20), 0);
        measure_adaptive(&stage, rest_ns / 100, true);
    }
    assert_int_equal(stage.adaptive.readings.count, readings);
    assert_true(stage.adaptive.readings.has_deferred);
    measure_adaptive(&stage, rest_ns, true);
    assert_int_equal(stage.adaptive.readings.count, readings + 1);
    tear_down(&stage);
}

TEST(a_sleeping_process_is_read_without_a_pause)
{
    struct stage stage;
    set_up(&stage, "alloc 100 ready await 3", 1);
    measure(&stage);
    struct process *main = process_tree_main(&stage.tree);
    uint64_t readings = stage.adaptive.readings.count;
    memory_set_fast(&main->polled->memory, main->polled->memory.resident_bytes * 2, 0);
    measure_adaptive(&stage, 1, true);
    assert_int_equal(stage.adaptive.readings.count, readings);
    measure_adaptive(&stage, 1, false);
    assert_int_equal(stage.adaptive.readings.count, readings + 1);
    tear_down(&stage);
}

TEST(a_process_that_copied_much_is_read_without_a_pause)
{
    struct stage stage;
    set_up(&stage, "alloc 60 child [ ready await 3 touch ready await 4 ] ready await 4", 2);
    measure(&stage);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    measure_at_once(&stage);
    assert_true(stage.now_ns < process_tree_main(&stage.tree)->polled->metered.exact.not_before_ns);
    assert_megabytes(stage.adaptive.figures.combined.total, 120, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

TEST(delayed_readings_are_reported)
{
    struct stage stage;
    set_up(&stage, "alloc 60 child [ ready await 3 again 20 ready await 4 ] ready await 4", 2);
    measure(&stage);
    assert_int_equal(stage.adaptive.unread_bytes, 0);
    stage.adaptive.readings.credit_ns = -NS_PER_SECOND / 2;
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    measure_at_once(&stage);
    uint64_t adaptive = stage.adaptive.figures.combined.total;
    uint64_t exact = stage.exact.figures.combined.total;
    assert_megabytes(exact, 80, PROGRAM);
    assert_true(adaptive < exact - (uint64_t)(19 * MB));
    assert_true(adaptive + stage.adaptive.unread_bytes >= exact);
    assert_megabytes(stage.adaptive.unread_bytes, 20, PROGRAM);
    /* The highest figure has it later, so nothing of that is missing. */
    measure(&stage);
    assert_agree(&stage);
    assert_int_equal(stage.adaptive.unread_bytes, 0);
    assert_int_equal(stage.exact.unread_bytes, 0);
    tear_down(&stage);
}

/* The control group has each page once, whatever was read when. */
TEST(while_readings_are_delayed_a_control_group_has_the_anonymous_memory)
{
    struct stage stage;
    if (cgroup_lag_bytes() > 3 * MB)
        SKIP("the statistics of control groups lag too much here");
    set_up(&stage, "alloc 60 child [ ready await 3 again 20 ready await 4 ] ready await 4", 2);
    stage.tree.processes[0]->is_main = false; /* as a family of descendants */
    measure(&stage);
    stage.adaptive.readings.credit_ns = -NS_PER_SECOND / 2;
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    stage.adaptive.group_anonymous_bytes = (uint64_t)(81 * MB);
    measure_at_once(&stage);
    const struct ram_figures *ram = &stage.adaptive.figures;
    assert_true(stage.adaptive.readings.has_deferred);
    assert_megabytes(ram->combined.total, 81, PROGRAM);
    assert_true(ram->at_least_bytes <= stage.exact.figures.combined.total);
    /* A small one says nothing: its statistics lag. */
    stage.adaptive.group_anonymous_bytes = (uint64_t)(0.1 * MB);
    measure_at_once(&stage);
    assert_true(stage.adaptive.figures.combined.total > (uint64_t)(59 * MB));
    tear_down(&stage);
}

TEST(a_delayed_reading_of_a_fork_is_reported)
{
    struct stage stage;
    set_up(&stage, "alloc 30 ready await 3 child [ alloc 20 ready await 4 ] await 4", 1);
    measure(&stage);
    stage.adaptive.readings.credit_ns = -NS_PER_SECOND / 2;
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    measure_at_once(&stage);
    assert_megabytes(stage.exact.figures.combined.total, 50, PROGRAM);
    /* What is less than a twentieth is not reported. */
    uint64_t adaptive = stage.adaptive.figures.combined.total;
    assert_true(adaptive + bytes_max(stage.adaptive.unread_bytes, adaptive / 20) >=
                stage.exact.figures.combined.total);
    tear_down(&stage);
}

/* Between two samples nothing is read exactly: what is certainly there counts anyway. */
TEST(growth_of_a_fork_counts_before_its_first_exact_reading)
{
    struct stage stage;
    set_up(&stage,
        "alloc 20 ready await 3 child [ alloc 40 ready await 4 ] child [ alloc 60 ready await 4 ] "
        "ready await 4",
        1);
    measure(&stage);
    uint64_t before = stage.adaptive.readings.count;
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 3);
    stage.adaptive.skip_exact = true;
    measure(&stage);
    const struct ram_figures *ram = &stage.adaptive.figures;
    assert_int_equal(stage.adaptive.readings.count, before);
    assert_true((double)ram->combined.total > 0.98 * 120 * MB);
    assert_true(ram->combined.total <= stage.exact.figures.combined.total);
    /* The next sample takes the delayed readings. */
    stage.adaptive.skip_exact = false;
    measure(&stage);
    assert_true(stage.adaptive.readings.count >= before + 3);
    assert_agree(&stage);
    tear_down(&stage);
}

RUN_TESTS(NULL, NULL)
