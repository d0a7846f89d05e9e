#include "process/fake_procfs.h"
#include "process/live.h"
#include "process/process_tree.h"

#include <signal.h>
#include <sys/resource.h>

/* A tree of a procfs made of files: no descriptor is cached, so that files can be replaced. */
static void init_fake_tree(
    struct process_tree *tree, const struct fake_procfs *fake, pid_t main, bool is_old)
{
    struct process_tree_options options = {
        .procfs_root = fake->root, .main = main, .main_is_old = is_old};
    assert_int_equal(process_tree_init(tree, &options, NULL), GPUT_OK);
}

static void without_main_there_is_no_tree(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    struct gput_error error;
    fake_procfs_init(&fake);
    struct process_tree_options options = {.procfs_root = fake.root, .main = 10};
    assert_int_equal(process_tree_init(&tree, &options, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "There is no process 10 to track.");
    fake_procfs_finish(&fake);
}

static void finds_children_of_every_thread(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1, .threads = 2});
    fake_children(&fake, 10, 10, "11 ");
    fake_children(&fake, 10, 15, "12 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_children(&fake, 11, 11, "");
    fake_put(&fake, (struct fake_process){.pid = 12, .parent = 10});
    fake_children(&fake, 12, 12, "13 ");
    fake_put(&fake, (struct fake_process){.pid = 13, .parent = 12});
    fake_children(&fake, 13, 13, "");
    fake_put(&fake, (struct fake_process){.pid = 20, .parent = 1});

    init_fake_tree(&tree, &fake, 10, false);
    assert_int_equal(tree.count, 4);
    assert_int_equal(tree.seen, 4);
    assert_true(tree.processes[0]->is_main);
    assert_non_null(process_tree_get(&tree, 13));
    assert_null(process_tree_get(&tree, 20));
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void without_children_files_every_process_is_asked_for_its_parent(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_put(&fake, (struct fake_process){.pid = 12, .parent = 11});
    fake_put(&fake, (struct fake_process){.pid = 20, .parent = 1});
    init_fake_tree(&tree, &fake, 10, false);
    assert_false(tree.has_children_files);
    assert_int_equal(tree.count, 3);

    fake_put(&fake, (struct fake_process){.pid = 13, .parent = 12});
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 4);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void new_and_removed_processes_change_the_generation(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "");
    init_fake_tree(&tree, &fake, 10, false);
    uint64_t generation = tree.generation;
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.generation, generation);

    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10, .utime = 5});
    fake_children(&fake, 10, 10, "11 ");
    assert_int_equal(process_tree_scan(&tree, false, 2), GPUT_OK);
    assert_int_equal(tree.count, 2);
    assert_true(tree.generation > generation);
    generation = tree.generation;

    fake_end(&fake, 11);
    fake_children(&fake, 10, 10, "");
    assert_int_equal(process_tree_scan(&tree, false, 3), GPUT_OK);
    assert_int_equal(tree.count, 1);
    assert_int_equal(tree.seen, 2);
    assert_true(tree.generation > generation);
    assert_int_equal(tree.removed.descendants_ns, 5 * tree.view.ns_per_tick);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void where_none_were_started_none_are_searched_for(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "");
    init_fake_tree(&tree, &fake, 10, false);
    tree.view.has_cpu_clocks = true; /* without them every scan searches for children */
    tree.processes[0]->polled->children_unread = true;
    assert_int_equal(process_tree_scan(&tree, true, 1), GPUT_OK);
    assert_true(tree.processes[0]->polled->children_unread);
    assert_int_equal(process_tree_scan(&tree, false, 2), GPUT_OK);
    assert_false(tree.processes[0]->polled->children_unread);
    tree.view.has_cpu_clocks = false;
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void a_child_whose_parent_ended_stays(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "11 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_children(&fake, 11, 11, "12 ");
    fake_put(&fake, (struct fake_process){.pid = 12, .parent = 11});
    fake_children(&fake, 12, 12, "");
    init_fake_tree(&tree, &fake, 10, false);

    fake_end(&fake, 11);
    fake_children(&fake, 10, 10, "");
    fake_put(&fake, (struct fake_process){.pid = 12, .parent = 1});
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 2);
    assert_non_null(process_tree_get(&tree, 12));
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void a_reused_pid_is_removed_and_added_again(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "11 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10, .start_time = 5, .utime = 100});
    fake_children(&fake, 11, 11, "");
    init_fake_tree(&tree, &fake, 10, false);

    /* To a child of main: another process of the tree. */
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10, .start_time = 9, .utime = 3});
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 2);
    assert_int_equal(tree.seen, 3);
    assert_int_equal(tree.removed.descendants_ns, 100 * tree.view.ns_per_tick);
    assert_int_equal(process_cpu_ns(process_tree_get(&tree, 11)), 3 * tree.view.ns_per_tick);

    /* To an untracked process: not in the tree any more. */
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 1, .start_time = 12});
    fake_children(&fake, 10, 10, "");
    assert_int_equal(process_tree_scan(&tree, false, 2), GPUT_OK);
    assert_int_equal(tree.count, 1);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void in_a_procfs_of_another_namespace_our_pid_is_another_process(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    char children[16];
    pid_t own = getpid();
    fake_procfs_init(&fake);
    snprintf(children, sizeof children, "%d ", (int)own);
    fake_put(&fake, (struct fake_process){.pid = own + 1, .parent = 1});
    fake_children(&fake, own + 1, own + 1, children);
    fake_put(&fake, (struct fake_process){.pid = own, .parent = own + 1});
    fake_children(&fake, own, own, "");
    init_fake_tree(&tree, &fake, own + 1, false);
    assert_non_null(process_tree_get(&tree, own));
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void in_a_procfs_of_another_namespace_no_orphan_is_ours(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 1, .parent = 0});
    fake_children(&fake, 1, 1, "10 ");
    fake_put(&fake, (struct fake_process){.pid = 2, .parent = 0});
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "");
    struct process_tree_options options = {
        .procfs_root = fake.root, .main = 10, .is_subreaper = true};
    assert_int_equal(process_tree_init(&tree, &options, NULL), GPUT_OK);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 1);
    assert_true(tree.has_children_files);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void others_are_tracked_whatever_their_parents_are(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "11 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_children(&fake, 11, 11, "");
    fake_put(&fake, (struct fake_process){.pid = 20, .parent = 1});
    fake_children(&fake, 20, 20, "21 ");
    fake_put(&fake, (struct fake_process){.pid = 21, .parent = 20});
    fake_children(&fake, 21, 21, "");

    /* An unrelated process, one that does not exist, one that main started, one that another of
     * them started. */
    const pid_t others[] = {20, 99, 11, 21};
    struct process_tree_options options = {
        .procfs_root = fake.root, .main = 10, .others = others, .n_others = 4};
    assert_int_equal(process_tree_init(&tree, &options, NULL), GPUT_OK);
    assert_int_equal(tree.count, 4);
    assert_true(process_tree_main(&tree)->pid == 10);
    assert_true(process_tree_get(&tree, 20)->is_other);
    assert_false(process_tree_get(&tree, 21)->is_other);
    assert_false(process_tree_get(&tree, 11)->is_other);

    /* What it starts later is found, and stays after the end of main. */
    fake_children(&fake, 20, 20, "21 22 ");
    fake_put(&fake, (struct fake_process){.pid = 22, .parent = 20});
    fake_end(&fake, 10);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_non_null(process_tree_get(&tree, 22));
    assert_null(process_tree_main(&tree));
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void the_end_of_main_leaves_the_others(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "11 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_children(&fake, 11, 11, "");
    init_fake_tree(&tree, &fake, 10, false);
    assert_non_null(process_tree_main(&tree));
    fake_end(&fake, 10);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_true(tree.main_is_removed);
    assert_null(process_tree_main(&tree));
    assert_int_equal(tree.count, 1);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void thousands_of_processes_are_found_again_by_their_pid(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    enum { COUNT = 600 };
    char *children = malloc(COUNT * 8);
    size_t length = 0;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    for (int i = 0; i < COUNT; i++) {
        /* Pids that are far apart and collide in small tables. */
        int pid = 1000 + i * 64;
        length += (size_t)sprintf(children + length, "%d ", pid);
        fake_put(&fake, (struct fake_process){.pid = pid, .parent = 10});
    }
    fake_children(&fake, 10, 10, children);
    init_fake_tree(&tree, &fake, 10, false);
    assert_int_equal(tree.count, COUNT + 1);
    for (int i = 0; i < COUNT; i++) {
        const struct process *process = process_tree_get(&tree, 1000 + i * 64);
        assert_non_null(process);
        assert_int_equal(process->pid, 1000 + i * 64);
    }
    for (int i = 0; i < COUNT; i += 2)
        fake_end(&fake, 1000 + i * 64);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, COUNT / 2 + 1);
    assert_null(process_tree_get(&tree, 1000));
    assert_non_null(process_tree_get(&tree, 1064));
    process_tree_finish(&tree);
    free(children);
    fake_procfs_finish(&fake);
}

/* ---- live ---- */

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

static void finds_a_family_of_three_generations(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage,
        "child [ child [ ready await 3 ] ready await 3 ] child [ ready await 3 ] ready await 3", 4);
    assert_int_equal(stage.tree.count, 4);
    scan(&stage);
    assert_int_equal(stage.tree.count, 4);
    assert_int_equal(stage.tree.seen, 4);
    tear_down(&stage);
}

static void finds_children_that_are_started_later(void **state)
{
    (void)state;
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

static void finds_what_another_thread_forked(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "ready await 3 thread-child [ ready await 4 ] ready await 4", 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    tear_down(&stage);
}

static void a_daemon_stays_in_the_tree(void **state)
{
    (void)state;
    struct stage stage;
    /* Its parent was never seen. */
    set_up(&stage, "ready await 3 daemon [ ready await 4 ] ready await 4", 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 2);
    scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    const struct process *daemon = stage.tree.processes[1];
    assert_int_equal(daemon->polled->parent, getpid());
    assert_false(daemon->is_main);
    tear_down(&stage);
}

static void other_children_of_ours_are_not_in_the_tree(void **state)
{
    (void)state;
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

static void collected_processes_are_removed_and_zombies_stay(void **state)
{
    (void)state;
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

static void the_tracker_never_counts_itself(void **state)
{
    (void)state;
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

static void a_program_that_tracks_itself_finds_its_children(void **state)
{
    (void)state;
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

static void a_swarm_leaves_nothing_behind(void **state)
{
    (void)state;
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

static void set_max_files(rlim_t count)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void without_descriptors_what_was_not_read_is_counted_and_read_by_the_next_scan(void **state)
{
    (void)state;
    struct stage stage;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    set_up(&stage, "ready await 3 child [ ready await 4 ] ready await 3", 1);
    assert_false(stage.tree.lacks_descriptors);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 2);

    set_max_files(3); /* descriptors below it stay open */
    scan(&stage);
    set_max_files(before.rlim_cur);
    assert_int_equal(stage.tree.count, 1);
    assert_true(stage.tree.lacks_descriptors);
    assert_int_equal(stage.tree.scans_without_files, 1);
    assert_int_equal(stage.tree.processes[0]->polled->stat_fd, -1); /* it was closed */
    assert_int_equal(stage.tree.view.free_files, 0);

    scan(&stage);
    assert_int_equal(stage.tree.count, 2);
    assert_false(stage.tree.lacks_descriptors);
    assert_int_equal(stage.tree.scans_without_files, 1);
    tear_down(&stage);
}

static void a_tree_that_does_not_grow_is_not_searched(void **state)
{
    (void)state;
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

/* lxcfs mounts an emulated loadavg over the kernel's. */
static void an_emulated_loadavg_is_not_used(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    char name[128], target[64];
    fake_procfs_init(&fake);
    pid_t own = getpid();
    fake_put(&fake, (struct fake_process){.pid = own, .parent = 1});
    fake_children(&fake, own, own, "");
    /* Our own pids, and a loadavg on another file system. */
    snprintf(target, sizeof target, "%d", (int)own);
    snprintf(name, sizeof name, "%s/self", fake.root);
    assert_int_equal(symlink(target, name), 0);
    snprintf(name, sizeof name, "%s/loadavg", fake.root);
    assert_int_equal(symlink("/proc/loadavg", name), 0);
    init_fake_tree(&tree, &fake, own, false);
    assert_true(tree.view.has_cpu_clocks);
    assert_int_equal(tree.loadavg_fd, -1);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void a_last_pid_of_0_is_ignored(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    char name[128], target[64];
    fake_procfs_init(&fake);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    fake_put(&fake, (struct fake_process){.pid = child, .parent = 1});
    fake_children(&fake, child, child, "");
    fake_write(&fake, "0.00 0.00 0.00 0/0 0\n", "loadavg");
    snprintf(target, sizeof target, "%d", (int)getpid());
    snprintf(name, sizeof name, "%s/self", fake.root);
    assert_int_equal(symlink(target, name), 0);
    init_fake_tree(&tree, &fake, child, false);
    assert_true(tree.loadavg_fd >= 0);
    tree.processes[0]->polled->children_unread = true;
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_false(tree.processes[0]->polled->children_unread);
    process_tree_finish(&tree);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    fake_procfs_finish(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_main_there_is_no_tree),
        cmocka_unit_test(finds_children_of_every_thread),
        cmocka_unit_test(without_children_files_every_process_is_asked_for_its_parent),
        cmocka_unit_test(new_and_removed_processes_change_the_generation),
        cmocka_unit_test(where_none_were_started_none_are_searched_for),
        cmocka_unit_test(a_child_whose_parent_ended_stays),
        cmocka_unit_test(a_reused_pid_is_removed_and_added_again),
        cmocka_unit_test(in_a_procfs_of_another_namespace_our_pid_is_another_process),
        cmocka_unit_test(in_a_procfs_of_another_namespace_no_orphan_is_ours),
        cmocka_unit_test(others_are_tracked_whatever_their_parents_are),
        cmocka_unit_test(the_end_of_main_leaves_the_others),
        cmocka_unit_test(thousands_of_processes_are_found_again_by_their_pid),
        cmocka_unit_test(finds_a_family_of_three_generations),
        cmocka_unit_test(finds_children_that_are_started_later),
        cmocka_unit_test(finds_what_another_thread_forked),
        cmocka_unit_test(a_daemon_stays_in_the_tree),
        cmocka_unit_test(other_children_of_ours_are_not_in_the_tree),
        cmocka_unit_test(collected_processes_are_removed_and_zombies_stay),
        cmocka_unit_test(the_tracker_never_counts_itself),
        cmocka_unit_test(a_program_that_tracks_itself_finds_its_children),
        cmocka_unit_test(a_swarm_leaves_nothing_behind),
        cmocka_unit_test(
            without_descriptors_what_was_not_read_is_counted_and_read_by_the_next_scan),
        cmocka_unit_test(a_tree_that_does_not_grow_is_not_searched),
        cmocka_unit_test(an_emulated_loadavg_is_not_used),
        cmocka_unit_test(a_last_pid_of_0_is_ignored),
    };
    return cmocka_run_group_tests_name("track/process_tree", tests, NULL, NULL);
}
