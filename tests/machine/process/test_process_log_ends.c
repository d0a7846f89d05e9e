/*
 * Which exit of a thread is the end of its process, and what is known of it.
 */
#include "process_log_stage.h"

#include "base/clock.h"

TEST(the_exit_of_a_leader_is_not_the_end)
{
    struct stage stage;
    struct taskstats_exit last = {.thread = 11,
        .process = 10,
        .is_last = true,
        .cpu_ns = 300,
        .process_elapsed_ns = (uint64_t)(90 * SECOND)};
    set_up(&stage, everything);
    exited(&stage, 10, 0);
    process_log_exit(&stage.log,
        &(struct taskstats_exit){.thread = 10, .process = 10, .is_leader = true, .cpu_ns = 200});
    process_log_end_batch(&stage.log, false);
    fake_put(&stage.fake, (struct fake_process){.pid = 10, .state = 'Z', .threads = 2});
    scan(&stage);
    process_log_end_batch(&stage.log, false);
    assert_false(process_has_ended(stage.log.main));
    assert_false(stage.log.main->end.has_status);
    forked(&stage, 10, 20);
    assert_int_equal(process_log_count(&stage.log), 2);

    /* No event announces the exit of the last thread as the end of the process. */
    process_log_exit(&stage.log, &last);
    process_log_end_batch(&stage.log, false);
    fake_end(&stage.fake, 10);
    scan(&stage);
    /* Twice: the record of another thread may arrive with the next one. */
    process_log_end_batch(&stage.log, false);
    process_log_end_batch(&stage.log, false);
    assert_true(process_has_ended(stage.log.main));
    assert_int_equal(stage.log.main->end.at_ns, stage.log.main->start.at_ns + 90 * SECOND);
    assert_int_equal(stage.log.main->cpu_ns, 500);
    assert_int_equal(process_log_count(&stage.log), 1);
    tear_down(&stage);
}

/* A thread exits, as the kernel announces it without taskstats. */
static void thread_exited(struct stage *stage, pid_t pid, int status)
{
    process_log_event(&stage->log, &(struct process_event){.kind = PROCESS_EVENT_EXIT,
                                       .pid = pid,
                                       .status = status,
                                       .is_thread = true,
                                       .is_collected = true,
                                       .time_ns = ++stage->now_ns});
}

/* As recorded from the kernel: the leader calls pthread_exit() at once, another thread exit(3). */
TEST(the_exit_of_the_last_thread_is_the_end)
{
    struct stage stage;
    set_up(&stage, announced);
    forked(&stage, 10, 20);
    thread_exited(&stage, 20, 0); /* one of many, before the leader */
    exited(&stage, 20, 0);
    fake_put(
        &stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z', .threads = 3});
    process_log_end_batch(&stage.log, false);
    assert_true(process_log_needs_thread_exits(&stage.log));
    scan(&stage);
    assert_false(process_has_ended(only_child(&stage, 20)));
    assert_false(only_child(&stage, 20)->end.has_status);

    thread_exited(&stage, 20, 0x100);
    process_log_end_batch(&stage.log, false);
    assert_false(process_has_ended(only_child(&stage, 20)));
    scan(&stage);
    thread_exited(&stage, 20, 0x300);
    int64_t end_ns = stage.now_ns;
    fake_end(&stage.fake, 20);
    scan(&stage);
    process_log_end_batch(&stage.log, false);
    const struct process *child = only_child(&stage, 20);
    assert_true(process_has_ended(child) && child->end.is_exact && child->end.has_status);
    assert_int_equal(child->end.at_ns, end_ns);
    assert_int_equal(child->end.status, 0x300);
    assert_false(process_log_needs_thread_exits(&stage.log));
    assert_false(process_log_end_unannounced(&stage.log));
    assert_false(process_log_has_auto_reaped(&stage.log));
    tear_down(&stage);
}

TEST(an_end_may_be_announced_after_a_scan_saw_it)
{
    struct stage stage;
    set_up(&stage, announced);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    fake_put(
        &stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z', .threads = 2});
    process_log_end_batch(&stage.log, false);
    scan(&stage);
    fake_end(&stage.fake, 20);
    process_log_end_batch(&stage.log, false);
    assert_true(process_has_ended(only_child(&stage, 20)));
    assert_int_equal(only_child(&stage, 20)->end.at_ns, SECOND + 2); /* it was alive then */
    assert_false(only_child(&stage, 20)->end.is_exact || only_child(&stage, 20)->end.has_status);
    assert_true(process_log_end_unannounced(&stage.log));
    assert_true(process_log_needs_thread_exits(&stage.log));
    scan(&stage);
    process_log_end_batch(&stage.log, false);
    thread_exited(&stage, 20, 0x300);
    assert_int_equal(only_child(&stage, 20)->end.status, 0x300);
    assert_false(process_log_end_unannounced(&stage.log));
    tear_down(&stage);
}

TEST(an_end_that_is_not_announced_is_found_when_tracking_stops)
{
    struct stage stage;
    set_up(&stage, announced);
    forked(&stage, 10, 20);
    process_log_end_batch(&stage.log, false);
    assert_true(process_log_end_unannounced(&stage.log));
    assert_true(process_has_ended(only_child(&stage, 20)));
    assert_false(only_child(&stage, 20)->end.is_exact);
    tear_down(&stage);
}

TEST(a_process_that_reuses_a_pid_is_another)
{
    struct stage stage;
    set_up(&stage, announced);
    struct fake_process child = {.pid = 20, .parent = 1, .start_time = ticks_since_boot()};
    stage.now_ns = clock_monotonic_ns();
    forked(&stage, 10, 20);
    fake_put(&stage.fake, child);
    process_log_end_batch(&stage.log, false);
    assert_false(process_log_end_unannounced(&stage.log));
    assert_false(process_has_ended(only_child(&stage, 20)));

    exited(&stage, 20, 0x100);
    child.start_time += 1000;
    fake_put(&stage.fake, child);
    process_log_end_batch(&stage.log, false);
    assert_true(process_has_ended(only_child(&stage, 20)));
    assert_int_equal(only_child(&stage, 20)->end.status, 0x100);
    tear_down(&stage);
}

/* The exit of the first one was lost. */
TEST(a_reused_pid_proves_an_end)
{
    struct stage stage;
    set_up(&stage, announced);
    forked(&stage, 10, 20);
    forked(&stage, 10, 20);
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_int_equal(count, 3);
    assert_int_equal(stage.log.seen, 3);
    assert_int_equal(process_has_ended(list[1]) + process_has_ended(list[2]), 1);
    free(list);
    tear_down(&stage);
}

/* One of its threads calls execve(): the kernel announces the exit of the leader, which it
 * replaces. */
TEST(the_exit_of_a_leader_by_execve_is_not_the_end)
{
    const struct process_log_options *both[] = {&announced, &everything};
    for (size_t i = 0; i < 2; i++) {
        for (int batches = 1; batches <= 2; batches++) {
            struct stage stage;
            set_up(&stage, *both[i]);
            forked(&stage, 10, 20);
            fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10});
            exited(&stage, 20, 0);
            if (batches == 2)
                process_log_end_batch(&stage.log, false);
            execed(&stage, 20);
            process_log_end_batch(&stage.log, false);
            scan(&stage);
            assert_false(process_has_ended(only_child(&stage, 20)));
            fake_end(&stage.fake, 20);
            exited(&stage, 20, 0x200);
            process_log_end_batch(&stage.log, false);
            scan(&stage);
            process_log_end_batch(&stage.log, false);
            assert_int_equal(only_child(&stage, 20)->end.status, 0x200);
            assert_int_equal(stage.log.ended_total, 1);
            tear_down(&stage);
        }
    }
}

/* A scan comes before the exit record. */
TEST(a_process_whose_leader_exited_is_added_once)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    fake_put(
        &stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z', .threads = 2});
    fake_children(&stage.fake, 10, 10, "20");
    scan(&stage);
    assert_int_equal(process_log_count(&stage.log), 2);
    assert_false(process_has_ended(only_child(&stage, 20)));
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 21,
                                     .process = 20,
                                     .is_last = true,
                                     .status = 0x300,
                                     .process_elapsed_ns = (uint64_t)SECOND});
    process_log_end_batch(&stage.log, false);
    const struct process *child = only_child(&stage, 20);
    assert_true(process_has_ended(child) && child->end.is_exact);
    assert_int_equal(child->end.at_ns, child->start.at_ns + SECOND);
    assert_int_equal(child->end.status, 0x300);
    tear_down(&stage);
}

/* It is counted once, as long as its parent has not waited for it and after that. */
TEST(a_zombie_is_final_before_it_is_reaped)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10, .utime = 3});
    fake_children(&stage.fake, 10, 10, "20");
    scan(&stage);
    assert_int_equal(only_child(&stage, 20)->state, PROCESS_RUNNING);
    assert_int_equal(stage.tree.table.count, 2);
    fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z', .utime = 4});
    add_exit_record(&stage, 20, 300, 4096);
    exited(&stage, 20, 0x100);
    scan(&stage);
    process_log_end_batch(&stage.log, false);
    assert_int_equal(only_child(&stage, 20)->state, PROCESS_FINAL);
    assert_int_equal(stage.log.ended_total, 1);
    assert_int_equal(stage.log.ended.kept.count, 0);
    assert_null(process_log_get(&stage.log, 20));

    fake_end(&stage.fake, 20);
    fake_children(&stage.fake, 10, 10, "");
    scan(&stage);
    process_log_end_batch(&stage.log, false);
    const struct process *child = only_child(&stage, 20);
    assert_null(child->polled);
    assert_int_equal(child->cpu_ns, 4 * 10000000);
    assert_int_equal(stage.log.ended_total, 1);
    assert_int_equal(stage.log.ended.kept.count, 1);
    assert_int_equal(stage.tree.table.count, 1);
    tear_down(&stage);
}

TEST(a_lost_end_is_found_by_reading)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    process_log_end_batch(&stage.log, true);
    process_log_end_batch(&stage.log, false);
    assert_true(stage.log.has_lost_events);
    assert_int_equal(process_log_count(&stage.log), 1);
    assert_false(process_log_descendants(&stage.log).has_all);
    tear_down(&stage);
}

TEST(exit_records_are_incomplete_where_events_were_lost)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    add_exit_record(&stage, 20, 300, 4096);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, true);
    /* It may have called execve(), and other threads may have exited before. */
    const struct process *child = only_child(&stage, 20);
    assert_true(process_has_last_record(child) && child->history.has_lost_events);
    assert_int_equal(child->peak.trust, GPUT_PROCESS_PEAK_KEPT);

    forked(&stage, 10, 30);
    add_exit_record(&stage, 30, 300, 4096);
    exited(&stage, 30, 0);
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_false(find(list, count, 30)->history.has_lost_events);
    assert_int_equal(find(list, count, 30)->peak.trust, GPUT_PROCESS_PEAK_FINAL);
    free(list);
    tear_down(&stage);
}

/* It was read before the fork event: the pid was free then, and is of one of ours now. */
TEST(an_exit_record_is_not_of_a_process_that_started_since)
{
    struct stage stage;
    set_up(&stage, everything);
    stage.now_ns = 100 * SECOND;
    int64_t read_ns = stage.now_ns - SECOND / 100;
    forked(&stage, 10, 20);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 20,
                                     .process = 20,
                                     .is_leader = true,
                                     .is_last = true,
                                     .process_elapsed_ns = (uint64_t)(2 * SECOND),
                                     .read_ns = read_ns,
                                     .cpu_ns = 500,
                                     .peak_rss_bytes = 5000000});
    exited(&stage, 20, 0);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 20,
                                     .process = 20,
                                     .is_leader = true,
                                     .is_last = true,
                                     .process_elapsed_ns = 1000,
                                     .read_ns = stage.now_ns,
                                     .cpu_ns = 300,
                                     .peak_rss_bytes = 4000});
    process_log_end_batch(&stage.log, false);
    assert_int_equal(only_child(&stage, 20)->cpu_ns, 300);
    assert_int_equal(only_child(&stage, 20)->peak.rss_bytes, 4000);
    tear_down(&stage);
}

/* The one that forked it waited for a processor before it could announce that. */
TEST(an_exit_record_is_of_a_process_that_was_announced_late)
{
    struct stage stage;
    set_up(&stage, everything);
    stage.now_ns = 100 * SECOND;
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 20,
                                     .process = 20,
                                     .is_leader = true,
                                     .is_last = true,
                                     .process_elapsed_ns = (uint64_t)(SECOND / 2),
                                     .read_ns = stage.now_ns + SECOND / 1000,
                                     .cpu_ns = 300});
    process_log_end_batch(&stage.log, false);
    process_log_end_batch(&stage.log, false);
    assert_int_equal(only_child(&stage, 20)->cpu_ns, 300);
    assert_int_equal(process_log_without_exit_record(&stage.log), 0);
    tear_down(&stage);
}

/* Both threads exit at once: the last one to begin is not the last one to be counted. */
TEST(a_record_that_the_last_one_has_overtaken_counts)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    fake_put(
        &stage.fake, (struct fake_process){.pid = 20, .parent = 10, .threads = 2, .is_fork = true});
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 21,
                                     .process = 20,
                                     .is_last = true,
                                     .cpu_ns = 200,
                                     .counts.minor_faults = 20,
                                     .process_elapsed_ns = 1000});
    for (int i = 0; i < 3; i++)
        process_log_end_batch(&stage.log, false);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 20,
                                     .process = 20,
                                     .is_leader = true,
                                     .cpu_ns = 100,
                                     .counts.minor_faults = 10,
                                     .process_elapsed_ns = 1000});
    exited(&stage, 20, 0);
    fake_end(&stage.fake, 20);
    assert_int_equal(process_log_count(&stage.log), 2);
    for (int i = 0; i < 2; i++)
        process_log_end_batch(&stage.log, false);
    assert_int_equal(process_log_count(&stage.log), 1);
    const struct process *child = only_child(&stage, 20);
    assert_int_equal(child->state, PROCESS_FINAL);
    assert_int_equal(child->cpu_ns, 300);
    assert_int_equal(process_counts(child).minor_faults, 30);
    tear_down(&stage);
}

/* Of main, and of one that is not final yet, as well as of those that are. */
TEST(ends_without_an_exit_record_are_counted)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    forked(&stage, 10, 21);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    process_log_end_batch(&stage.log, false);
    exited(&stage, 21, 0);
    assert_int_equal(process_log_without_exit_record(&stage.log), 2);
    exited(&stage, 10, 0);
    assert_int_equal(process_log_without_exit_record(&stage.log), 3);
    add_exit_record(&stage, 10, 5, 1000);
    add_exit_record(&stage, 21, 5, 1000);
    assert_int_equal(process_log_without_exit_record(&stage.log), 1);
    tear_down(&stage);
}

RUN_TESTS(NULL, NULL)
