#include "track/process_log.h"

#include "fake_procfs.h"

#include "base/clock.h"

#include <math.h>

#define SECOND INT64_C(1000000000)

/* A procfs of files, a tree that looks at it, and a log that follows both. */
struct stage {
    struct fake_procfs fake;
    struct process_tree tree;
    struct process_log log;
    int64_t now_ns;
};

static void status_of(struct stage *stage, int pid, int peak_kilobytes)
{
    char text[256];
    snprintf(text, sizeof text,
        "Name:\tx\nPid:\t%d\nPPid:\t1\nVmHWM:\t%8d kB\nVmRSS:\t1 kB\nThreads:\t1\n", pid,
        peak_kilobytes);
    fake_write(&stage->fake, text, "%d/status", pid);
}

static void look_after(struct stage *stage, int64_t ns)
{
    stage->now_ns += ns;
    assert_int_equal(process_tree_look(&stage->tree, false, stage->now_ns), GPUT_OK);
    process_log_look(&stage->log, &stage->tree, stage->now_ns);
}

static void look(struct stage *stage)
{
    look_after(stage, SECOND);
}

/* Main is 10, which has 100 pages. */
static void open_stage_of(struct stage *stage, struct process_log_options options, bool main_is_old)
{
    if (!stage->fake.root[0])
        fake_procfs_init(&stage->fake);
    fake_put(&stage->fake, (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100});
    options.procfs_root = stage->fake.root;
    options.ns_per_tick = 10000000;
    process_log_init(&stage->log, &options);
    struct process_tree_options tree = {.procfs_root = stage->fake.root,
        .main = 10,
        .main_is_old = main_is_old,
        .gone = process_log_gone,
        .user = &stage->log};
    assert_int_equal(process_tree_init(&stage->tree, &tree, NULL), GPUT_OK);
    process_log_look(&stage->log, &stage->tree, 0);
}

static void open_stage(struct stage *stage, struct process_log_options options)
{
    *stage = (struct stage){0};
    open_stage_of(stage, options, false);
}

static void close_stage(struct stage *stage)
{
    process_tree_finish(&stage->tree);
    process_log_finish(&stage->log);
    fake_procfs_finish(&stage->fake);
}

static const struct process_log_options everything = {
    .has_events = true, .has_taskstats = true, .keeps_ended = true, .most_ended = 100};

static void forked(struct stage *stage, pid_t parent, pid_t child)
{
    process_log_event(&stage->log, &(struct process_event){.kind = PROCESS_EVENT_FORK,
                                       .pid = child,
                                       .parent = parent,
                                       .time_ns = ++stage->now_ns});
}

static void exited(struct stage *stage, pid_t pid, int status)
{
    process_log_event(&stage->log,
        &(struct process_event){
            .kind = PROCESS_EVENT_EXIT, .pid = pid, .status = status, .time_ns = ++stage->now_ns});
}

static void execed(struct stage *stage, pid_t pid)
{
    process_log_event(
        &stage->log, &(struct process_event){
                         .kind = PROCESS_EVENT_EXEC, .pid = pid, .time_ns = ++stage->now_ns});
}

static void told(struct stage *stage, pid_t pid, int64_t cpu_ns, uint64_t peak_bytes)
{
    process_log_exit(&stage->log, &(struct taskstats_exit){.thread = pid,
                                      .process = pid,
                                      .name = "told",
                                      .is_leader = true,
                                      .is_last = true,
                                      .cpu_ns = (uint64_t)cpu_ns,
                                      .minor_faults = 1000,
                                      .peak_rss_bytes = peak_bytes});
}

static const struct process_record *find(struct process_record **list, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i]->pid == pid)
            return list[i];
    }
    return NULL;
}

static void announced_families_are_known_without_a_look(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    forked(&stage, 20, 30);
    forked(&stage, 999, 40); /* none of ours */
    exited(&stage, 20, 0);
    forked(&stage, 30, 31); /* the child of an orphan */
    exited(&stage, 30, 0x300);
    exited(&stage, 31, 9);
    told(&stage, 20, 1, 4096);
    told(&stage, 30, 2000, 8192);
    told(&stage, 31, 3, 4096);
    process_log_end_batch(&stage.log, false);
    assert_int_equal(stage.log.seen, 4);
    assert_int_equal(stage.log.living.count, 1);

    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_int_equal(count, 4);
    const struct process_record *child = find(list, count, 30);
    assert_ptr_equal(child->parent, find(list, count, 20));
    assert_ptr_equal(find(list, count, 31)->parent, child);
    assert_int_equal(child->cpu_ns, 2000);
    assert_int_equal(child->peak_rss_bytes, 8192);
    assert_int_equal(child->peak, PROCESS_PEAK_FINAL);
    assert_int_equal(child->status, 0x300);
    assert_string_equal(child->name, "told");
    assert_null(find(list, count, 40));
    free(list);
    struct process_peaks peaks = process_log_descendants(&stage.log);
    assert_true(peaks.has_all);
    assert_int_equal(peaks.largest_at_most_bytes, 8192);
    assert_true(process_log_most_together(&stage.log, NAN) == 4096 + 8192 + 4096);
    close_stage(&stage);
}

static void the_ends_of_threads_add_up(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    struct taskstats_exit thread = {
        .thread = 21, .process = 20, .name = "thread", .cpu_ns = 500, .read_call_bytes = 7};
    process_log_exit(&stage.log, &thread);
    process_log_end_batch(&stage.log, false);
    told(&stage, 20, 300, 4096);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_int_equal(find(list, count, 20)->cpu_ns, 800);
    assert_int_equal(process_record_counts(find(list, count, 20)).read_call_bytes, 7);
    assert_string_equal(find(list, count, 20)->name, "told");
    free(list);
    close_stage(&stage);
}

static void what_is_told_after_the_end_still_counts(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    told(&stage, 20, 700, 4096);
    process_log_end_batch(&stage.log, false);
    int64_t cpu_ns;
    assert_true(process_log_cpu_ns(&stage.log, &cpu_ns));
    assert_int_equal(cpu_ns, 700);
    assert_true(process_log_descendants(&stage.log).has_all);
    close_stage(&stage);
}

/* After vfork() it can fill its parent's memory: what it touched does not tell whose that was. */
static void the_peak_of_a_child_that_may_be_its_parents_is_a_bound(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 20,
                                     .process = 20,
                                     .is_leader = true,
                                     .is_last = true,
                                     .minor_faults = 2000,
                                     .peak_rss_bytes = 40 << 20});
    process_log_end_batch(&stage.log, false);
    process_log_end_batch(&stage.log, false);
    struct process_peaks peaks = process_log_descendants(&stage.log);
    assert_true(peaks.has_all);
    assert_int_equal(peaks.largest_bytes, 0);
    assert_int_equal(peaks.largest_at_most_bytes, 40 << 20);
    assert_true(process_log_most_together(&stage.log, NAN) == 40 << 20);
    close_stage(&stage);
}

static void a_command_that_ended_before_the_first_look_is_known(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    process_log_finish(&stage.log);
    fake_put(&stage.fake, (struct fake_process){.pid = 10, .parent = 1, .state = 'Z', .utime = 1});
    assert_int_equal(process_tree_look(&stage.tree, false, SECOND), GPUT_OK);
    stage.tree.processes[0]->record = NULL;
    process_log_init(&stage.log, &everything);
    process_log_look(&stage.log, &stage.tree, SECOND);
    execed(&stage, 10);
    forked(&stage, 10, 20);
    told(&stage, 10, 1, 4096);
    exited(&stage, 10, 0x300);
    process_log_end_batch(&stage.log, false);
    look(&stage);
    process_log_end_batch(&stage.log, false);
    assert_int_equal(stage.log.seen, 2);
    assert_int_equal(stage.log.main->status, 0x300);
    assert_int_equal(stage.log.main->peak, PROCESS_PEAK_FINAL);
    assert_true(stage.log.main->name[0] != '\0');
    close_stage(&stage);
}

/* What is told at the end is of the last program alone. */
static void what_it_had_before_execve_stays_open(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    execed(&stage, 10);
    forked(&stage, 10, 20);
    forked(&stage, 10, 30);
    execed(&stage, 20);
    told(&stage, 20, 1, 8192);
    told(&stage, 30, 1, 4096);
    told(&stage, 10, 1, 16384);
    exited(&stage, 20, 0);
    exited(&stage, 30, 0);
    process_log_end_batch(&stage.log, false);
    struct process_peaks peaks = process_log_descendants(&stage.log);
    assert_true(peaks.has_all);
    assert_int_equal(peaks.open, 1);
    assert_int_equal(peaks.largest_bytes, 8192);
    assert_true(process_log_most_together(&stage.log, 100000) == 4096 + 100000);
    /* A launched command begins with execve(). */
    assert_int_equal(stage.log.main->peak, PROCESS_PEAK_FINAL);
    close_stage(&stage);
}

static void what_it_had_before_a_second_execve_stays_open(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    status_of(&stage, 10, 700);
    look(&stage);
    execed(&stage, 10);
    execed(&stage, 10);
    told(&stage, 10, 1, 16384);
    assert_int_equal(stage.log.main->peak, PROCESS_PEAK_KEPT);
    assert_int_equal(stage.log.main->peak_rss_bytes, 700 * 1024);
    close_stage(&stage);
}

static void command_lines_go_with_their_programs(void **state)
{
    (void)state;
    struct stage stage = {0};
    struct process_log_options options = everything;
    options.reads_commands = true;
    fake_procfs_init(&stage.fake);
    fake_write(&stage.fake, "main -x", "10/cmdline");
    open_stage_of(&stage, options, false);
    forked(&stage, 10, 20);
    forked(&stage, 10, 30);
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_string_equal(stage.log.main->command, "main -x");
    assert_string_equal(find(list, count, 20)->command, "main -x");

    /* One is still there to be read, the other has ended. */
    execed(&stage, 20);
    execed(&stage, 30);
    fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10});
    fake_write(&stage.fake, "child -y", "20/cmdline");
    exited(&stage, 30, 0);
    told(&stage, 30, 1, 4096);
    process_log_end_batch(&stage.log, false);
    assert_string_equal(find(list, count, 20)->command, "child -y");
    assert_null(find(list, count, 30)->command);
    assert_string_equal(find(list, count, 30)->name, "told");
    free(list);
    close_stage(&stage);
}

static void without_events_another_image_is_another_program(void **state)
{
    (void)state;
    struct stage stage = {0};
    struct process_log_options options = {.keeps_ended = true, .reads_commands = true};
    options.most_ended = 100;
    fake_procfs_init(&stage.fake);
    fake_write(&stage.fake, "main -x", "10/cmdline");
    open_stage_of(&stage, options, false);
    assert_string_equal(stage.log.main->command, "main -x");
    fake_put(&stage.fake, (struct fake_process){.pid = 10, .parent = 1, .start_stack = 4096});
    fake_write(&stage.fake, "main -y", "10/cmdline");
    look(&stage);
    assert_string_equal(stage.log.main->command, "main -y");
    close_stage(&stage);
}

/* As the kernel announces the end of one that nobody can wait for any more. */
static void ended_alone(struct stage *stage, pid_t pid)
{
    process_log_event(&stage->log, &(struct process_event){.kind = PROCESS_EVENT_EXIT,
                                       .pid = pid,
                                       .is_collected = true,
                                       .time_ns = ++stage->now_ns});
}

static void children_that_nobody_waits_for_are_told_apart(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    forked(&stage, 10, 20);
    exited(&stage, 20, 0);
    assert_false(process_log_has_unwaited(&stage.log));
    forked(&stage, 10, 30);
    ended_alone(&stage, 30);
    assert_true(process_log_has_unwaited(&stage.log));
    process_log_end_batch(&stage.log, false);

    /* One in thousands has only been collected at once. */
    for (int i = 0; i < 1000; i++) {
        forked(&stage, 10, 1000 + i);
        exited(&stage, 1000 + i, 0);
        process_log_end_batch(&stage.log, false);
    }
    assert_false(process_log_has_unwaited(&stage.log));
    close_stage(&stage);
}

static void without_events_parents_are_seen_to_wait_for_nobody(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, (struct process_log_options){0});
    status_of(&stage, 10, 700);
    look(&stage);
    assert_false(process_log_has_unwaited(&stage.log));
    fake_write(&stage.fake,
        "Name:\tx\nPid:\t10\nPPid:\t1\nVmHWM:\t900 kB\nVmRSS:\t1 kB\n"
        "SigIgn:\t0000000000010000\n",
        "10/status");
    fake_put(&stage.fake,
        (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 999});
    look(&stage);
    assert_true(process_log_has_unwaited(&stage.log));
    close_stage(&stage);
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

static void counts_of_one_that_is_older_begin_when_tracking_does(void **state)
{
    (void)state;
    struct stage stage = {0};
    struct process_log_options options = everything;
    options.keeps_counts = true;
    fake_procfs_init(&stage.fake);
    thread_of(&stage, 10, 11, 100, 5000);
    thread_of(&stage, 10, 12, 300, 7000);
    open_stage_of(&stage, options, true);
    process_log_count(&stage.log);
    assert_int_equal(process_log_counts(&stage.log).minor_faults, 0);

    thread_of(&stage, 10, 11, 150, 5500);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 12,
                                     .process = 10,
                                     .minor_faults = 320,
                                     .voluntary_switches = 321,
                                     .write_call_bytes = 7100});
    fake_remove(&stage.fake, "10/task/12");
    forked(&stage, 10, 20);
    told(&stage, 20, 1, 4096); /* 1000 faults */
    exited(&stage, 20, 0);
    process_log_end_batch(&stage.log, false);
    process_log_count(&stage.log);
    struct task_counts counts = process_log_counts(&stage.log);
    assert_int_equal(counts.minor_faults, 50 + 20 + 1000);
    assert_int_equal(counts.voluntary_switches, 50 + 21);
    assert_int_equal(counts.write_call_bytes, 500 + 100);
    assert_false(counts.lacks_io);
    close_stage(&stage);
}

static void io_of(struct stage *stage, int pid, int bytes)
{
    char text[64];
    snprintf(text, sizeof text, "rchar: 0\nwchar: %d\n", bytes);
    fake_write(&stage->fake, text, "%d/io", pid);
}

static void without_taskstats_parents_tell_what_children_counted(void **state)
{
    (void)state;
    struct stage stage = {0};
    struct fake_process main = {.pid = 10, .parent = 1}, child = {.pid = 20, .parent = 10},
                        orphan = {.pid = 30, .parent = 1, .minor_faults = 3};
    fake_procfs_init(&stage.fake);
    io_of(&stage, 10, 1000);
    io_of(&stage, 20, 400);
    io_of(&stage, 30, 70);
    child.minor_faults = 40;
    fake_put(&stage.fake, child);
    open_stage_of(&stage, (struct process_log_options){.keeps_counts = true}, true);
    fake_put(&stage.fake, orphan);
    assert_int_equal(process_tree_adopt(&stage.tree, 30), GPUT_OK);
    look(&stage);

    /* The child, with another 5 faults and 50 bytes, is collected; the orphan is not. */
    main.minor_faults = 7;
    main.cminor_faults = 45;
    fake_put(&stage.fake, main);
    io_of(&stage, 10, 1000 + 100 + 450);
    fake_end(&stage.fake, 20);
    fake_end(&stage.fake, 30);
    look(&stage);
    process_log_count(&stage.log);
    struct task_counts counts = process_log_counts(&stage.log);
    assert_int_equal(counts.minor_faults, 7 + 5 + 3);
    assert_int_equal(counts.write_call_bytes, 100 + 50 + 70);
    assert_false(counts.lacks_io);
    close_stage(&stage);
}

/* Main's figures have those of its child, and those that the child had from its own. */
static void without_taskstats_a_line_of_parents_counts_once(void **state)
{
    (void)state;
    for (int has_events = 0; has_events < 2; has_events++) {
        struct stage stage = {0};
        struct fake_process main = {.pid = 10, .parent = 1}, child = {.pid = 20, .parent = 10},
                            grandchild = {.pid = 30, .parent = 20, .minor_faults = 40};
        open_stage_of(&stage,
            (struct process_log_options){.keeps_counts = true, .has_events = has_events}, true);
        fake_put(&stage.fake, child);
        fake_put(&stage.fake, grandchild);
        look(&stage);
        assert_int_equal(process_log_counts(&stage.log).minor_faults, 40);
        for (int pid = 30; has_events && pid >= 20; pid -= 10)
            exited(&stage, pid, 0);
        main.cminor_faults = 50;
        fake_put(&stage.fake, main);
        fake_end(&stage.fake, 20);
        fake_end(&stage.fake, 30);
        look(&stage);
        process_log_end_batch(&stage.log, false);
        process_log_count(&stage.log);
        assert_int_equal(process_log_counts(&stage.log).minor_faults, 50);
        close_stage(&stage);
    }
}

/* Then nobody in the tree has what it had from its child. */
static void without_taskstats_main_and_its_child_count_once(void **state)
{
    (void)state;
    for (int has_events = 0; has_events < 2; has_events++) {
        struct stage stage = {0};
        struct fake_process main = {.pid = 10, .parent = 1, .minor_faults = 7},
                            child = {.pid = 20, .parent = 10, .minor_faults = 40};
        open_stage_of(&stage,
            (struct process_log_options){.keeps_counts = true, .has_events = has_events}, true);
        fake_put(&stage.fake, main);
        fake_put(&stage.fake, child);
        look(&stage);
        for (int pid = 20; has_events && pid >= 10; pid -= 10)
            exited(&stage, pid, 0);
        fake_end(&stage.fake, 10);
        fake_end(&stage.fake, 20);
        look(&stage);
        process_log_end_batch(&stage.log, false);
        assert_int_equal(process_log_counts(&stage.log).minor_faults, 47);
        close_stage(&stage);
    }
}

static void a_pid_given_out_anew_is_another_process(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    for (int i = 0; i < 3; i++) {
        forked(&stage, 10, 20);
        exited(&stage, 20, 0);
        told(&stage, 20, 100, 4096);
        process_log_end_batch(&stage.log, false);
    }
    assert_int_equal(stage.log.seen, 4);
    int64_t cpu_ns;
    process_log_cpu_ns(&stage.log, &cpu_ns);
    assert_int_equal(cpu_ns, 300);
    close_stage(&stage);
}

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
    look(&stage);
    process_log_end_batch(&stage.log, false);
    assert_false(stage.log.main->has_ended);
    assert_false(stage.log.main->has_status);
    forked(&stage, 10, 20);
    assert_int_equal(stage.log.living.count, 2);

    /* Nobody announces the end of the last thread as that of a process. */
    process_log_exit(&stage.log, &last);
    process_log_end_batch(&stage.log, false);
    fake_end(&stage.fake, 10);
    look(&stage);
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

static const struct process_log_options announced = {
    .has_events = true, .keeps_ended = true, .most_ended = 100};

static const struct process_record *only_child(const struct stage *stage, pid_t pid)
{
    size_t count;
    struct process_record **list = process_log_list(&stage->log, &count);
    const struct process_record *record = find(list, count, pid);
    assert_int_equal(count, 2);
    assert_int_equal(stage->log.seen, 2);
    free(list);
    return record;
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
    look(&stage);
    assert_false(only_child(&stage, 20)->has_ended);
    assert_false(only_child(&stage, 20)->has_status);

    thread_exited(&stage, 20, 0x100);
    process_log_end_batch(&stage.log, false);
    assert_false(only_child(&stage, 20)->has_ended);
    look(&stage);
    thread_exited(&stage, 20, 0x300);
    int64_t end_ns = stage.now_ns;
    fake_end(&stage.fake, 20);
    look(&stage);
    process_log_end_batch(&stage.log, false);
    const struct process_record *child = only_child(&stage, 20);
    assert_true(child->has_ended && child->end_is_told && child->has_status);
    assert_int_equal(child->end_ns, end_ns);
    assert_int_equal(child->status, 0x300);
    assert_false(process_log_waits_for_threads(&stage.log));
    assert_false(process_log_end_unannounced(&stage.log));
    assert_false(process_log_has_unwaited(&stage.log));
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
    look(&stage);
    fake_end(&stage.fake, 20);
    process_log_end_batch(&stage.log, false);
    assert_true(only_child(&stage, 20)->has_ended);
    assert_int_equal(only_child(&stage, 20)->end_ns, SECOND + 2); /* it lived then */
    assert_false(only_child(&stage, 20)->end_is_told || only_child(&stage, 20)->has_status);
    assert_true(process_log_end_unannounced(&stage.log));
    assert_true(process_log_waits_for_threads(&stage.log));
    look(&stage);
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
    assert_false(only_child(&stage, 20)->end_is_told);
    close_stage(&stage);
}

static uint64_t ticks_since_boot(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 100;
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
            look(&stage);
            assert_false(only_child(&stage, 20)->has_ended);
            fake_end(&stage.fake, 20);
            exited(&stage, 20, 0x200);
            process_log_end_batch(&stage.log, false);
            look(&stage);
            process_log_end_batch(&stage.log, false);
            assert_int_equal(only_child(&stage, 20)->status, 0x200);
            assert_int_equal(stage.log.ended_total, 1);
            close_stage(&stage);
        }
    }
}

/* A look comes while what taskstats tell is waited for. */
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
    look(&stage);
    assert_int_equal(stage.log.living.count, 2);
    assert_false(only_child(&stage, 20)->has_ended);
    process_log_exit(&stage.log, &(struct taskstats_exit){.thread = 21,
                                     .process = 20,
                                     .is_last = true,
                                     .status = 0x300,
                                     .process_elapsed_ns = (uint64_t)SECOND});
    process_log_end_batch(&stage.log, false);
    const struct process_record *child = only_child(&stage, 20);
    assert_true(child->has_ended && child->end_is_told);
    assert_int_equal(child->end_ns, child->start_ns + SECOND);
    assert_int_equal(child->status, 0x300);
    close_stage(&stage);
}

static void memory_is_bounded_and_nothing_is_lost(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, everything);
    for (int i = 1; i <= 10000; i++) {
        forked(&stage, 10, 1000 + i);
        exited(&stage, 1000 + i, 0);
        /* One with much CPU time, one with much RAM. */
        told(&stage, 1000 + i, i == 17 ? SECOND : 10, i == 18 ? 1 << 30 : 4096);
        process_log_end_batch(&stage.log, false);
        assert_true(stage.log.ended.kept.count < 300);
    }
    process_log_end_batch(&stage.log, false);
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_int_equal(count + stage.log.ended.others.count, 10001);
    assert_int_equal(find(list, count, 1017)->cpu_ns, SECOND);
    assert_int_equal(find(list, count, 1018)->peak_rss_bytes, 1 << 30);
    free(list);
    int64_t cpu_ns;
    process_log_cpu_ns(&stage.log, &cpu_ns);
    assert_int_equal(cpu_ns, SECOND + 9999 * 10);
    close_stage(&stage);
}

static void gpu_ram_keeps_its_peak_and_its_record(void **state)
{
    (void)state;
    struct stage stage;
    struct process_log_options few = everything;
    few.most_ended = 4;
    open_stage(&stage, few);
    for (int i = 0; i < 200; i++) {
        pid_t pid = 1000 + i;
        forked(&stage, 10, pid);
        int64_t now_ns = stage.now_ns + 1;
        process_log_hold_gpu_ram(&stage.log, pid, 0, now_ns);
        if (i == 50) {
            process_log_hold_gpu_ram(&stage.log, pid, 1 << 30, now_ns);
            process_log_hold_gpu_ram(&stage.log, pid, 1 << 20, now_ns);
            process_log_hold_gpu_ram(&stage.log, pid, NAN, now_ns);
        }
        told(&stage, pid, 10, 4096);
        exited(&stage, pid, 0);
        process_log_end_batch(&stage.log, false);
    }
    /* A list from before its beginning is about another process of that pid. */
    forked(&stage, 10, 20);
    process_log_hold_gpu_ram(&stage.log, 20, 5, stage.now_ns - 1);
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_true(find(list, count, 1050)->peak_gpu_ram_bytes == 1 << 30);
    assert_true(isnan(find(list, count, 20)->peak_gpu_ram_bytes));
    assert_true(isnan(stage.log.main->peak_gpu_ram_bytes));
    assert_true(stage.log.ended.others.count > 0 && stage.log.ended.others.peak_gpu_ram_bytes == 0);
    free(list);
    close_stage(&stage);
}

static void children_of_records_that_were_summed_up_keep_an_ancestor(void **state)
{
    (void)state;
    struct stage stage;
    struct process_log_options few = everything;
    few.most_ended = 2;
    open_stage(&stage, few);
    forked(&stage, 10, 20);
    forked(&stage, 20, 30);
    for (int i = 0; i < 200; i++) {
        forked(&stage, 30, 1000 + i);
        exited(&stage, 1000 + i, 0);
        told(&stage, 1000 + i, 10 + i, 4096);
        if (i == 0) {
            exited(&stage, 20, 0);
            told(&stage, 20, 1, 1);
        }
        process_log_end_batch(&stage.log, false);
    }
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    assert_null(find(list, count, 20));
    assert_ptr_equal(find(list, count, 30)->parent, find(list, count, 10));
    free(list);
    close_stage(&stage);
}

static void without_events_looks_have_to_do(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, (struct process_log_options){.keeps_ended = true, .most_ended = 100});
    fake_put(&stage.fake,
        (struct fake_process){.pid = 20, .parent = 10, .resident_pages = 300, .utime = 5});
    look(&stage);
    fake_end(&stage.fake, 20);
    look(&stage);
    size_t count;
    struct process_record **list = process_log_list(&stage.log, &count);
    const struct process_record *child = find(list, count, 20);
    assert_true(child->has_ended);
    assert_int_equal(child->cpu_ns, 5 * 10000000);
    assert_int_equal(child->peak, PROCESS_PEAK_SAMPLED);
    assert_int_equal(child->peak_rss_bytes, 300 * sysconf(_SC_PAGESIZE));
    assert_ptr_equal(child->parent, stage.log.main);
    free(list);
    assert_false(process_log_descendants(&stage.log).has_all);
    close_stage(&stage);
}

static void one_that_ended_before_its_first_look_counts_once(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, (struct process_log_options){.keeps_ended = true, .most_ended = 100});
    fake_put(&stage.fake, (struct fake_process){.pid = 20, .parent = 10, .state = 'Z'});
    fake_children(&stage.fake, 10, 10, "20");
    look(&stage);
    look(&stage);
    assert_int_equal(stage.tree.seen, 2);
    assert_true(only_child(&stage, 20)->has_ended);
    close_stage(&stage);
}

/* What procfs tells comes in clock ticks. */
static void a_child_begins_no_earlier_than_its_parent(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, announced);
    stage.now_ns = clock_monotonic_ns();
    forked(&stage, 10, 20);
    fake_put(&stage.fake,
        (struct fake_process){.pid = 20, .parent = 10, .start_time = ticks_since_boot()});
    fake_put(&stage.fake,
        (struct fake_process){.pid = 30, .parent = 20, .start_time = ticks_since_boot()});
    fake_children(&stage.fake, 10, 10, "20");
    fake_children(&stage.fake, 20, 20, "30");
    look(&stage);
    assert_true(
        process_log_get(&stage.log, 30)->start_ns == process_log_get(&stage.log, 20)->start_ns);
    close_stage(&stage);
}

static void the_kernels_peak_is_read_only_when_pages_were_touched(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, (struct process_log_options){0});
    struct fake_process main = {.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 50};
    status_of(&stage, 10, 700);
    fake_put(&stage.fake, main);
    look(&stage);
    assert_int_equal(stage.log.main->kept_peak_bytes, 700 * 1024);

    /* Without a fault there is nothing new, whatever stands there. */
    status_of(&stage, 10, 900);
    look(&stage);
    assert_int_equal(stage.log.main->kept_peak_bytes, 700 * 1024);
    main.minor_faults = 51;
    fake_put(&stage.fake, main);
    look(&stage);
    assert_int_equal(stage.log.main->kept_peak_bytes, 900 * 1024);

    /* Others who share its memory can fill it, and so can the kernel. */
    main.resident_pages = 300;
    main.utime = 1;
    status_of(&stage, 10, 1300);
    fake_put(&stage.fake, main);
    look(&stage);
    assert_int_equal(stage.log.main->kept_peak_bytes, 1300 * 1024);
    close_stage(&stage);
}

/* It rose and fell between two looks: the kernel's peak alone tells. */
static void rise_between_looks(struct stage *stage, int64_t ns)
{
    fake_put(&stage->fake,
        (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 50});
    status_of(stage, 10, 700);
    look(stage);
    fake_put(&stage->fake,
        (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100, .minor_faults = 90});
    status_of(stage, 10, 900);
    look_after(stage, ns);
}

static void the_peak_of_main_is_read_at_a_look_that_comes_early(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, (struct process_log_options){0});
    rise_between_looks(&stage, SECOND - 1);
    assert_int_equal(stage.log.main->kept_peak_bytes, 900 * 1024);
    close_stage(&stage);
}

static void peaks_are_read_once_more_at_the_end(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, (struct process_log_options){0});
    rise_between_looks(&stage, SECOND / 100);
    assert_int_equal(stage.log.main->kept_peak_bytes, 700 * 1024);
    process_log_count(&stage.log);
    assert_int_equal(stage.log.main->kept_peak_bytes, 900 * 1024);
    close_stage(&stage);
}

static void a_peak_that_cannot_be_read_any_more_stays_as_it_was(void **state)
{
    (void)state;
    struct stage stage;
    open_stage(&stage, (struct process_log_options){0});
    rise_between_looks(&stage, SECOND / 100);
    fake_write(&stage.fake, "Name:\tx\nPid:\t10\nPPid:\t1\nThreads:\t1\n", "10/status");
    look(&stage);
    process_log_refresh(&stage.log);
    assert_int_equal(stage.log.main->kept_peak_bytes, 700 * 1024);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(announced_families_are_known_without_a_look),
        cmocka_unit_test(the_ends_of_threads_add_up),
        cmocka_unit_test(the_peak_of_a_child_that_may_be_its_parents_is_a_bound),
        cmocka_unit_test(a_command_that_ended_before_the_first_look_is_known),
        cmocka_unit_test(what_it_had_before_execve_stays_open),
        cmocka_unit_test(what_it_had_before_a_second_execve_stays_open),
        cmocka_unit_test(command_lines_go_with_their_programs),
        cmocka_unit_test(without_events_another_image_is_another_program),
        cmocka_unit_test(children_that_nobody_waits_for_are_told_apart),
        cmocka_unit_test(without_events_parents_are_seen_to_wait_for_nobody),
        cmocka_unit_test(what_is_told_after_the_end_still_counts),
        cmocka_unit_test(counts_of_one_that_is_older_begin_when_tracking_does),
        cmocka_unit_test(without_taskstats_parents_tell_what_children_counted),
        cmocka_unit_test(without_taskstats_a_line_of_parents_counts_once),
        cmocka_unit_test(without_taskstats_main_and_its_child_count_once),
        cmocka_unit_test(a_pid_given_out_anew_is_another_process),
        cmocka_unit_test(the_end_of_a_first_thread_is_not_the_end),
        cmocka_unit_test(the_last_thread_tells_the_end),
        cmocka_unit_test(an_end_may_be_announced_after_it_was_seen),
        cmocka_unit_test(an_end_that_nobody_announces_is_found_at_last),
        cmocka_unit_test(one_that_has_taken_over_a_pid_is_another),
        cmocka_unit_test(a_pid_that_is_given_out_anew_tells_an_end),
        cmocka_unit_test(a_thread_that_calls_execve_is_no_end),
        cmocka_unit_test(one_whose_first_thread_has_ended_is_met_once),
        cmocka_unit_test(memory_is_bounded_and_nothing_is_lost),
        cmocka_unit_test(gpu_ram_keeps_its_peak_and_its_record),
        cmocka_unit_test(children_of_records_that_were_summed_up_keep_an_ancestor),
        cmocka_unit_test(without_events_looks_have_to_do),
        cmocka_unit_test(one_that_ended_before_its_first_look_counts_once),
        cmocka_unit_test(a_child_begins_no_earlier_than_its_parent),
        cmocka_unit_test(the_kernels_peak_is_read_only_when_pages_were_touched),
        cmocka_unit_test(the_peak_of_main_is_read_at_a_look_that_comes_early),
        cmocka_unit_test(peaks_are_read_once_more_at_the_end),
        cmocka_unit_test(a_peak_that_cannot_be_read_any_more_stays_as_it_was),
        cmocka_unit_test(an_end_that_was_lost_is_found_out),
    };
    return cmocka_run_group_tests_name("track/process_log", tests, NULL, NULL);
}
