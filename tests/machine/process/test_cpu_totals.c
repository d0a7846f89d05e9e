#include "machine/process/fake_procfs.h"
#include "machine/process/live.h"
#include "machine/process/process_tree.h"

#define MS INT64_C(1000000)

/* Main 10 with a child 11 that has a child 12, in a procfs made of files; a tick is `tick_ns`. */
struct family {
    struct fake_procfs fake;
    struct process_tree tree;
    struct cpu_totals totals;
    struct fake_process main, child, grandchild;
    int64_t tick_ns;
};

static void open_family(struct family *family, bool is_old)
{
    *family = (struct family){.main = {.pid = 10, .parent = 1, .utime = 100},
        .child = {.pid = 11, .parent = 10, .utime = 50},
        .grandchild = {.pid = 12, .parent = 11, .utime = 20}};
    fake_procfs_init(&family->fake);
    fake_put(&family->fake, family->main);
    fake_put(&family->fake, family->child);
    fake_put(&family->fake, family->grandchild);
    fake_children(&family->fake, 10, 10, "11 ");
    fake_children(&family->fake, 11, 11, "12 ");
    fake_children(&family->fake, 12, 12, "");
    struct process_tree_options options = {
        .procfs_root = family->fake.root, .main = 10, .main_is_old = is_old};
    assert_int_equal(process_tree_init(&family->tree, &options, NULL), GPUT_OK);
    family->tick_ns = family->tree.view.ns_per_tick;
}

static void scan(struct family *family)
{
    assert_int_equal(process_tree_scan(&family->tree, false, 1), GPUT_OK);
    cpu_totals_update(&family->totals, &family->tree, 0, 0);
}

static void expect(const struct family *family, int64_t main_ticks, int64_t descendants_ticks)
{
    assert_int_equal(family->totals.main_ns, main_ticks * family->tick_ns);
    assert_int_equal(family->totals.descendants_ns, descendants_ticks * family->tick_ns);
}

static void close_family(struct family *family)
{
    process_tree_finish(&family->tree);
    fake_procfs_finish(&family->fake);
}

TEST(living_processes_count_by_their_cpu_clocks)
{
    struct family family;
    open_family(&family, false);
    scan(&family);
    expect(&family, 100, 70);
    close_family(&family);
}

TEST(what_other_roots_used_stays_after_their_end)
{
    struct family family;
    const pid_t other = 20;
    struct fake_process other_root = {.pid = 20, .parent = 1, .utime = 40, .cutime = 7};
    open_family(&family, true);
    process_tree_finish(&family.tree);
    fake_put(&family.fake, other_root);
    fake_children(&family.fake, 20, 20, "");
    struct process_tree_options options = {.procfs_root = family.fake.root,
        .main = 10,
        .main_is_old = true,
        .others = &other,
        .n_others = 1};
    assert_int_equal(process_tree_init(&family.tree, &options, NULL), GPUT_OK);
    scan(&family);
    expect(&family, 0, 0);

    /* It used 3 ticks and collected a child of 2 that was never seen, then ended. */
    other_root.utime += 3;
    other_root.cutime += 2;
    fake_put(&family.fake, other_root);
    scan(&family);
    expect(&family, 0, 5);
    fake_end(&family.fake, 20);
    scan(&family);
    expect(&family, 0, 5);

    /* And main collected a child that was never seen either. */
    family.main.cutime = 4;
    fake_put(&family.fake, family.main);
    scan(&family);
    expect(&family, 0, 9);
    close_family(&family);
}

TEST(an_ended_child_counts_once_whoever_collects_it)
{
    struct family family;
    open_family(&family, false);
    scan(&family);

    /* The grandchild used 5 ticks more, ended, and was collected. */
    fake_end(&family.fake, 12);
    fake_children(&family.fake, 11, 11, "");
    family.child.cutime = 25;
    fake_put(&family.fake, family.child);
    scan(&family);
    expect(&family, 100, 75);

    /* The child ended as a zombie: main has not collected it yet. */
    family.child.state = 'Z';
    fake_put(&family.fake, family.child);
    scan(&family);
    expect(&family, 100, 75);

    /* Main collects it, and with it what it had collected. */
    fake_end(&family.fake, 11);
    fake_children(&family.fake, 10, 10, "");
    family.main.cutime = 75;
    fake_put(&family.fake, family.main);
    scan(&family);
    expect(&family, 100, 75);
    close_family(&family);
}

TEST(children_that_no_scan_saw_count)
{
    struct family family;
    open_family(&family, false);
    family.main.cutime = 300;
    family.main.cstime = 40;
    fake_put(&family.fake, family.main);
    scan(&family);
    expect(&family, 100, 410);
    close_family(&family);
}

TEST(auto_reaped_children_count_as_far_as_polled)
{
    struct family family;
    open_family(&family, false);
    scan(&family);
    /* Main ignores SIGCHLD: the kernel discards the child's figures. */
    fake_end(&family.fake, 11);
    fake_children(&family.fake, 10, 10, "");
    scan(&family);
    expect(&family, 100, 70);
    close_family(&family);
}

TEST(what_we_collected_from_orphans_counts)
{
    struct family family;
    open_family(&family, false);
    assert_int_equal(process_tree_scan(&family.tree, false, 1), GPUT_OK);
    cpu_totals_update(&family.totals, &family.tree, 9 * family.tick_ns, 0);
    expect(&family, 100, 79);
    close_family(&family);
}

TEST(the_trackers_own_thread_does_not_count_as_main)
{
    struct family family;
    open_family(&family, false);
    cpu_totals_update(&family.totals, &family.tree, 0, 30 * family.tick_ns);
    expect(&family, 70, 70);
    close_family(&family);
}

TEST(totals_never_decrease)
{
    struct family family;
    open_family(&family, false);
    scan(&family);
    /* Figures are read one after the other: for a moment their sum can be lower. */
    family.main.utime = 99;
    family.child.utime = 49;
    fake_put(&family.fake, family.main);
    fake_put(&family.fake, family.child);
    scan(&family);
    expect(&family, 100, 70);
    close_family(&family);
}

TEST(what_was_used_before_tracking_never_counts)
{
    struct family family;
    open_family(&family, true);
    scan(&family);
    expect(&family, 0, 0);

    family.child.utime += 3;
    fake_put(&family.fake, family.child);
    scan(&family);
    expect(&family, 0, 3);

    /* Main collects a child that started before tracking began: with all that it ever used. */
    fake_end(&family.fake, 12);
    fake_children(&family.fake, 11, 11, "");
    family.child.cutime = 22;
    fake_put(&family.fake, family.child);
    scan(&family);
    expect(&family, 0, 5);
    fake_end(&family.fake, 11);
    fake_children(&family.fake, 10, 10, "");
    family.main.cutime = 53 + 22 + 1;
    fake_put(&family.fake, family.main);
    scan(&family);
    expect(&family, 0, 6);
    close_family(&family);
}

/* ---- live ---- */

TEST(a_swarm_of_short_children_is_counted)
{
    struct actors actors;
    struct process_tree tree;
    struct cpu_totals totals = {0};
    actors_start(&actors, "ready await 3 swarm 40 0.02 ready await 3");
    actors_await(&actors, 1);
    struct process_tree_options options = {
        .procfs_root = "/proc", .main = actors.pid, .kept_files = 64};
    assert_int_equal(process_tree_init(&tree, &options, NULL), GPUT_OK);
    actors_release(&actors, 3, 1);

    struct pollfd ready_came = {.fd = actors.ready_fd, .events = POLLIN};
    int64_t before = 0;
    do {
        assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
        cpu_totals_update(&totals, &tree, 0, 0);
        assert_true(totals.descendants_ns >= before);
        before = totals.descendants_ns;
    } while (poll(&ready_came, 1, 5) == 0);
    actors_await(&actors, 1);
    process_tree_scan(&tree, false, 1);
    cpu_totals_update(&totals, &tree, 0, 0);
    /* 0.8 s; fork and exit cost CPU time, too. */
    assert_in_range(totals.descendants_ns, 780 * MS, 1300 * MS);
    process_tree_finish(&tree);
    actors_end(&actors);
}

RUN_TESTS(NULL, NULL)
