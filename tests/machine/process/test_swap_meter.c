#include "machine/process/fake_procfs.h"
#include "machine/process/swap_meter.h"

#include "base/clock.h"

#include <math.h>

/* Main 10 and its child 11; nothing says yet what of them is in swap. */
struct stage {
    struct fake_procfs fake;
    struct process_tree tree;
    struct swap_meter meter;
    int64_t now_ns;
};

static void open_stage(struct stage *stage)
{
    *stage = (struct stage){.now_ns = NS_PER_SECOND};
    fake_procfs_init(&stage->fake);
    fake_put(&stage->fake, (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100});
    fake_put(&stage->fake, (struct fake_process){.pid = 11, .parent = 10, .resident_pages = 50});
    fake_children(&stage->fake, 10, 10, "11 ");
    fake_children(&stage->fake, 11, 11, "");
    struct process_tree_options options = {.procfs_root = stage->fake.root, .main = 10};
    assert_int_equal(process_tree_init(&stage->tree, &options, NULL), GPUT_OK);
    assert_int_equal(stage->tree.count, 2);
}

static void close_stage(struct stage *stage)
{
    process_tree_finish(&stage->tree);
    fake_procfs_finish(&stage->fake);
}

static void put_swapped(const struct stage *stage, int pid, int kib)
{
    char text[160];
    snprintf(text, sizeof text,
        "Name:\tfake\nPid:\t%d\nPPid:\t1\nVmRSS:\t 400 kB\nVmSwap:\t%d kB\n", pid, kib);
    fake_write(&stage->fake, text, "%d/status", pid);
}

static double measure(struct stage *stage, int64_t later_ns)
{
    stage->now_ns += later_ns;
    return swap_meter_measure(&stage->meter, &stage->tree, true, stage->now_ns);
}

TEST(adds_up_what_all_processes_have_in_swap)
{
    struct stage stage;
    open_stage(&stage);
    put_swapped(&stage, 10, 300);
    put_swapped(&stage, 11, 20);
    assert_true(measure(&stage, 0) == 320 * 1024);
    close_stage(&stage);
}

TEST(reads_each_process_at_most_twice_a_second)
{
    struct stage stage;
    open_stage(&stage);
    put_swapped(&stage, 10, 300);
    put_swapped(&stage, 11, 20);
    measure(&stage, 0);
    put_swapped(&stage, 10, 1000);
    assert_true(measure(&stage, NS_PER_SECOND / 10) == 320 * 1024);
    assert_true(measure(&stage, NS_PER_SECOND / 2) == 1020 * 1024);
    close_stage(&stage);
}

TEST(reads_nothing_while_the_machine_uses_no_swap)
{
    struct stage stage;
    open_stage(&stage);
    put_swapped(&stage, 10, 300);
    assert_true(swap_meter_measure(&stage.meter, &stage.tree, false, stage.now_ns) == 0);
    assert_int_equal(stage.tree.processes[0]->polled->swap_read_ns, 0);
    close_stage(&stage);
}

TEST(is_not_known_where_no_process_can_be_read)
{
    struct stage stage;
    open_stage(&stage);
    assert_true(isnan(measure(&stage, 0)));
    put_swapped(&stage, 11, 20);
    assert_true(measure(&stage, NS_PER_SECOND) == 20 * 1024);
    close_stage(&stage);
}

TEST(takes_turns_where_there_are_many_processes)
{
    struct stage stage;
    char children[256] = "11 ";
    open_stage(&stage);
    put_swapped(&stage, 10, 1);
    put_swapped(&stage, 11, 1);
    for (int pid = 12; pid < 50; pid++) {
        fake_put(&stage.fake, (struct fake_process){.pid = pid, .parent = 10, .resident_pages = 5});
        fake_children(&stage.fake, pid, pid, "");
        put_swapped(&stage, pid, 1);
        snprintf(children + strlen(children), sizeof children - strlen(children), "%d ", pid);
    }
    fake_children(&stage.fake, 10, 10, children);
    assert_int_equal(process_tree_scan(&stage.tree, false, stage.now_ns), GPUT_OK);
    assert_int_equal(stage.tree.count, 40);
    assert_true(measure(&stage, 0) == 16 * 1024);
    assert_true(measure(&stage, NS_PER_SECOND / 10) == 32 * 1024);
    assert_true(measure(&stage, NS_PER_SECOND / 10) == 40 * 1024);
    close_stage(&stage);
}

RUN_TESTS(NULL, NULL)
