/* The tree of real processes. */
#include "descriptors.h"
#include "machine/process/live.h"
#include "machine/process/process_tree.h"

struct stage {
    struct actors actors;
    struct process_tree tree;
    pid_t others; /* a child of this process that is not in the tree */
};

static bool is_the_tests_child(void *stage, pid_t pid)
{
    return pid == ((struct stage *)stage)->others;
}

static void set_up(struct stage *stage, const char *words, int ready_came)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    actors_start(&stage->actors, words);
    actors_await(&stage->actors, ready_came);
    struct process_tree_options options = {.procfs_root = "/proc",
        .main = stage->actors.pid,
        .is_subreaper = true,
        .is_own_child = is_the_tests_child,
        .caller = stage,
        .kept_files = 64};
    stage->others = 0;
    assert_int_equal(process_tree_init(&stage->tree, &options, NULL), GPUT_OK);
}

static void tear_down(struct stage *stage)
{
    process_tree_finish(&stage->tree);
    actors_end(&stage->actors);
    collect_orphans();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void scan(struct stage *stage)
{
    assert_int_equal(process_tree_scan(&stage->tree, false, 1), GPUT_OK);
}

TEST(finds_a_family_of_three_generations)
{
    struct stage stage;
    set_up(&stage,
        "child [ child [ ready await 3 ] ready await 3 ] child [ ready await 3 ] ready await 3", 4);
    assert_int_equal(stage.tree.count, 4);
    scan(&stage);
    assert_int_equal(stage.tree.count, 4);
    assert_int_equal(stage.tree.seen, 4);
    tear_down(&stage);
}

TEST(finds_children_that_are_started_later)
{
    struct stage stage;
    set_up(
        &stage, "ready await 3 child [ ready await 4 ] child [ ready await 4 ] ready await 4", 1);
    assert_int_equal(stage.tree.count, 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 3);
    scan(&stage);
    assert_int_equal(stage.tree.count, 3);
    tear_down(&stage);
}

TEST(finds_what_another_thread_forked)
{
    struct stage stage;
    set_up(&stage, "ready await 3 thread-child [ ready await 4 ] ready await 4", 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    tear_down(&stage);
}

TEST(a_daemon_stays_in_the_tree)
{
    struct stage stage;
    /* Its parent was never seen. */
    set_up(&stage, "ready await 3 daemon [ ready await 4 ] ready await 4", 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 2);
    scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    const struct process *daemon = stage.tree.processes[1];
    assert_int_equal(daemon->polled->stat.ppid, getpid());
    assert_false(daemon->is_main);
    tear_down(&stage);
}

TEST(other_children_of_ours_are_not_in_the_tree)
{
    struct stage stage;
    struct actors other;
    actors_start(&other, "child [ ready await 3 ] ready await 3");
    actors_await(&other, 2);
    set_up(&stage, "daemon [ ready await 3 ] ready await 3", 2);
    /* Known from the start, as in a session. */
    process_tree_finish(&stage.tree);
    stage.others = other.pid;
    struct process_tree_options options = {.procfs_root = "/proc",
        .main = stage.actors.pid,
        .is_subreaper = true,
        .is_own_child = is_the_tests_child,
        .caller = &stage};
    assert_int_equal(process_tree_init(&stage.tree, &options, NULL), GPUT_OK);
    stage.tree.last_pid = 0;
    scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    assert_null(process_tree_get(&stage.tree, other.pid));
    actors_let_go(&other);
    waitpid(other.pid, NULL, 0);
    other.pid = 0;
    close(other.ready_fd);
    tear_down(&stage);
}

TEST(collected_processes_are_removed_and_zombies_stay)
{
    struct stage stage;
    set_up(&stage, "child [ ready await 3 ] ready await 4 wait ready await 5", 2);
    assert_int_equal(stage.tree.count, 2);
    actors_release(&stage.actors, 3, 1);
    EVENTUALLY(process_is_zombie(stage.tree.processes[1])) scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    actors_release(&stage.actors, 4, 1);
    actors_await(&stage.actors, 1);
    scan(&stage);
    assert_int_equal(stage.tree.count, 1);
    tear_down(&stage);
}

TEST(the_tracker_never_counts_itself)
{
    pid_t main = getpid();
    int ready_came[2];
    assert_int_equal(pipe(ready_came), 0);
    pid_t tracker = fork();
    if (tracker == 0) {
        struct process_tree tree;
        struct process_tree_options options = {.procfs_root = "/proc", .main = main};
        char verdict = 'n';
        if (process_tree_init(&tree, &options, NULL) == GPUT_OK) {
            if (tree.count >= 1 && !process_tree_get(&tree, getpid()))
                verdict = 'y';
            process_tree_finish(&tree);
        }
        if (write(ready_came[1], &verdict, 1) != 1)
            _exit(1);
        _exit(0);
    }
    char verdict = '?';
    assert_int_equal(read(ready_came[0], &verdict, 1), 1);
    waitpid(tracker, NULL, 0);
    close(ready_came[0]);
    close(ready_came[1]);
    assert_int_equal(verdict, 'y');
}

TEST(a_program_that_tracks_itself_finds_its_children)
{
    struct process_tree tree;
    struct process_tree_options options = {.procfs_root = "/proc", .main = getpid()};
    assert_int_equal(process_tree_init(&tree, &options, NULL), GPUT_OK);
    for (int time = 0; time < 2; time++) {
        process_tree_scan(&tree, false, 1);
        assert_int_equal(tree.count, 1);
        pid_t child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        process_tree_scan(&tree, false, 2);
        bool found = process_tree_get(&tree, child) != NULL;
        kill(child, SIGKILL);
        /* A scan does not collect it. */
        process_tree_scan(&tree, false, 3);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_true(found);
        process_tree_scan(&tree, false, 4);
    }
    process_tree_finish(&tree);
}

TEST(a_swarm_leaves_nothing_behind)
{
    struct stage stage;
    set_up(&stage, "ready await 3 swarm 300 0 ready await 3", 1);
    actors_release(&stage.actors, 3, 1);
    struct pollfd ready_came = {.fd = stage.actors.ready_fd, .events = POLLIN};
    while (poll(&ready_came, 1, 0) == 0)
        scan(&stage);
    actors_await(&stage.actors, 1);
    scan(&stage);
    assert_int_equal(stage.tree.count, 1);
    assert_true(stage.tree.view.free_files <= 64 && stage.tree.view.free_files >= 61);
    tear_down(&stage);
}

TEST(without_descriptors_what_was_not_read_is_counted_and_read_by_the_next_scan)
{
    struct stage stage;
    set_up(&stage, "ready await 3 child [ ready await 4 ] ready await 3", 1);
    assert_false(stage.tree.lacks_descriptors);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 2);

    rlim_t before = descriptors_limit(3); /* descriptors below it stay open */
    scan(&stage);
    descriptors_limit(before);
    assert_int_equal(stage.tree.count, 1);
    assert_true(stage.tree.lacks_descriptors);
    assert_int_equal(stage.tree.scans_without_files, 1);
    assert_int_equal(stage.tree.processes[0]->polled->files.stat_fd, -1); /* it was closed */
    assert_int_equal(stage.tree.view.free_files, 0);

    scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    assert_false(stage.tree.lacks_descriptors);
    assert_int_equal(stage.tree.scans_without_files, 1);
    tear_down(&stage);
}

TEST(a_tree_that_does_not_grow_is_not_searched)
{
    struct stage stage;
    set_up(&stage, "ready await 3", 1);
    if (stage.tree.loadavg_fd < 0) {
        tear_down(&stage);
        SKIP("loadavg is not the kernel's own here");
    }
    /* Other processes of the machine may start one at any moment, but not all the time. */
    bool searched = true;
    EVENTUALLY(!searched)
    {
        stage.tree.processes[0]->polled->children_unread = true;
        scan(&stage);
        searched = !stage.tree.processes[0]->polled->children_unread;
    }
    tear_down(&stage);
}

RUN_TESTS(NULL, NULL)
