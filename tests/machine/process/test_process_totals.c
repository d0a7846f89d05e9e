/*
 * Sums of the log: CPU time, counts, auto-reaped processes.
 */
#include "process_log_stage.h"

#include "base/clock.h"

TEST(exit_records_of_threads_add_up)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    struct taskstats_exit thread = {
        .thread = 21, .process = 20, .name = "thread", .cpu_ns = 500, .counts.read_call_bytes = 7};
    process_log_exit(&stage.log, &thread);
    process_log_end_batch(&stage.log, false);
    add_exit_record(&stage, 20, 300, 4096);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_int_equal(find(list, count, 20)->cpu_ns, 800);
    assert_int_equal(process_counts(find(list, count, 20)).read_call_bytes, 7);
    assert_string_equal(find(list, count, 20)->program.name, "from-record");
    free(list);
    tear_down(&stage);
}

TEST(an_exit_record_after_the_end_still_counts)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    add_exit_record(&stage, 20, 700, 4096);
    process_log_end_batch(&stage.log, false);
    int64_t cpu_ns;
    assert_true(process_log_cpu_ns(&stage.log, &cpu_ns));
    assert_int_equal(cpu_ns, 700);
    assert_true(process_log_descendants(&stage.log).has_all);
    tear_down(&stage);
}

TEST(short_lived_processes_count_with_their_cpu_time)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    forked(&stage, 10, 30);
    forked(&stage, 10, 40);
    stage.now_ns += SHORT_LIVED_NS / 2;
    add_exit_record(&stage, 20, 700, 4096);
    exited(&stage, 20, 0);
    exited(&stage, 40, 0); /* its exit record is lost */
    stage.now_ns += SHORT_LIVED_NS;
    add_exit_record(&stage, 30, 5000, 4096);
    exited(&stage, 30, 0);
    for (int i = 0; i < 2; i++)
        process_log_end_batch(&stage.log, false);
    assert_int_equal(stage.log.totals.short_lived, 1);
    assert_int_equal(stage.log.totals.short_lived_cpu_ns, 700);
    assert_int_equal(stage.log.totals.cpu_ns, 5700);
    tear_down(&stage);
}

/* What the kernel counted beyond that was used by short-lived ones. */
TEST(the_others_have_at_most_what_they_counted_a_tick_and_their_exit)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    forked(&stage, 10, 30);
    int64_t start_ns = stage.now_ns, at_most_ns, without_ns;
    assert_true(process_log_others_at_most_ns(&stage.log, &without_ns));
    stage.now_ns += 1000;
    add_exit_record(&stage, 20, 700, 4096);
    exited(&stage, 20, 0);
    stage.now_ns += 2 * SHORT_LIVED_NS;
    struct taskstats_exit record = {.thread = 30,
        .process = 30,
        .name = "long",
        .is_leader = true,
        .is_last = true,
        .process_elapsed_ns = (uint64_t)(stage.now_ns - start_ns),
        .cpu_ns = 5000};
    process_log_exit(&stage.log, &record);
    stage.now_ns += 300;
    exited(&stage, 30, 0);
    for (int i = 0; i < 2; i++)
        process_log_end_batch(&stage.log, false);
    assert_true(process_log_others_at_most_ns(&stage.log, &at_most_ns));
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    /* Before, both were two that may be long; now one is, with its record and 301 ns of its exit.
     */
    int64_t one_ns = clock_ns_of_timespec(tick) + NS_PER_MS;
    assert_true(at_most_ns == without_ns - one_ns + 5000 + 301);
    tear_down(&stage);
}

/* As the kernel announces the end of an auto-reaped process. */
static void auto_reaped(struct stage *stage, pid_t pid)
{
    process_log_event(&stage->log, &(struct process_event){.kind = PROCESS_EVENT_EXIT,
                                       .pid = pid,
                                       .is_collected = true,
                                       .time_ns = ++stage->now_ns});
}

TEST(one_auto_reaped_child_among_many_is_noted)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    assert_false(process_log_has_auto_reaped(&stage.log));
    forked(&stage, 10, 30);
    auto_reaped(&stage, 30);
    assert_true(process_log_has_auto_reaped(&stage.log));
    process_log_end_batch(&stage.log, false);

    for (int i = 0; i < 1000; i++) {
        forked(&stage, 10, 1000 + i);
        exited(&stage, 1000 + i, 0);
        process_log_end_batch(&stage.log, false);
    }
    assert_true(process_log_has_auto_reaped(&stage.log));
    tear_down(&stage);
}

TEST(without_events_parents_that_ignore_sigchld_are_noted)
{
    struct stage stage;
    set_up(&stage, (struct process_log_options){0});
    status_of(&stage, 10, 700);
    scan(&stage);
    assert_false(process_log_has_auto_reaped(&stage.log));
    fake_write(&stage.fake,
        "Name:\tx\nPid:\t10\nPPid:\t1\nVmHWM:\t900 kB\nVmRSS:\t1 kB\n"
        "SigIgn:\t0000000000010000\n",
        "10/status");
    fake_put(&stage.fake,
        (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 999});
    scan(&stage);
    assert_true(process_log_has_auto_reaped(&stage.log));
    tear_down(&stage);
}

static void thread_of(struct stage *stage, int pid, int thread, int faults, int bytes)
{
    char text[256];
    fake_put_stat(&stage->fake,
        &(struct fake_process){.pid = thread, .parent = 1, .minor_faults = (uint64_t)faults});
    char from[256], to[256];
    snprintf(to, sizeof to, "%s/%d/task/%d/stat", stage->fake.root, pid, thread);
    snprintf(from, sizeof from, "%s/%d/stat", stage->fake.root, thread);
    fake_write(&stage->fake, "", "%d/task/%d/stat", pid, thread);
    assert_int_equal(rename(from, to), 0);
    snprintf(text, sizeof text, "Name:\tx\nPid:\t%d\nPPid:\t1\nvoluntary_ctxt_switches:\t%d\n",
        thread, faults);
    fake_write(&stage->fake, text, "%d/task/%d/status", pid, thread);
    snprintf(text, sizeof text, "rchar: 0\nwchar: %d\n", bytes);
    fake_write(&stage->fake, text, "%d/task/%d/io", pid, thread);
}

TEST(counts_from_before_tracking_are_subtracted)
{
    struct stage stage = {0};
    struct process_log_options options = everything;
    options.keeps_counts = true;
    fake_procfs_init(&stage.fake);
    thread_of(&stage, 10, 11, 100, 5000);
    thread_of(&stage, 10, 12, 300, 7000);
    set_up_with(&stage, options, true);
    process_log_read_counts(&stage.log);
    assert_int_equal(process_log_counts(&stage.log).minor_faults, 0);

    thread_of(&stage, 10, 11, 150, 5500);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 12,
                                     .process = 10,
                                     .counts.minor_faults = 320,
                                     .counts.voluntary_switches = 321,
                                     .counts.write_call_bytes = 7100});
    fake_remove(&stage.fake, "10/task/12");
    forked(&stage, 10, 20);
    add_exit_record(&stage, 20, 1, 4096); /* 1000 faults */
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    process_log_read_counts(&stage.log);
    struct task_counts counts = process_log_counts(&stage.log);
    assert_int_equal(counts.minor_faults, 50 + 20 + 1000);
    assert_int_equal(counts.voluntary_switches, 50 + 21);
    assert_int_equal(counts.write_call_bytes, 500 + 100);
    assert_false(counts.lacks_io);
    tear_down(&stage);
}

static void io_of(struct stage *stage, int pid, int bytes)
{
    char text[64];
    snprintf(text, sizeof text, "rchar: 0\nwchar: %d\n", bytes);
    fake_write(&stage->fake, text, "%d/io", pid);
}

TEST(without_taskstats_parents_have_the_counts_of_children)
{
    struct stage stage = {0};
    struct fake_process main = {.pid = 10, .parent = 1}, child = {.pid = 20, .parent = 10},
                        orphan = {.pid = 30, .parent = 1, .minor_faults = 3};
    fake_procfs_init(&stage.fake);
    io_of(&stage, 10, 1000);
    io_of(&stage, 20, 400);
    io_of(&stage, 30, 70);
    child.minor_faults = 40;
    fake_put(&stage.fake, child);
    set_up_with(&stage, (struct process_log_options){.keeps_counts = true}, true);
    fake_put(&stage.fake, orphan);
    assert_int_equal(process_tree_adopt(&stage.tree, 30), GPUT_OK);
    scan(&stage);

    /* The child, with another 5 faults and 50 bytes, is collected; the orphan is not. */
    main.minor_faults = 7;
    main.cminor_faults = 45;
    fake_put(&stage.fake, main);
    io_of(&stage, 10, 1000 + 100 + 450);
    fake_end(&stage.fake, 20);
    fake_end(&stage.fake, 30);
    scan(&stage);
    process_log_read_counts(&stage.log);
    struct task_counts counts = process_log_counts(&stage.log);
    assert_int_equal(counts.minor_faults, 7 + 5 + 3);
    assert_int_equal(counts.write_call_bytes, 100 + 50 + 70);
    assert_false(counts.lacks_io);
    tear_down(&stage);
}

/* Main's figures include those of its child, and of the child's children. */
TEST(without_taskstats_a_chain_of_parents_counts_once)
{
    for (int has_events = 0; has_events < 2; has_events++) {
        struct stage stage = {0};
        struct fake_process main = {.pid = 10, .parent = 1}, child = {.pid = 20, .parent = 10},
                            grandchild = {.pid = 30, .parent = 20, .minor_faults = 40};
        set_up_with(&stage,
            (struct process_log_options){.keeps_counts = true, .has_events = has_events}, true);
        fake_put(&stage.fake, child);
        fake_put(&stage.fake, grandchild);
        scan(&stage);
        assert_int_equal(process_log_counts(&stage.log).minor_faults, 40);
        for (int pid = 30; has_events && pid >= 20; pid -= 10)
            exited(&stage, pid, 0);
        main.cminor_faults = 50;
        fake_put(&stage.fake, main);
        fake_end(&stage.fake, 20);
        fake_end(&stage.fake, 30);
        scan(&stage);
        process_log_end_batch(&stage.log, false);
        process_log_read_counts(&stage.log);
        assert_int_equal(process_log_counts(&stage.log).minor_faults, 50);
        tear_down(&stage);
    }
}

/* Then no process of the tree has what it collected from its child. */
TEST(without_taskstats_main_and_its_child_count_once)
{
    for (int has_events = 0; has_events < 2; has_events++) {
        struct stage stage = {0};
        struct fake_process main = {.pid = 10, .parent = 1, .minor_faults = 7},
                            child = {.pid = 20, .parent = 10, .minor_faults = 40};
        set_up_with(&stage,
            (struct process_log_options){.keeps_counts = true, .has_events = has_events}, true);
        fake_put(&stage.fake, main);
        fake_put(&stage.fake, child);
        scan(&stage);
        for (int pid = 20; has_events && pid >= 10; pid -= 10)
            exited(&stage, pid, 0);
        fake_end(&stage.fake, 10);
        fake_end(&stage.fake, 20);
        scan(&stage);
        process_log_end_batch(&stage.log, false);
        assert_int_equal(process_log_counts(&stage.log).minor_faults, 47);
        tear_down(&stage);
    }
}

TEST(memory_is_bounded_and_sums_are_complete)
{
    struct stage stage;
    set_up(&stage, everything);
    for (int i = 1; i <= 10000; i++) {
        forked(&stage, 10, 1000 + i);
        exited(&stage, 1000 + i, 0);
        /* One with much CPU time, one with much RAM. */
        add_exit_record(&stage, 1000 + i, i == 17 ? SECOND : 10, i == 18 ? 1 << 30 : 4096);
        process_log_end_batch(&stage.log, false);
        assert_true(stage.log.ended.kept.count < 300);
    }
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_int_equal(count + stage.log.ended.others.count, 10001);
    assert_int_equal(find(list, count, 1017)->cpu_ns, SECOND);
    assert_int_equal(find(list, count, 1018)->peak.rss_bytes, 1 << 30);
    free(list);
    int64_t cpu_ns;
    process_log_cpu_ns(&stage.log, &cpu_ns);
    assert_int_equal(cpu_ns, SECOND + 9999 * 10);
    tear_down(&stage);
}

TEST(children_of_records_that_were_not_kept_have_an_ancestor)
{
    struct stage stage;
    struct process_log_options few = everything;
    few.max_ended = 2;
    set_up(&stage, few);
    forked(&stage, 10, 20);
    forked(&stage, 20, 30);
    for (int i = 0; i < 200; i++) {
        forked(&stage, 30, 1000 + i);
        exited(&stage, 1000 + i, 0);
        add_exit_record(&stage, 1000 + i, 10 + i, 4096);
        if (i == 0) {
            exited(&stage, 20, 0);
            add_exit_record(&stage, 20, 1, 1);
        }
        process_log_end_batch(&stage.log, false);
    }
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_null(find(list, count, 20));
    assert_ptr_equal(find(list, count, 30)->parent, find(list, count, 10));
    free(list);
    tear_down(&stage);
}

RUN_TESTS(NULL, NULL)
