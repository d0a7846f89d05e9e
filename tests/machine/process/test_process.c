#include "machine/process/fake_procfs.h"
#include "machine/process/live.h"
#include "machine/process/process.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>

static int begin_polls(
    struct process *process, pid_t pid, const struct process *parent, struct process_view *view)
{
    *process = (struct process){.pid = pid};
    return process_begin_polls(process, parent, view);
}

TEST(in_another_procfs_cpu_time_is_read_in_ticks)
{
    struct fake_procfs fake;
    struct process process;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10,
                        .parent = 1,
                        .threads = 3,
                        .start_time = 77,
                        .utime = 150,
                        .stime = 50,
                        .cutime = 20,
                        .cstime = 5,
                        .resident_pages = 500,
                        .shared_pages = 200,
                        .start_stack = 0xabc});
    struct process_view view = process_view_of(fake.root);
    assert_false(view.has_cpu_clocks);
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    assert_int_equal(process.polled->stat.ppid, 1);
    assert_int_equal(process.polled->stat.thread_count, 3);
    assert_int_equal(process.polled->stat.start_time_ticks, 77);
    assert_int_equal(process.polled->exec_generation, 0xabc);
    assert_int_equal(process_cpu_ns(&process), 200 * view.ns_per_tick);
    assert_int_equal(process_children_ns(&process, &view), 25 * view.ns_per_tick);
    assert_int_equal(process.polled->memory.resident_bytes, 500 * view.page_bytes);
    assert_int_equal(process.polled->memory.file_bytes, 200 * view.page_bytes);
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

TEST(a_process_that_ended_after_its_reading_has_no_memory)
{
    struct fake_procfs fake;
    struct process process;
    struct fake_process files = {
        .pid = 10, .parent = 1, .resident_pages = 500, .shared_pages = 200};
    fake_procfs_init(&fake);
    fake_put(&fake, files);
    struct process_view view = process_view_of(fake.root);
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    process.polled->memory.has_exact = true;
    process.polled->memory.exact_resident_bytes = 500 * view.page_bytes;
    process.polled->memory.exact_file_bytes = 200 * view.page_bytes;
    process.polled->memory.exact = (struct rss){.total = 500 * view.page_bytes,
        .private = 100 * view.page_bytes,
        .shared = 400 * view.page_bytes};
    process.polled->memory.anonymous_bytes = 300 * view.page_bytes;
    process.polled->memory.anonymous_pss_bytes = 150 * view.page_bytes;
    files.resident_pages = files.shared_pages = 0;
    fake_put(&fake, files);
    process_refresh(&process, &view);
    assert_int_equal(memory_rss(&process.polled->memory).total, 0);
    assert_int_equal(memory_rss(&process.polled->memory).private, 0);
    assert_int_equal(memory_anonymous_share_bytes(&process.polled->memory), 0);
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

TEST(what_was_used_before_tracking_does_not_count)
{
    struct fake_procfs fake;
    struct process process;
    struct fake_process files = {.pid = 10, .parent = 1, .utime = 1000, .cutime = 400};
    fake_procfs_init(&fake);
    fake_put(&fake, files);
    struct process_view view = process_view_of(fake.root);
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    assert_int_equal(process_set_baseline(&process), GPUT_OK);
    assert_int_equal(process_cpu_ns(&process), 0);
    assert_int_equal(process_children_ns(&process, &view), 0);
    files.utime += 7;
    files.cutime += 3;
    fake_put(&fake, files);
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    assert_int_equal(process_cpu_ns(&process), 7 * view.ns_per_tick);
    assert_int_equal(process_children_ns(&process, &view), 3 * view.ns_per_tick);
    free(process.baseline);
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

TEST(each_poll_reads_the_pages_of_hugetlbfs)
{
    struct fake_procfs fake;
    struct process process;
    const struct fake_process files = {.pid = 10, .parent = 1, .resident_pages = 500};
    fake_procfs_init(&fake);
    fake_put(&fake, files);
    struct process_view view = process_view_of(fake.root);
    view.has_hugetlb = true;
    fake_write(&fake, "Pid:\t10\nPPid:\t1\nHugetlbPages:\t    2048 kB\n", "10/status");
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    assert_int_equal(process.polled->memory.hugetlb_bytes, 2048 << 10);
    fake_write(&fake, "Pid:\t10\nPPid:\t1\nHugetlbPages:\t    8192 kB\n", "10/status");
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    assert_int_equal(process.polled->memory.hugetlb_bytes, 8192 << 10);
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

TEST(a_reused_pid_is_another_process)
{
    struct fake_procfs fake;
    struct process process;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1, .start_time = 77});
    struct process_view view = process_view_of(fake.root);
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    fake_put(&fake, (struct fake_process){.pid = 10, .parent = 1, .start_time = 78});
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_ERROR_GONE);
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

TEST(a_missing_process_is_gone)
{
    struct fake_procfs fake;
    struct process process;
    fake_procfs_init(&fake);
    struct process_view view = process_view_of(fake.root);
    view.free_files = 4;
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_ERROR_GONE);
    assert_int_equal(view.free_files, 4);
    fake_procfs_finish(&fake);
}

TEST(an_execve_makes_its_memory_new)
{
    struct fake_procfs fake;
    struct process process;
    struct fake_process files = {.pid = 10, .parent = 1, .start_stack = 5, .resident_pages = 9};
    fake_procfs_init(&fake);
    fake_put(&fake, files);
    struct process_view view = process_view_of(fake.root);
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    process.polled->memory.has_exact = true;
    process.polled->memory.exact.total = 12345;
    files.start_stack = 6;
    fake_put(&fake, files);
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    assert_false(process.polled->memory.has_exact);
    assert_true(process.polled->metered.memory_is_stale);
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

TEST(a_zombie_has_no_memory_but_a_process_whose_leader_exited_has)
{
    struct polled polled = {.stat = {.state = 'Z', .thread_count = 1}};
    struct process process = {.polled = &polled};
    assert_true(process_is_zombie(&process));
    assert_false(process_has_memory(&process));
    polled.stat.thread_count = 2;
    assert_false(process_is_zombie(&process));
    assert_true(process_has_memory(&process));
    polled.vfork_parent = 1;
    assert_false(process_has_memory(&process));
}

/* A leader that has exited, in a procfs that has a folder for each thread. */
static void append_leader_exited(const struct fake_procfs *fake, unsigned threads)
{
    fake_put(fake, (struct fake_process){.pid = 10, .parent = 1, .state = 'Z', .threads = threads});
    fake_write(fake, "", "10/task/10/children");
    fake_write(fake, "", "10/task/11/children");
    fake_write(fake, "", "10/task/12/children");
}

TEST(memory_after_a_leaders_exit_is_read_from_another_thread)
{
    struct fake_procfs fake;
    struct process process;
    struct fake_process files = {
        .pid = 10, .parent = 1, .threads = 3, .start_stack = 5, .resident_pages = 500};
    fake_procfs_init(&fake);
    fake_put(&fake, files);
    struct process_view view = process_view_of(fake.root);
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    assert_int_equal(process_thread_count(&process), 3);

    append_leader_exited(&fake, 3);
    struct fake_process thread = {.pid = 11, .start_stack = 5, .resident_pages = 510};
    fake_put(&fake, thread);
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    assert_false(process_is_zombie(&process));
    assert_int_equal(process_thread_count(&process), 2);
    assert_int_equal(process.polled->memory.resident_bytes, 510 * view.page_bytes);
    assert_int_equal(process.polled->exec_generation, 5);
    assert_false(process.polled->metered.memory_is_stale);

    /* That thread exits, too. */
    fake_end(&fake, 11);
    thread.pid = 12;
    thread.resident_pages = 520;
    fake_put(&fake, thread);
    append_leader_exited(&fake, 2);
    assert_int_equal(process_poll(&process, NULL, &view, 2), GPUT_OK);
    assert_int_equal(process.polled->memory.resident_bytes, 520 * view.page_bytes);
    assert_int_equal(process_thread_count(&process), 1);

    /* No living thread can be read: it is about to end, and the last figures stay. */
    fake_end(&fake, 12);
    assert_int_equal(process_poll(&process, NULL, &view, 3), GPUT_OK);
    assert_int_equal(process.polled->memory.resident_bytes, 520 * view.page_bytes);
    append_leader_exited(&fake, 1);
    assert_int_equal(process_poll(&process, NULL, &view, 4), GPUT_OK);
    assert_true(process_is_zombie(&process));
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

TEST(a_leader_that_exited_before_tracking_is_replaced_by_another_thread)
{
    struct fake_procfs fake;
    struct process process;
    fake_procfs_init(&fake);
    append_leader_exited(&fake, 2);
    fake_put(&fake, (struct fake_process){.pid = 12, .start_stack = 7, .resident_pages = 30});
    struct process_view view = process_view_of(fake.root);
    assert_int_equal(begin_polls(&process, 10, NULL, &view), GPUT_OK);
    assert_int_equal(process_set_baseline(&process), GPUT_OK);
    assert_int_equal(process.polled->memory.resident_bytes, 30 * view.page_bytes);
    assert_int_equal(process.polled->exec_generation, 7);
    free(process.baseline);
    process_end_polls(&process, &view);
    fake_procfs_finish(&fake);
}

/* ---- live ---- */

TEST(descriptors_are_cached_up_to_the_limit)
{
    struct actors actors;
    struct process processes[2];
    actors_start(&actors, "ready await 3");
    actors_await(&actors, 1);
    struct process_view view = process_view_of("/proc");
    view.free_files = 3;
    for (int i = 0; i < 2; i++)
        assert_int_equal(begin_polls(&processes[i], actors.pid, NULL, &view), GPUT_OK);
    assert_int_equal(view.free_files, 0);
    assert_true(
        processes[0].polled->files.stat_fd >= 0 && processes[0].polled->files.statm_fd >= 0);
    assert_true(processes[1].polled->files.statm_fd >= 0);
    assert_int_equal(processes[1].polled->files.stat_fd, -1);
    assert_int_equal(
        processes[0].polled->memory.resident_bytes, processes[1].polled->memory.resident_bytes);
    for (int i = 0; i < 2; i++)
        process_end_polls(&processes[i], &view);
    assert_int_equal(view.free_files, 3);
    actors_end(&actors);
}

TEST(a_process_that_did_not_run_is_not_read_again)
{
    struct actors actors;
    struct process process;
    actors_start(&actors, "ready await 3 alloc 20 ready await 3");
    actors_await(&actors, 1);
    struct process_view view = process_view_of("/proc");
    assert_true(view.has_cpu_clocks);
    assert_int_equal(begin_polls(&process, actors.pid, NULL, &view), GPUT_OK);
    /* It may not have reached read() yet. */
    EVENTUALLY(!process.polled->has_run)
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    process.polled->stat.thread_count = 99;
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    assert_int_equal(process.polled->stat.thread_count, 99);

    actors_release(&actors, 3, 1);
    actors_await(&actors, 1);
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    assert_true(process.polled->has_run);
    assert_int_equal(process.polled->stat.thread_count, 1);
    assert_true(process.polled->memory.resident_bytes > 20000000);
    process_end_polls(&process, &view);
    actors_end(&actors);
}

TEST(an_idle_process_is_read_now_and_then)
{
    struct actors actors;
    struct process process;
    actors_start(&actors, "ready await 3");
    actors_await(&actors, 1);
    struct process_view view = process_view_of("/proc");
    assert_int_equal(begin_polls(&process, actors.pid, NULL, &view), GPUT_OK);
    process.polled->stat.thread_count = 99;
    assert_int_equal(process_poll(&process, NULL, &view, 60 * NS_PER_SECOND), GPUT_OK);
    assert_int_equal(process.polled->stat.thread_count, 1);
    process_end_polls(&process, &view);
    actors_end(&actors);
}

TEST(an_end_is_seen_first_as_zombie_then_as_gone)
{
    struct actors actors;
    struct process process;
    siginfo_t info;
    actors_start(&actors, "spin 0.03 ready await 3");
    actors_await(&actors, 1);
    struct process_view view = process_view_of("/proc");
    view.free_files = 2;
    assert_int_equal(begin_polls(&process, actors.pid, NULL, &view), GPUT_OK);
    assert_true(process_cpu_ns(&process) >= 30000000);
    actors_let_go(&actors);
    assert_int_equal(waitid(P_PID, (id_t)actors.pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(process_poll(&process, NULL, &view, 1), GPUT_OK);
    assert_true(process_is_zombie(&process));
    assert_true(process_cpu_ns(&process) >= 30000000);
    waitpid(actors.pid, NULL, 0);
    assert_int_equal(process_poll(&process, NULL, &view, 2), GPUT_ERROR_GONE);
    process_end_polls(&process, &view);
    actors.pid = 0;
    actors_end(&actors);
}

TEST(signals_go_to_the_very_process_only)
{
    struct process_view view = process_view_of("/proc");
    struct process process;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(begin_polls(&process, child, NULL, &view), GPUT_OK);
    assert_int_equal(process_signal(&process, &view, 0), 0);

    process.polled->stat.start_time_ticks++; /* as if its pid were reused */
    assert_int_equal(process_signal(&process, &view, SIGKILL), ESRCH);
    process.polled->stat.start_time_ticks--;
    struct process_view foreign = view;
    foreign.has_cpu_clocks = false;
    assert_int_equal(process_signal(&process, &foreign, SIGKILL), ESRCH);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);

    assert_int_equal(process_signal(&process, &view, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(process_signal(&process, &view, SIGKILL), ESRCH);
    process_end_polls(&process, &view);
}

TEST(a_fork_is_of_its_parents_exec_generation_until_execve)
{
    struct actors one, other;
    actors_start(&one, "child [ ready await 3 ] ready await 3");
    actors_start(&other, "ready await 3");
    actors_await(&one, 2);
    actors_await(&other, 1);
    char name[64];
    int child = 0;
    snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)one.pid, (int)one.pid);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &child), 1);
    fclose(file);

    struct process_view view = process_view_of("/proc");
    struct process parent, forked, stranger;
    assert_int_equal(begin_polls(&parent, one.pid, NULL, &view), GPUT_OK);
    assert_int_equal(begin_polls(&forked, child, &parent, &view), GPUT_OK);
    assert_int_equal(begin_polls(&stranger, other.pid, NULL, &view), GPUT_OK);
    assert_int_not_equal(parent.polled->exec_generation, 0);
    assert_int_equal(forked.polled->exec_generation, parent.polled->exec_generation);
    assert_int_not_equal(stranger.polled->exec_generation, parent.polled->exec_generation);
    assert_false(process_is_vfork_child(&forked));
    process_end_polls(&parent, &view);
    process_end_polls(&forked, &view);
    process_end_polls(&stranger, &view);
    actors_end(&one);
    actors_end(&other);
}

RUN_TESTS(NULL, NULL)
