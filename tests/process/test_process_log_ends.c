/*
 * Which end of a thread is the end of its process, and what is known of it.
 */
#include "process_log_stage.h"

#include "base/clock.h"

static void the_end_of_a_first_thread_is_not_the_end(void **state)
{
    (void)state;
    struct stage stage;
    struct taskstats_exit last = {.thread = 11,
        .process = 10,
        .is_last = true,
        .cpu_ns = 300,
        .process_elapsed_ns = (uint64_t)(90 * SECOND)};
    open_stage(&stage, everything);
    exited(&stage, 10, 0);
    process_log_exit(&stage.log,
        &(struct taskstats_exit){.thread = 10, .process = 10, .is_leader = true, .cpu_ns = 200});
    process_log_end_batch(&stage.log, false);
    fake_put(&stage.fake, (struct fake_process){.pid = 10, .state = 'Z', .threads = 2});
    check(&stage);
    process_log_end_batch(&stage.log, false);
    assert_false(stage.log.main->has_ended);
    assert_false(stage.log.main->has_status);
    forked(&stage, 10, 20);
    assert_int_equal(stage.log.living.count, 2);

    /* Nobody announces the end of the last thread as that of a process. */
    process_log_exit(&stage.log, &last);
    process_log_end_batch(&stage.log, false);
    fake_end(&stage.fake, 10);
    check(&stage);
    process_log_end_batch(&stage.log, false);
    assert_true(stage.log.main->has_ended);
    assert_int_equal(stage.log.main->end_ns, stage.log.main->start_ns + 90 * SECOND);
    assert_int_equal(stage.log.main->cpu_ns, 500);
    assert_int_equal(stage.log.living.count, 1);
    close_stage(&stage);
}

/* Its threads end, as the kernel announces it where no taskstats tell. */
static void thread_exited(struct stage *stage, pid_t pid, int status)
{
    process_log_event(&stage->log, &(struct process_event){.kind = PROCESS_EVENT_EXIT,
                                       .pid = pid,
                                       .status = status,
                                       .is_thread = true,
                                       .is_collected = true,
                                       .time_ns = ++stage->now_ns});
}

/* As recorded from the kernel: its first thread calls pthread_exit() at once, another one exit(3).
 */
static void the_last_thread_tells_the_end(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, announced);
    forked(&stage, 10, 20);
    thread_exited(&stage, 20, 0); /* one of many, before the first */
    exited(&stage, 20, 0);
    fake_put(
        &stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z', .threads = 3});
    process_log_end_batch(&stage.log, false);
    assert_true(process_log_waits_for_threads(&stage.log));
    check(&stage);
    assert_false(only_child(&stage, 20)->has_ended);
    assert_false(only_child(&stage, 20)->has_status);

    thread_exited(&stage, 20, 0x100);
    process_log_end_batch(&stage.log, false);
    assert_false(only_child(&stage, 20)->has_ended);
    check(&stage);
    thread_exited(&stage, 20, 0x300);
    int64_t end_ns = stage.now_ns;
    fake_end(&stage.fake, 20);
    check(&stage);
    process_log_end_batch(&stage.log, false);
    const struct process_record *child = only_child(&stage, 20);
    assert_true(child->has_ended && child->end_is_exact && child->has_status);
    assert_int_equal(child->end_ns, end_ns);
    assert_int_equal(child->status, 0x300);
    assert_false(process_log_waits_for_threads(&stage.log));
    assert_false(process_log_end_unannounced(&stage.log));
    assert_false(process_log_has_auto_reaped(&stage.log));
    close_stage(&stage);
}

static void an_end_may_be_announced_after_it_was_seen(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, announced);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    fake_put(
        &stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z', .threads = 2});
    process_log_end_batch(&stage.log, false);
    check(&stage);
    fake_end(&stage.fake, 20);
    process_log_end_batch(&stage.log, false);
    assert_true(only_child(&stage, 20)->has_ended);
    assert_int_equal(only_child(&stage, 20)->end_ns, SECOND + 2); /* it lived then */
    assert_false(only_child(&stage, 20)->end_is_exact || only_child(&stage, 20)->has_status);
    assert_true(process_log_end_unannounced(&stage.log));
    assert_true(process_log_waits_for_threads(&stage.log));
    check(&stage);
    process_log_end_batch(&stage.log, false);
    thread_exited(&stage, 20, 0x300);
    assert_int_equal(only_child(&stage, 20)->status, 0x300);
    assert_false(process_log_end_unannounced(&stage.log));
    close_stage(&stage);
}

static void an_end_that_nobody_announces_is_found_at_last(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, announced);
    forked(&stage, 10, 20);
    process_log_end_batch(&stage.log, false);
    assert_true(process_log_end_unannounced(&stage.log));
    assert_true(only_child(&stage, 20)->has_ended);
    assert_false(only_child(&stage, 20)->end_is_exact);
    close_stage(&stage);
}

static void one_that_has_taken_over_a_pid_is_another(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, announced);
    struct fake_process child = {.pid = 20, .parent = 1, .start_time = ticks_since_boot()};
    stage.now_ns = clock_monotonic_ns();
    forked(&stage, 10, 20);
    fake_put(&stage.fake, child);
    process_log_end_batch(&stage.log, false);
    assert_false(process_log_end_unannounced(&stage.log));
    assert_false(only_child(&stage, 20)->has_ended);

    exited(&stage, 20, 0x100);
    child.start_time += 1000;
    fake_put(&stage.fake, child);
    process_log_end_batch(&stage.log, false);
    assert_true(only_child(&stage, 20)->has_ended);
    assert_int_equal(only_child(&stage, 20)->status, 0x100);
    close_stage(&stage);
}

/* The end of the first one was lost. */
static void a_pid_that_is_given_out_anew_tells_an_end(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, announced);
    forked(&stage, 10, 20);
    forked(&stage, 10, 20);
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_int_equal(count, 3);
    assert_int_equal(stage.log.seen, 3);
    assert_int_equal(list[1]->has_ended + list[2]->has_ended, 1);
    free(list);
    close_stage(&stage);
}

/* One of its threads calls execve(): the kernel announces the end of the first one, whose place it
 * takes. */
static void a_thread_that_calls_execve_is_no_end(void **state)
{
    (void)state;
    const struct process_log_options *both[] = {&announced, &everything};
    for (size_t i = 0; i < 2; i++) {
        for (int batches = 1; batches <= 2; batches++) {
            struct stage stage;
            open_stage(&stage, *both[i]);
            forked(&stage, 10, 20);
            fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10});
            exited(&stage, 20, 0);
            if (batches == 2)
                process_log_end_batch(&stage.log, false);
            execed(&stage, 20);
            process_log_end_batch(&stage.log, false);
            check(&stage);
            assert_false(only_child(&stage, 20)->has_ended);
            fake_end(&stage.fake, 20);
            exited(&stage, 20, 0x200);
            process_log_end_batch(&stage.log, false);
            check(&stage);
            process_log_end_batch(&stage.log, false);
            assert_int_equal(only_child(&stage, 20)->status, 0x200);
            assert_int_equal(stage.log.ended_total, 1);
            close_stage(&stage);
        }
    }
}

/* A scan comes while what taskstats tell is waited for. */
static void one_whose_first_thread_has_ended_is_met_once(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    fake_put(
        &stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z', .threads = 2});
    fake_children(&stage.fake, 10, 10, "20");
    check(&stage);
    assert_int_equal(stage.log.living.count, 2);
    assert_false(only_child(&stage, 20)->has_ended);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 21,
                                     .process = 20,
                                     .is_last = true,
                                     .status = 0x300,
                                     .process_elapsed_ns = (uint64_t)SECOND});
    process_log_end_batch(&stage.log, false);
    const struct process_record *child = only_child(&stage, 20);
    assert_true(child->has_ended && child->end_is_exact);
    assert_int_equal(child->end_ns, child->start_ns + SECOND);
    assert_int_equal(child->status, 0x300);
    close_stage(&stage);
}

static void an_end_that_was_lost_is_found_out(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    process_log_end_batch(&stage.log, true);
    process_log_end_batch(&stage.log, false);
    assert_true(stage.log.has_gap);
    assert_int_equal(stage.log.living.count, 1);
    assert_false(process_log_descendants(&stage.log).has_all);
    close_stage(&stage);
}

static void what_was_told_of_an_end_beside_lost_events_is_not_all(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    told(&stage, 20, 300, 4096);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, true);
    /* It may have called execve(), and threads of it may have ended before. */
    const struct process_record *child = only_child(&stage, 20);
    assert_true(child->is_final && child->has_gap);
    assert_int_equal(child->peak, PROCESS_PEAK_KEPT);

    forked(&stage, 10, 30);
    told(&stage, 30, 300, 4096);
    exited(&stage, 30, 0);
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_false(find(list, count, 30)->has_gap);
    assert_int_equal(find(list, count, 30)->peak, PROCESS_PEAK_FINAL);
    free(list);
    close_stage(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_first_thread_is_not_the_end),
        cmocka_unit_test(the_last_thread_tells_the_end),
        cmocka_unit_test(an_end_may_be_announced_after_it_was_seen),
        cmocka_unit_test(an_end_that_nobody_announces_is_found_at_last),
        cmocka_unit_test(one_that_has_taken_over_a_pid_is_another),
        cmocka_unit_test(a_pid_that_is_given_out_anew_tells_an_end),
        cmocka_unit_test(a_thread_that_calls_execve_is_no_end),
        cmocka_unit_test(one_whose_first_thread_has_ended_is_met_once),
        cmocka_unit_test(an_end_that_was_lost_is_found_out),
        cmocka_unit_test(what_was_told_of_an_end_beside_lost_events_is_not_all),
    };
    return cmocka_run_group_tests_name("track/process_log_ends", tests, NULL, NULL);
}
