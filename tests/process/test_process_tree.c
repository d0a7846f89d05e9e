#include "process/fake_procfs.h"
#include "process/live.h"
#include "process/process_tree.h"

#include <signal.h>
#include <sys/resource.h>

/* A tree of a procfs of files: nothing is kept open, so that files can be replaced. */
static void init_fake_tree(
    struct process_tree *tree, const struct fake_procfs *fake, pid_t main, bool is_old)
{
    struct process_tree_options options = {
        .procfs_root = fake->root, .main = main, .main_is_old = is_old};
    assert_int_equal(process_tree_init(tree, &options, NULL), GPUT_OK);
}

static void no_main_is_no_tree(void **state)
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

static void without_children_files_it_asks_everybody_for_their_parent(void **state)
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

static void newcomers_and_the_gone_change_the_generation(void **state)
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
    assert_int_equal(tree.gone_cpu_ns, 5 * tree.view.ns_per_tick);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void where_none_were_started_none_are_looked_for(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "");
    init_fake_tree(&tree, &fake, 10, false);
    tree.view.has_cpu_clocks = true; /* without them they are looked for each time */
    tree.processes[0]->children_unread = true;
    assert_int_equal(process_tree_scan(&tree, true, 1), GPUT_OK);
    assert_true(tree.processes[0]->children_unread);
    assert_int_equal(process_tree_scan(&tree, false, 2), GPUT_OK);
    assert_false(tree.processes[0]->children_unread);
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

static void a_pid_given_out_anew_is_dropped_and_found_again(void **state)
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
    assert_int_equal(tree.gone_cpu_ns, 100 * tree.view.ns_per_tick);
    assert_int_equal(process_cpu_ns(process_tree_get(&tree, 11)), 3 * tree.view.ns_per_tick);

    /* To a stranger: none of ours. */
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 1, .start_time = 12});
    fake_children(&fake, 10, 10, "");
    assert_int_equal(process_tree_scan(&tree, false, 2), GPUT_OK);
    assert_int_equal(tree.count, 1);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void in_a_procfs_of_others_our_number_is_somebody_elses(void **state)
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

static void in_a_procfs_of_others_nobody_is_our_orphan(void **state)
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
    struct process_tree_options options = {.procfs_root = fake.root, .main = 10, .adopts = true};
    assert_int_equal(process_tree_init(&tree, &options, NULL), GPUT_OK);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 1);
    assert_true(tree.has_children_files);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

static void others_are_tracked_along_wherever_they_come_from(void **state)
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

    /* A stranger, one that is no more, one that is main's anyway, one that another started. */
    const pid_t others[] = {20, 99, 11, 21};
    struct process_tree_options options = {
        .procfs_root = fake.root, .main = 10, .others = others, .n_others = 4};
    assert_int_equal(process_tree_init(&tree, &options, NULL), GPUT_OK);
    assert_int_equal(tree.count, 4);
    assert_true(process_tree_main(&tree)->pid == 10);
    assert_true(process_tree_get(&tree, 20)->is_other);
    assert_false(process_tree_get(&tree, 21)->is_other);
    assert_false(process_tree_get(&tree, 11)->is_other);

    /* What it starts later is found, and main's end leaves all of that. */
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
    assert_true(tree.main_is_gone);
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
        /* Numbers that are far apart and collide in small tables. */
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
    pid_t others; /* a child of ours that is none of the tree's */
};

static bool is_others(void *stage, pid_t pid)
{
    return pid == ((struct stage *)stage)->others;
}

static void open_stage(struct stage *stage, const char *words, int told)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    actors_start(&stage->actors, words);
    actors_await(&stage->actors, told);
    struct process_tree_options options = {.procfs_root = "/proc",
        .main = stage->actors.pid,
        .adopts = true,
        .is_callers = is_others,
        .caller = stage,
        .kept_files = 64};
    stage->others = 0;
    assert_int_equal(process_tree_init(&stage->tree, &options, NULL), GPUT_OK);
}

static void close_stage(struct stage *stage)
{
    process_tree_finish(&stage->tree);
    actors_end(&stage->actors);
    collect_orphans();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void check(struct stage *stage)
{
    assert_int_equal(process_tree_scan(&stage->tree, false, 1), GPUT_OK);
}

static void finds_a_family_of_three_generations(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(
        &stage, "child [ child [ tell hear 3 ] tell hear 3 ] child [ tell hear 3 ] tell hear 3", 4);
    assert_int_equal(stage.tree.count, 4);
    check(&stage);
    assert_int_equal(stage.tree.count, 4);
    assert_int_equal(stage.tree.seen, 4);
    close_stage(&stage);
}

static void finds_children_that_come_later(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, "tell hear 3 child [ tell hear 4 ] child [ tell hear 4 ] tell hear 4", 1);
    assert_int_equal(stage.tree.count, 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 3);
    check(&stage);
    assert_int_equal(stage.tree.count, 3);
    close_stage(&stage);
}

static void finds_what_another_thread_forked(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, "tell hear 3 thread-child [ tell hear 4 ] tell hear 4", 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    check(&stage);
    assert_int_equal(stage.tree.count, 2);
    close_stage(&stage);
}

static void a_daemon_stays_in_sight(void **state)
{
    (void)state;
    struct stage stage;
    /* Its parent was never seen. */
    open_stage(&stage, "tell hear 3 daemon [ tell hear 4 ] tell hear 4", 1);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 2);
    check(&stage);
    assert_int_equal(stage.tree.count, 2);
    const struct process *daemon = stage.tree.processes[1];
    assert_int_equal(daemon->parent, getpid());
    assert_false(daemon->is_main);
    close_stage(&stage);
}

static void our_own_other_children_are_not_the_trees(void **state)
{
    (void)state;
    struct stage stage;
    struct actors other;
    actors_start(&other, "child [ tell hear 3 ] tell hear 3");
    actors_await(&other, 2);
    open_stage(&stage, "daemon [ tell hear 3 ] tell hear 3", 2);
    /* Known from the start, as a session does it. */
    process_tree_finish(&stage.tree);
    stage.others = other.pid;
    struct process_tree_options options = {.procfs_root = "/proc",
        .main = stage.actors.pid,
        .adopts = true,
        .is_callers = is_others,
        .caller = &stage};
    assert_int_equal(process_tree_init(&stage.tree, &options, NULL), GPUT_OK);
    stage.tree.last_pid = 0;
    check(&stage);
    assert_int_equal(stage.tree.count, 2);
    assert_null(process_tree_get(&stage.tree, other.pid));
    actors_let_go(&other);
    waitpid(other.pid, NULL, 0);
    other.pid = 0;
    close(other.told_fd);
    close_stage(&stage);
}

static void the_collected_leave_and_zombies_stay(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, "child [ tell hear 3 ] tell hear 4 wait tell hear 5", 2);
    assert_int_equal(stage.tree.count, 2);
    actors_release(&stage.actors, 3, 1);
    EVENTUALLY(process_is_zombie(stage.tree.processes[1])) check(&stage);
    assert_int_equal(stage.tree.count, 2);
    actors_release(&stage.actors, 4, 1);
    actors_await(&stage.actors, 1);
    check(&stage);
    assert_int_equal(stage.tree.count, 1);
    close_stage(&stage);
}

static void the_tracker_never_counts_itself(void **state)
{
    (void)state;
    pid_t main = getpid();
    int told[2];
    assert_int_equal(pipe(told), 0);
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
        if (write(told[1], &verdict, 1) != 1)
            _exit(1);
        _exit(0);
    }
    char verdict = '?';
    assert_int_equal(read(told[0], &verdict, 1), 1);
    waitpid(tracker, NULL, 0);
    close(told[0]);
    close(told[1]);
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
        /* A scan leaves its end to who waits for it. */
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
    open_stage(&stage, "tell hear 3 swarm 300 0 tell hear 3", 1);
    actors_release(&stage.actors, 3, 1);
    struct pollfd told = {.fd = stage.actors.told_fd, .events = POLLIN};
    while (poll(&told, 1, 0) == 0)
        check(&stage);
    actors_await(&stage.actors, 1);
    check(&stage);
    assert_int_equal(stage.tree.count, 1);
    assert_true(stage.tree.view.free_files <= 64 && stage.tree.view.free_files >= 61);
    close_stage(&stage);
}

static void set_most_files(rlim_t count)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void what_no_descriptor_was_left_for_is_said_and_read_by_the_next_poll(void **state)
{
    (void)state;
    struct stage stage;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    open_stage(&stage, "tell hear 3 child [ tell hear 4 ] tell hear 3", 1);
    assert_false(stage.tree.lacks_files);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 2);

    set_most_files(3); /* what is open below stays so */
    check(&stage);
    set_most_files(before.rlim_cur);
    assert_int_equal(stage.tree.count, 1);
    assert_true(stage.tree.lacks_files);
    assert_int_equal(stage.tree.polls_without_files, 1);
    assert_int_equal(stage.tree.processes[0]->stat_fd, -1); /* it has given way */
    assert_int_equal(stage.tree.view.free_files, 0);

    check(&stage);
    assert_int_equal(stage.tree.count, 2);
    assert_false(stage.tree.lacks_files);
    assert_int_equal(stage.tree.polls_without_files, 1);
    close_stage(&stage);
}

static void a_tree_that_does_not_grow_is_not_searched(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, "tell hear 3", 1);
    if (stage.tree.loadavg_fd < 0) {
        close_stage(&stage);
        SKIP("loadavg is not the kernel's own here");
    }
    /* Another process of the machine may start one at any moment, but not all the time. */
    bool searched = true;
    EVENTUALLY(!searched)
    {
        stage.tree.processes[0]->children_unread = true;
        check(&stage);
        searched = !stage.tree.processes[0]->children_unread;
    }
    close_stage(&stage);
}

/* lxcfs mounts a loadavg of its own making over the kernel's. */
static void a_loadavg_that_is_not_the_kernels_is_not_asked(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    char name[128], target[64];
    fake_procfs_init(&fake);
    pid_t own = getpid();
    fake_put(&fake, (struct fake_process){.pid = own, .parent = 1});
    fake_children(&fake, own, own, "");
    /* Our own pids, and a loadavg of another file system. */
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

static void a_last_pid_of_0_says_nothing(void **state)
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
    tree.processes[0]->children_unread = true;
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_false(tree.processes[0]->children_unread);
    process_tree_finish(&tree);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    fake_procfs_finish(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_main_is_no_tree),
        cmocka_unit_test(finds_children_of_every_thread),
        cmocka_unit_test(without_children_files_it_asks_everybody_for_their_parent),
        cmocka_unit_test(newcomers_and_the_gone_change_the_generation),
        cmocka_unit_test(where_none_were_started_none_are_looked_for),
        cmocka_unit_test(a_child_whose_parent_ended_stays),
        cmocka_unit_test(a_pid_given_out_anew_is_dropped_and_found_again),
        cmocka_unit_test(in_a_procfs_of_others_our_number_is_somebody_elses),
        cmocka_unit_test(in_a_procfs_of_others_nobody_is_our_orphan),
        cmocka_unit_test(others_are_tracked_along_wherever_they_come_from),
        cmocka_unit_test(the_end_of_main_leaves_the_others),
        cmocka_unit_test(thousands_of_processes_are_found_again_by_their_pid),
        cmocka_unit_test(finds_a_family_of_three_generations),
        cmocka_unit_test(finds_children_that_come_later),
        cmocka_unit_test(finds_what_another_thread_forked),
        cmocka_unit_test(a_daemon_stays_in_sight),
        cmocka_unit_test(our_own_other_children_are_not_the_trees),
        cmocka_unit_test(the_collected_leave_and_zombies_stay),
        cmocka_unit_test(the_tracker_never_counts_itself),
        cmocka_unit_test(a_program_that_tracks_itself_finds_its_children),
        cmocka_unit_test(a_swarm_leaves_nothing_behind),
        cmocka_unit_test(what_no_descriptor_was_left_for_is_said_and_read_by_the_next_poll),
        cmocka_unit_test(a_tree_that_does_not_grow_is_not_searched),
        cmocka_unit_test(a_loadavg_that_is_not_the_kernels_is_not_asked),
        cmocka_unit_test(a_last_pid_of_0_says_nothing),
    };
    return cmocka_run_group_tests_name("track/process_tree", tests, NULL, NULL);
}
