#include "process_log_stage.h"

#include "base/clock.h"

#include <math.h>

TEST(announced_families_are_known_without_a_scan)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    forked(&stage, 20, 30);
    forked(&stage, 999, 40); /* not of the tree */
    exited(&stage, 20, 0);
    forked(&stage, 30, 31); /* the child of an orphan */
    exited(&stage, 30, 0x300);
    exited(&stage, 31, 9);
    add_exit_record(&stage, 20, 1, 4096);
    add_exit_record(&stage, 30, 2000, 8192);
    add_exit_record(&stage, 31, 3, 4096);
    process_log_end_batch(&stage.log, false);
    assert_int_equal(stage.log.seen, 4);
    assert_int_equal(process_log_count(&stage.log), 1);

    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_int_equal(count, 4);
    const struct process *child = find(list, count, 30);
    assert_ptr_equal(child->parent, find(list, count, 20));
    assert_ptr_equal(find(list, count, 31)->parent, child);
    assert_int_equal(child->cpu_ns, 2000);
    assert_int_equal(child->peak.rss_bytes, 8192);
    assert_int_equal(child->peak.trust, GPUT_PROCESS_PEAK_FINAL);
    assert_int_equal(child->end.status, 0x300);
    assert_string_equal(child->program.name, "from-record");
    assert_null(find(list, count, 40));
    free(list);
    struct process_peaks peaks = process_log_descendants(&stage.log);
    assert_true(peaks.has_all);
    assert_int_equal(peaks.largest_upper_bound_bytes, 8192);
    /* The first one had ended when the last one began. */
    assert_true(process_log_peak_upper_bound(&stage.log, 0, NAN) == 8192 + 4096);
    tear_down(&stage);
}

/* Writing to clear_refs resets what the kernel keeps: its exit record has what came after. */
TEST(the_peak_of_a_process_that_has_reset_it_is_not_final)
{
    for (unsigned kept_mb = 30; kept_mb <= 50; kept_mb += 20) {
        struct stage stage;
        set_up(&stage, everything);
        status_of(&stage, 10, (int)kept_mb << 10);
        fake_put(&stage.fake, (struct fake_process){.pid = 10, .minor_faults = 90});
        scan(&stage);
        exited(&stage, 10, 0);
        process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 10,
                                         .process = 10,
                                         .is_leader = true,
                                         .is_last = true,
                                         .peak_rss_bytes = 40 << 20});
        process_log_end_batch(&stage.log, false);
        assert_int_equal(stage.log.main->peak.trust,
            kept_mb < 40 ? GPUT_PROCESS_PEAK_FINAL : GPUT_PROCESS_PEAK_KEPT);
        assert_int_equal(stage.log.main->peak.rss_bytes, (kept_mb < 40 ? 40 : kept_mb) << 20);
        tear_down(&stage);
    }
}

/* After vfork() it can fill its parent's memory: its peak may be its parent's. */
TEST(the_peak_of_a_possible_vfork_child_is_an_upper_bound)
{
    struct stage stage;
    set_up(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 20,
                                     .process = 20,
                                     .is_leader = true,
                                     .is_last = true,
                                     .counts.minor_faults = 2000,
                                     .peak_rss_bytes = 40 << 20});
    process_log_end_batch(&stage.log, false);
    process_log_end_batch(&stage.log, false);
    struct process_peaks peaks = process_log_descendants(&stage.log);
    assert_true(peaks.has_all);
    assert_int_equal(peaks.largest_bytes, 0);
    assert_int_equal(peaks.largest_upper_bound_bytes, 40 << 20);
    assert_true(process_log_peak_upper_bound(&stage.log, 0, NAN) == 40 << 20);
    tear_down(&stage);
}

TEST(a_command_that_ended_before_the_first_scan_is_known)
{
    struct stage stage = {0};
    set_up_main(&stage, everything,
        (struct fake_process){.pid = 10, .parent = 1, .state = 'Z', .utime = 1}, false);
    execed(&stage, 10);
    forked(&stage, 10, 20);
    add_exit_record(&stage, 10, 1, 4096);
    exited(&stage, 10, 0x300);
    process_log_end_batch(&stage.log, false);
    scan(&stage);
    process_log_end_batch(&stage.log, false);
    assert_int_equal(stage.log.seen, 2);
    assert_int_equal(stage.log.main->end.status, 0x300);
    assert_int_equal(stage.log.main->peak.trust, GPUT_PROCESS_PEAK_FINAL);
    assert_true(stage.log.main->program.name[0] != '\0');
    tear_down(&stage);
}

/* The peak of an exit record is of the last exec generation alone. */
TEST(the_peak_before_execve_is_unbounded)
{
    struct stage stage;
    set_up(&stage, everything);
    execed(&stage, 10);
    forked(&stage, 10, 20);
    forked(&stage, 10, 30);
    execed(&stage, 20);
    add_exit_record(&stage, 20, 1, 8192);
    add_exit_record(&stage, 30, 1, 4096);
    add_exit_record(&stage, 10, 1, 16384);
    exited(&stage, 20, 0);
    exited(&stage, 30, 0);
    process_log_end_batch(&stage.log, false);
    struct process_peaks peaks = process_log_descendants(&stage.log);
    assert_true(peaks.has_all);
    assert_int_equal(peaks.unbounded, 1);
    assert_int_equal(peaks.largest_bytes, 8192);
    assert_true(process_log_peak_upper_bound(&stage.log, 0, 100000) == 4096 + 100000);
    /* A launched command starts with execve(). */
    assert_int_equal(stage.log.main->peak.trust, GPUT_PROCESS_PEAK_FINAL);
    tear_down(&stage);
}

/* What VmHWM was bounds the time before: with others of that time it counts with that alone. */
TEST(a_process_that_grows_late_had_less_before)
{
    struct stage stage;
    set_up(&stage, everything);
    stage.log.main->start.at_ns = 0; /* as of a launched command: not by two clocks */
    execed(&stage, 10);
    forked(&stage, 10, 20);
    execed(&stage, 20);
    add_exit_record(&stage, 20, 1, 8 << 20);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    for (unsigned mb = 1; mb <= 100; mb += 99) {
        status_of(&stage, 10, (int)mb << 10);
        fake_put(&stage.fake,
            (struct fake_process){
                .pid = 10, .parent = 1, .minor_faults = mb, .utime = mb, .resident_pages = 100});
        scan(&stage);
    }
    add_exit_record(&stage, 10, 1, 100 << 20);
    exited(&stage, 10, 0);
    process_log_end_batch(&stage.log, false);
    process_log_end_batch(&stage.log, false);
    double most = 100 << 20, lag = 3 * (double)stage.tree.view.lag_bytes;
    assert_true(process_log_peak_upper_bound(&stage.log, most, 50 << 20) == most);
    /* Before its execve() the child may have had more; main, a megabyte. */
    assert_true(
        process_log_peak_upper_bound(&stage.log, most, 2 * most) == 2 * most + (1 << 20) + lag);
    tear_down(&stage);
}

TEST(the_peak_before_a_second_execve_is_unbounded)
{
    struct stage stage;
    set_up(&stage, everything);
    status_of(&stage, 10, 700);
    scan(&stage);
    execed(&stage, 10);
    execed(&stage, 10);
    add_exit_record(&stage, 10, 1, 16384);
    assert_int_equal(stage.log.main->peak.trust, GPUT_PROCESS_PEAK_KEPT);
    assert_int_equal(stage.log.main->peak.rss_bytes, 700 * 1024);
    tear_down(&stage);
}

TEST(command_lines_go_with_their_programs)
{
    struct stage stage = {0};
    struct process_log_options options = everything;
    options.reads_commands = true;
    fake_procfs_init(&stage.fake);
    fake_write(&stage.fake, "main -x", "10/cmdline");
    set_up_with(&stage, options, false);
    forked(&stage, 10, 20);
    forked(&stage, 10, 30);
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_string_equal(stage.log.main->program.command, "main -x");
    assert_string_equal(find(list, count, 20)->program.command, "main -x");

    /* One can still be read, the other has ended. */
    execed(&stage, 20);
    execed(&stage, 30);
    fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10});
    fake_write(&stage.fake, "child -y", "20/cmdline");
    exited(&stage, 30, 0);
    add_exit_record(&stage, 30, 1, 4096);
    process_log_end_batch(&stage.log, false);
    assert_string_equal(find(list, count, 20)->program.command, "child -y");
    assert_null(find(list, count, 30)->program.command);
    assert_string_equal(find(list, count, 30)->program.name, "from-record");
    free(list);
    tear_down(&stage);
}

TEST(without_events_a_new_exec_generation_is_another_program)
{
    struct stage stage = {0};
    struct process_log_options options = {.keeps_ended = true, .reads_commands = true};
    options.max_ended = 100;
    fake_procfs_init(&stage.fake);
    fake_write(&stage.fake, "main -x", "10/cmdline");
    set_up_with(&stage, options, false);
    assert_string_equal(stage.log.main->program.command, "main -x");
    fake_put(&stage.fake, (struct fake_process){.pid = 10, .parent = 1, .start_stack = 4096});
    fake_write(&stage.fake, "main -y", "10/cmdline");
    scan(&stage);
    assert_string_equal(stage.log.main->program.command, "main -y");
    tear_down(&stage);
}

TEST(a_reused_pid_is_another_process)
{
    struct stage stage;
    set_up(&stage, everything);
    for (int i = 0; i < 3; i++) {
        forked(&stage, 10, 20);
        exited(&stage, 20, 0);
        add_exit_record(&stage, 20, 100, 4096);
        process_log_end_batch(&stage.log, false);
    }
    assert_int_equal(stage.log.seen, 4);
    int64_t cpu_ns;
    process_log_cpu_ns(&stage.log, &cpu_ns);
    assert_int_equal(cpu_ns, 300);
    tear_down(&stage);
}

TEST(gpu_ram_keeps_its_peak_and_its_record)
{
    struct stage stage;
    struct process_log_options few = everything;
    few.max_ended = 4;
    set_up(&stage, few);
    for (int i = 0; i < 200; i++) {
        pid_t pid = 1000 + i;
        forked(&stage, 10, pid);
        int64_t now_ns = stage.now_ns + 1;
        process_log_set_gpu_ram(&stage.log, pid, 0, now_ns);
        if (i == 50) {
            process_log_set_gpu_ram(&stage.log, pid, 1 << 30, now_ns);
            process_log_set_gpu_ram(&stage.log, pid, 1 << 20, now_ns);
            process_log_set_gpu_ram(&stage.log, pid, NAN, now_ns);
        }
        add_exit_record(&stage, pid, 10, 4096);
        exited(&stage, pid, 0);
        process_log_end_batch(&stage.log, false);
    }
    /* A list from before its start refers to another process with that pid. */
    forked(&stage, 10, 20);
    process_log_set_gpu_ram(&stage.log, 20, 5, stage.now_ns - 1);
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    assert_true(find(list, count, 1050)->peak.gpu_ram_bytes == 1 << 30);
    assert_true(isnan(find(list, count, 20)->peak.gpu_ram_bytes));
    assert_true(isnan(stage.log.main->peak.gpu_ram_bytes));
    assert_true(stage.log.ended.others.count > 0 && stage.log.ended.others.peak_gpu_ram_bytes == 0);
    free(list);
    tear_down(&stage);
}

TEST(without_events_scans_find_processes)
{
    struct stage stage;
    set_up(&stage, (struct process_log_options){.keeps_ended = true, .max_ended = 100});
    fake_put(&stage.fake,
        (struct fake_process){.pid = 20, .parent = 10, .resident_pages = 300, .utime = 5});
    scan(&stage);
    fake_end(&stage.fake, 20);
    scan(&stage);
    size_t count;
    struct process **list = process_log_list(&stage.log, &count);
    const struct process *child = find(list, count, 20);
    assert_true(process_has_ended(child));
    assert_int_equal(child->cpu_ns, 5 * 10000000);
    assert_int_equal(child->peak.trust, GPUT_PROCESS_PEAK_SAMPLED);
    assert_int_equal(child->peak.rss_bytes, 300 * sysconf(_SC_PAGESIZE));
    assert_ptr_equal(child->parent, stage.log.main);
    free(list);
    assert_false(process_log_descendants(&stage.log).has_all);
    tear_down(&stage);
}

TEST(a_process_that_ended_before_its_first_scan_counts_once)
{
    struct stage stage;
    set_up(&stage, (struct process_log_options){.keeps_ended = true, .max_ended = 100});
    fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z'});
    fake_children(&stage.fake, 10, 10, "20");
    scan(&stage);
    scan(&stage);
    assert_int_equal(stage.tree.seen, 2);
    assert_true(process_has_ended(only_child(&stage, 20)));
    tear_down(&stage);
}

/* Times in procfs are in clock ticks. */
TEST(a_child_starts_no_earlier_than_its_parent)
{
    struct stage stage;
    set_up(&stage, announced);
    uint64_t ticks = ticks_since_boot(); /* before the parent's own time, which is exact */
    stage.now_ns = clock_monotonic_ns();
    forked(&stage, 10, 20);
    fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10, .start_time = ticks});
    fake_put(&stage.fake, (struct fake_process){.pid = 30, .parent = 20, .start_time = ticks});
    fake_children(&stage.fake, 10, 10, "20");
    fake_children(&stage.fake, 20, 20, "30");
    scan(&stage);
    assert_true(process_log_get(&stage.log, 30)->start.at_ns ==
                process_log_get(&stage.log, 20)->start.at_ns);
    tear_down(&stage);
}

TEST(the_kernels_peak_is_read_only_when_pages_were_touched)
{
    struct stage stage;
    set_up(&stage, (struct process_log_options){0});
    struct fake_process main = {.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 50};
    status_of(&stage, 10, 700);
    fake_put(&stage.fake, main);
    scan(&stage);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 700 * 1024);

    /* Without a fault nothing is read again, whatever the file has. */
    status_of(&stage, 10, 900);
    scan(&stage);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 700 * 1024);
    main.minor_faults = 51;
    fake_put(&stage.fake, main);
    scan(&stage);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 900 * 1024);

    /* Processes that share its memory can fill it, and so can the kernel. */
    main.resident_pages = 300;
    main.utime = 1;
    status_of(&stage, 10, 1300);
    fake_put(&stage.fake, main);
    scan(&stage);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 1300 * 1024);
    tear_down(&stage);
}

/* It rose and fell between two scans: only VmHWM shows that. */
static void rise_between_scans(struct stage *stage, int64_t ns)
{
    fake_put(&stage->fake,
        (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 50});
    status_of(stage, 10, 700);
    scan(stage);
    fake_put(&stage->fake,
        (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 90});
    status_of(stage, 10, 900);
    scan_after(stage, ns);
}

TEST(the_peak_of_main_is_read_at_an_early_scan_too)
{
    struct stage stage;
    set_up(&stage, (struct process_log_options){0});
    rise_between_scans(&stage, SECOND - 1);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 900 * 1024);
    tear_down(&stage);
}

TEST(peaks_are_read_once_more_at_the_end)
{
    struct stage stage;
    set_up(&stage, (struct process_log_options){0});
    rise_between_scans(&stage, SECOND / 100);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 700 * 1024);
    process_log_read_counts(&stage.log);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 900 * 1024);
    tear_down(&stage);
}

TEST(a_peak_that_cannot_be_read_any_more_stays_as_it_was)
{
    struct stage stage;
    set_up(&stage, (struct process_log_options){0});
    rise_between_scans(&stage, SECOND / 100);
    fake_write(&stage.fake, "Name:\tx\nPid:\t10\nPPid:\t1\nThreads:\t1\n", "10/status");
    scan(&stage);
    process_log_refresh(&stage.log);
    assert_int_equal(stage.log.main->peak.hwm_bytes, 700 * 1024);
    tear_down(&stage);
}

RUN_TESTS(NULL, NULL)
