/* The tree of processes, on a procfs made of files. */
#include "machine/process/fake_procfs.h"
#include "machine/process/process_tree.h"

#include <signal.h>
#include <sys/wait.h>

static struct fake_procfs fake;
static struct process_tree tree;

static int set_up(void **state)
{
    (void)state;
    tree = (struct process_tree){.loadavg_fd = -1, .own_children_fd = -1};
    fake_procfs_init(&fake);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
    return 0;
}

/* No descriptor is cached, so that files can be replaced. */
static void init_fake_tree(pid_t main, bool is_old)
{
    struct process_tree_options options = {
        .procfs_root = fake.root, .main = main, .main_is_old = is_old};
    assert_int_equal(process_tree_init(&tree, &options, NULL), GPUT_OK);
}

#define IN_PROCFS(name) TEST_WITH(name, set_up, tear_down)

IN_PROCFS(without_main_there_is_no_tree)
{
    struct gput_error error;
    struct process_tree_options options = {.procfs_root = fake.root, .main = 10};
    assert_int_equal(process_tree_init(&tree, &options, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "There is no process 10 to track.");
}

IN_PROCFS(finds_children_of_every_thread)
{
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

    init_fake_tree(10, false);
    assert_int_equal(tree.count, 4);
    assert_int_equal(tree.seen, 4);
    assert_true(tree.processes[0]->is_main);
    assert_non_null(process_tree_get(&tree, 13));
    assert_null(process_tree_get(&tree, 20));
}

IN_PROCFS(without_children_files_every_process_is_asked_for_its_parent)
{
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_put(&fake, (struct fake_process){.pid = 12, .parent = 11});
    fake_put(&fake, (struct fake_process){.pid = 20, .parent = 1});
    init_fake_tree(10, false);
    assert_false(tree.has_children_files);
    assert_int_equal(tree.count, 3);

    fake_put(&fake, (struct fake_process){.pid = 13, .parent = 12});
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 4);
}

IN_PROCFS(without_main_given_it_is_all_processes)
{
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10, .utime = 7});
    fake_put(&fake, (struct fake_process){.pid = 20, .parent = 0});
    init_fake_tree(0, true);
    assert_int_equal(tree.count, 3);
    assert_null(process_tree_main(&tree));

    fake_put(&fake, (struct fake_process){.pid = 21, .parent = 4711});
    fake_end(&fake, 20);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 3);
    assert_non_null(process_tree_get(&tree, 21));
    assert_null(process_tree_get(&tree, 20));
    assert_int_equal(process_cpu_ns(process_tree_get(&tree, 11)), 0); /* used before */
}

IN_PROCFS(new_and_removed_processes_change_the_generation)
{
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "");
    init_fake_tree(10, false);
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
}

IN_PROCFS(where_none_were_started_none_are_searched_for)
{
    pid_t main = getpid(); /* its CPU clock is read, which is the real one */
    fake_put(&fake, (struct fake_process){.pid = main, .parent = 1});
    fake_children(&fake, main, main, "");
    init_fake_tree(main, false);
    tree.view.has_cpu_clocks = true; /* without them every scan searches for children */
    tree.processes[0]->polled->children_unread = true;
    assert_int_equal(process_tree_scan(&tree, true, 1), GPUT_OK);
    assert_int_equal(tree.count, 1);
    assert_true(tree.processes[0]->polled->children_unread);
    assert_int_equal(process_tree_scan(&tree, false, 2), GPUT_OK);
    assert_false(tree.processes[0]->polled->children_unread);
    tree.view.has_cpu_clocks = false;
}

IN_PROCFS(a_child_whose_parent_ended_stays)
{
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "11 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_children(&fake, 11, 11, "12 ");
    fake_put(&fake, (struct fake_process){.pid = 12, .parent = 11});
    fake_children(&fake, 12, 12, "");
    init_fake_tree(10, false);

    fake_end(&fake, 11);
    fake_children(&fake, 10, 10, "");
    fake_put(&fake, (struct fake_process){.pid = 12, .parent = 1});
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_int_equal(tree.count, 2);
    assert_non_null(process_tree_get(&tree, 12));
}

IN_PROCFS(a_reused_pid_is_removed_and_added_again)
{
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "11 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10, .start_time = 5, .utime = 100});
    fake_children(&fake, 11, 11, "");
    init_fake_tree(10, false);

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
}

IN_PROCFS(in_a_procfs_of_another_namespace_our_pid_is_another_process)
{
    char children[16];
    pid_t own = getpid();
    snprintf(children, sizeof children, "%d ", (int)own);
    fake_put(&fake, (struct fake_process){.pid = own + 1, .parent = 1});
    fake_children(&fake, own + 1, own + 1, children);
    fake_put(&fake, (struct fake_process){.pid = own, .parent = own + 1});
    fake_children(&fake, own, own, "");
    init_fake_tree(own + 1, false);
    assert_non_null(process_tree_get(&tree, own));
}

IN_PROCFS(in_a_procfs_of_another_namespace_no_orphan_is_ours)
{
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
}

IN_PROCFS(others_are_tracked_whatever_their_parents_are)
{
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
    assert_true(process_tree_get(&tree, 20)->polled->is_other);
    assert_false(process_tree_get(&tree, 21)->polled->is_other);
    assert_false(process_tree_get(&tree, 11)->polled->is_other);

    /* What it starts later is found, and stays after the end of main. */
    fake_children(&fake, 20, 20, "21 22 ");
    fake_put(&fake, (struct fake_process){.pid = 22, .parent = 20});
    fake_end(&fake, 10);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_non_null(process_tree_get(&tree, 22));
    assert_null(process_tree_main(&tree));
}

IN_PROCFS(the_end_of_main_leaves_the_others)
{
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    fake_children(&fake, 10, 10, "11 ");
    fake_put(&fake, (struct fake_process){.pid = 11, .parent = 10});
    fake_children(&fake, 11, 11, "");
    init_fake_tree(10, false);
    assert_non_null(process_tree_main(&tree));
    fake_end(&fake, 10);
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_null(process_tree_main(&tree));
    assert_int_equal(tree.count, 1);
}

IN_PROCFS(thousands_of_processes_are_found_again_by_their_pid)
{
    enum { COUNT = 600 };
    char *children = malloc(COUNT * 8);
    size_t length = 0;
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1});
    for (int i = 0; i < COUNT; i++) {
        /* Pids that are far apart and collide in small tables. */
        int pid = 1000 + i * 64;
        length += (size_t)sprintf(children + length, "%d ", pid);
        fake_put(&fake, (struct fake_process){.pid = pid, .parent = 10});
    }
    fake_children(&fake, 10, 10, children);
    init_fake_tree(10, false);
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
    free(children);
}

/* lxcfs mounts an emulated loadavg over the kernel's. */
IN_PROCFS(an_emulated_loadavg_is_not_used)
{
    char name[128], target[64];
    pid_t own = getpid();
    fake_put(&fake, (struct fake_process){.pid = own, .parent = 1});
    fake_children(&fake, own, own, "");
    /* Our own pids, and a loadavg on another file system. */
    snprintf(target, sizeof target, "%d", (int)own);
    snprintf(name, sizeof name, "%s/self", fake.root);
    assert_int_equal(symlink(target, name), 0);
    snprintf(name, sizeof name, "%s/loadavg", fake.root);
    assert_int_equal(symlink("/proc/loadavg", name), 0);
    init_fake_tree(own, false);
    assert_true(tree.view.has_cpu_clocks);
    assert_int_equal(tree.loadavg_fd, -1);
}

IN_PROCFS(a_last_pid_of_0_is_ignored)
{
    char name[128], target[64];
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
    init_fake_tree(child, false);
    assert_true(tree.loadavg_fd >= 0);
    tree.processes[0]->polled->children_unread = true;
    assert_int_equal(process_tree_scan(&tree, false, 1), GPUT_OK);
    assert_false(tree.processes[0]->polled->children_unread);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Of many, each moment sees main and a part of the others, which stand for all. */
IN_PROCFS(of_many_processes_a_moment_sees_a_part)
{
    enum { N_CHILDREN = 120, N_MOMENTS = 30 };
    struct fake_process child = {.parent = 10, .utime = 1};
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1, .utime = 1});
    fake_write(&fake, "1 1 1\n", "10/task/10/schedstat");
    fake_write(&fake, "do_wait", "10/task/10/wchan");
    for (child.pid = 11; child.pid < 11 + N_CHILDREN; child.pid++) {
        fake_put(&fake, child);
        fake_write(&fake, "1 1 1\n", "%d/task/%d/schedstat", child.pid, child.pid);
        fake_write(&fake, "hrtimer_nanosleep", "%d/task/%d/wchan", child.pid, child.pid);
    }
    init_fake_tree(10, false);
    process_tree_read_threads(&tree, false, 1);
    for (int i = 0; i < N_MOMENTS; i++)
        process_tree_sample_states(&tree, 7);

    uint64_t n_samples = 0;
    for (size_t i = 0; i < tree.count; i++) {
        const struct process *process = tree.processes[i];
        const struct wall_samples *samples = &process->threads->threads[0].samples;
        n_samples += samples->count;
        assert_int_equal(samples->ns[process->is_main ? WALL_CHILD : WALL_TIMER], N_MOMENTS * 7);
        assert_int_equal(samples->count, process->is_main ? N_MOMENTS : N_MOMENTS / 3);
    }
    assert_int_equal(n_samples, N_MOMENTS + N_CHILDREN * N_MOMENTS / 3);
}

RUN_TESTS(NULL, NULL)
